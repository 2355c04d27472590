// SPDX-License-Identifier: Apache-2.0
// Arrays in memory of exactly the right size, for tests of kernels under a sanitizer.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "core/samples.h"

namespace daliesque::testing {

using Extents = std::vector<int64_t>;

/// A sample whose memory ends where its last element does.
inline Samples exact_sample(DType type, const Extents& shape) {
  const size_t bytes = static_cast<size_t>(volume(shape)) * dtype_size(type);
  auto* memory = new uint8_t[bytes + (bytes == 0)];
  Buffer owner(memory, [](void* data) { delete[] static_cast<uint8_t*>(data); });
  return Samples::wrap(type, shape, {}, memory, owner, false, false);
}

inline Samples random_sample(std::mt19937_64& rng, DType type, const Extents& shape) {
  Samples out = exact_sample(type, shape);
  const int64_t bytes = out.volume(0) * static_cast<int64_t>(out.itemsize());
  for (int64_t k = 0; k < bytes; k++) out.data<uint8_t>(0)[k] = static_cast<uint8_t>(rng());
  return out;
}

/// The index of an element as coordinates along the axes, and back.
inline Extents coordinates(int64_t index, const Extents& shape) {
  Extents out(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    out[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return out;
}
inline int64_t index_of(const Extents& at, const Extents& shape) {
  int64_t index = 0;
  for (size_t axis = 0; axis < shape.size(); axis++) index = index * shape[axis] + at[axis];
  return index;
}

inline bool same_element(const Samples& a, int64_t i, const Samples& b, int64_t j) {
  const size_t size = a.itemsize();
  return std::memcmp(a.data<uint8_t>(0) + static_cast<size_t>(i) * size,
                     b.data<uint8_t>(0) + static_cast<size_t>(j) * size, size) == 0;
}

}  // namespace daliesque::testing
