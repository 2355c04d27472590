// SPDX-License-Identifier: Apache-2.0
// Rows of integers, a vector at a time. Only the `.simd.cpp` files may include this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/half.h"

namespace daliesque::image::DALIESQUE_ISA {

#if defined(__AVX512VBMI__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class Value>
struct VectorOf {
  typedef Value type __attribute__((vector_size(kVectorBytes)));
};
template <class Value>
using Vector = typename VectorOf<Value>::type;

/// What loops that must not be loops go through.
template <int count>
using Indices = std::make_integer_sequence<int, count>;

/// A vector or a single value, `offset` bytes from the beginning of a row.
template <class Part>
DALIESQUE_INLINE Part load_part(const void* row, int64_t offset) {
  Part part;
  std::memcpy(&part, static_cast<const std::byte*>(row) + offset, sizeof part);
  return part;
}

template <class Part>
DALIESQUE_INLINE void store_part(void* row, int64_t offset, Part part) {
  std::memcpy(static_cast<std::byte*>(row) + offset, &part, sizeof part);
}

/// Calls body(tag, offset) with offsets in bytes: whole vectors, the last of which may overlap the
/// one before it, or single values if there are too few.
template <class Value, class Body>
DALIESQUE_INLINE void for_vectors(int64_t count, Body&& body) {
  const int64_t bytes = count * static_cast<int64_t>(sizeof(Value));
  if (bytes < kVectorBytes) {
    for (int64_t at = 0; at < bytes; at += sizeof(Value)) body.template operator()<Value>(at);
    return;
  }
  int64_t at = 0;
  for (; at + kVectorBytes <= bytes; at += kVectorBytes) {
    body.template operator()<Vector<Value>>(at);
  }
  if (at < bytes) body.template operator()<Vector<Value>>(bytes - kVectorBytes);
}

}  // namespace daliesque::image::DALIESQUE_ISA
