// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::DALIESQUE_ISA {

void look_up_bytes(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t table[256],
                   [[maybe_unused]] bool streamed) {
  int64_t i = 0;
#ifdef __AVX2__
  for (; streamed && i < count && reinterpret_cast<uintptr_t>(out + i) % 32 != 0; i++) {
    out[i] = table[in[i]];
  }
  // A shuffle looks up bytes below 16, and gives 0 for those from 128 on. Four shuffles, or-ed,
  // look up bytes below 64; the two highest bits choose one of four such results.
  __m256i parts[16];
  for (int k = 0; k < 16; k++) {
    parts[k] = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * k)));
  }
  for (; i + 32 <= count; i += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
    const __m256i below_64 = _mm256_and_si256(bytes, _mm256_set1_epi8(63));
    __m256i places[4];
    for (int k = 0; k < 4; k++) {
      // What is negative or above 15 ends at 128 or more.
      const __m256i place = _mm256_sub_epi8(below_64, _mm256_set1_epi8(static_cast<char>(16 * k)));
      places[k] = _mm256_adds_epu8(place, _mm256_set1_epi8(112));
    }
    __m256i found[4];
    for (int k = 0; k < 4; k++) {
      const __m256i* part = parts + 4 * k;
      found[k] = _mm256_or_si256(_mm256_or_si256(_mm256_shuffle_epi8(part[0], places[0]),
                                                 _mm256_shuffle_epi8(part[1], places[1])),
                                 _mm256_or_si256(_mm256_shuffle_epi8(part[2], places[2]),
                                                 _mm256_shuffle_epi8(part[3], places[3])));
    }
    // Bit 6 as the sign of a byte; what moves in from its neighbour lies below it.
    const __m256i bit_6 = _mm256_slli_epi16(bytes, 1);
    const __m256i low = _mm256_blendv_epi8(found[0], found[1], bit_6);
    const __m256i high = _mm256_blendv_epi8(found[2], found[3], bit_6);
    const __m256i result = _mm256_blendv_epi8(low, high, bytes);
    auto* to = reinterpret_cast<__m256i*>(out + i);
    if (streamed) {
      _mm256_stream_si256(to, result);
    } else {
      _mm256_storeu_si256(to, result);
    }
  }
#endif
  for (; i < count; i++) out[i] = table[in[i]];
}

}  // namespace daliesque::DALIESQUE_ISA
