// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace daliesque {

void stream_copy(void* out, const void* in, size_t bytes) {
#ifdef __SSE2__
  auto* to = static_cast<std::byte*>(out);
  const auto* from = static_cast<const std::byte*>(in);
  const size_t misaligned = (16 - reinterpret_cast<uintptr_t>(to) % 16) % 16;
  const size_t head = std::min(bytes, misaligned);
  std::memcpy(to, from, head);
  size_t i = head;
  for (; i + 64 <= bytes; i += 64) {
    for (size_t k = 0; k < 64; k += 16) {
      const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + k));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + k), value);
    }
  }
  std::memcpy(to + i, from + i, bytes - i);
#else
  std::memcpy(out, in, bytes);
#endif
}

void stream_fence() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace daliesque
