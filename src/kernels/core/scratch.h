// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/memory.h"

namespace daliesque {

/// Memory for intermediate results, aligned to cache lines. Zeroed, so that loops may run into the
/// padding without meeting numbers that are slow to compute with.
template <class T>
class Scratch {
 public:
  /// Provides at least `count` elements; old contents are lost if there was less.
  void require(int64_t count) {
    if (count <= count_) return;
    const size_t bytes = static_cast<size_t>(count) * sizeof(T);
    buffer_ = allocate(bytes);
    std::memset(buffer_.get(), 0, bytes);
    count_ = count;
  }
  T* data() const { return static_cast<T*>(buffer_.get()); }

 private:
  Buffer buffer_;
  int64_t count_ = 0;
};

}  // namespace daliesque
