// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "audio/file.h"

namespace daliesque::audio {

/// Part of a file in memory, which moves on. Bytes that are in memory already stay there.
class ByteWindow {
 public:
  explicit ByteWindow(const AudioBytes& source) : source_(source) {}

  /// The bytes from `offset` on: at least `least`, unless the file ends before.
  std::pair<const uint8_t*, int64_t> from(int64_t offset, int64_t least) {
    if (offset >= source_.size()) return {nullptr, 0};
    if (const void* all = source_.memory()) {
      return {static_cast<const uint8_t*>(all) + offset, source_.size() - offset};
    }
    const int64_t wanted = std::min(least, source_.size() - offset);
    if (offset < begin_ || offset + wanted > begin_ + held_) {
      bytes_.resize(
          static_cast<size_t>(std::max(wanted, std::min(kStep, source_.size() - offset))));
      begin_ = offset;
      held_ = source_.read(bytes_.data(), static_cast<int64_t>(bytes_.size()), offset);
    }
    return {bytes_.data() + (offset - begin_), begin_ + held_ - offset};
  }

 private:
  static constexpr int64_t kStep = 1 << 20;

  const AudioBytes& source_;
  std::vector<uint8_t> bytes_;
  int64_t begin_ = 0, held_ = 0;
};

}  // namespace daliesque::audio
