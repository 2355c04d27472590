// SPDX-License-Identifier: Apache-2.0
// Rows of integers, a vector at a time. Only the `.simd.cpp` files may include this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#ifdef __SSE2__
#include <immintrin.h>
#endif

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

/// Stores a vector at a multiple of its size past the caches.
template <class Part>
DALIESQUE_INLINE void stream_part(void* row, int64_t offset, Part part) {
  void* to = static_cast<std::byte*>(row) + offset;
#if defined(__AVX512VBMI__)
  _mm512_stream_si512(static_cast<__m512i*>(to), (__m512i)part);
#elif defined(__AVX2__)
  _mm256_stream_si256(static_cast<__m256i*>(to), (__m256i)part);
#elif defined(__SSE2__)
  _mm_stream_si128(static_cast<__m128i*>(to), (__m128i)part);
#else
  std::memcpy(to, &part, sizeof part);
#endif
}

/// How many bytes there are before the first multiple of a vector's size.
DALIESQUE_INLINE int64_t bytes_to_alignment(const void* row) {
  return static_cast<int64_t>(-reinterpret_cast<uintptr_t>(row) % kVectorBytes);
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

/// Calls body(tag, store, offset) likewise for results in `out`. If they are `streamed`, all
/// vectors but the first and the last one are aligned there; store(row, offset, vector) is for
/// results that lie in `out` or as far from alignment as it.
template <class Value, class Body>
DALIESQUE_INLINE void for_results(const void* out, int64_t count, bool streamed, Body&& body) {
  const auto store = []<class Part>(void* row, int64_t offset, Part part)
                         __attribute__((always_inline)) { store_part(row, offset, part); };
  const auto plainly = [&]<class Part>(int64_t at) __attribute__((always_inline)) {
    body.template operator()<Part>(store, at);
  };
  const int64_t bytes = count * static_cast<int64_t>(sizeof(Value));
  if (!streamed || bytes < 2 * kVectorBytes) return for_vectors<Value>(count, plainly);
  const auto stream = []<class Part>(void* row, int64_t offset, Part part)
                          __attribute__((always_inline)) { stream_part(row, offset, part); };
  int64_t at = bytes_to_alignment(out);
  if (at > 0) plainly.template operator()<Vector<Value>>(0);
  for (; at + kVectorBytes <= bytes; at += kVectorBytes) {
    body.template operator()<Vector<Value>>(stream, at);
  }
  if (at < bytes) plainly.template operator()<Vector<Value>>(bytes - kVectorBytes);
}

}  // namespace daliesque::image::DALIESQUE_ISA
