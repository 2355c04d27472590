// SPDX-License-Identifier: Apache-2.0
#include "core/stream.h"

#include <algorithm>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace daliesque {

namespace {

void stream_zeros(std::byte* out, size_t bytes) {
  static constexpr std::byte kZeros[4096] = {};
  for (size_t i = 0; i < bytes; i += sizeof kZeros) {
    stream_copy(out + i, kZeros, std::min(sizeof kZeros, bytes - i));
  }
}

}  // namespace

void stream_copy(void* out, const void* in, size_t bytes) {
#ifdef __SSE2__
  auto* to = static_cast<std::byte*>(out);
  const auto* from = static_cast<const std::byte*>(in);
  // Only whole lines are streamed: parts of them would be written one by one.
  constexpr size_t kLine = 64;
  const size_t misaligned = (kLine - reinterpret_cast<uintptr_t>(to) % kLine) % kLine;
  const size_t head = std::min(bytes, misaligned);
  std::memcpy(to, from, head);
  size_t i = head;
  for (; i + kLine <= bytes; i += kLine) {
    for (size_t k = 0; k < kLine; k += 16) {
      const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + k));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + k), value);
    }
  }
  std::memcpy(to + i, from + i, bytes - i);
#else
  std::memcpy(out, in, bytes);
#endif
}

void stream_fill(void* out, uint64_t word, size_t bytes) {
  // Some memory takes streamed zeros at more than twice the speed of anything else.
  if (word == 0) return stream_zeros(static_cast<std::byte*>(out), bytes);
  void* end = out;
  size_t words = bytes / sizeof word;
#ifdef __x86_64__
  // Like streaming stores it does not fetch what it overwrites, and unlike them it is never slower
  // than ordinary stores where there is nothing to read.
  asm volatile("rep stosq" : "+D"(end), "+c"(words) : "a"(word) : "memory");
#else
  end = std::fill_n(static_cast<uint64_t*>(out), words, word);
#endif
  std::memcpy(end, &word, bytes % sizeof word);
}

void stream_fence() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace daliesque
