// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::DALIESQUE_ISA {

void look_up_bytes(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t table[256]) {
  int64_t i = 0;
#ifdef __AVX2__
  // A shuffle looks up low halves of bytes in 16 entries. Of sixteen such results, the bits of the
  // high halves choose one, two by two.
  __m256i parts[16];
  for (int k = 0; k < 16; k++) {
    parts[k] = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * k)));
  }
  const __m256i low_half = _mm256_set1_epi8(15);
  for (; i + 32 <= count; i += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
    const __m256i low = _mm256_and_si256(bytes, low_half);
    // Bit 4, 5, 6 and 7 as the sign of a byte; what moves in from neighbours lies below it.
    const __m256i bits[4] = {_mm256_slli_epi16(bytes, 3), _mm256_slli_epi16(bytes, 2),
                             _mm256_slli_epi16(bytes, 1), bytes};
    __m256i found[8];
    for (int k = 0; k < 8; k++) {
      found[k] = _mm256_blendv_epi8(_mm256_shuffle_epi8(parts[2 * k], low),
                                    _mm256_shuffle_epi8(parts[2 * k + 1], low), bits[0]);
    }
    for (int k = 0; k < 4; k++) {
      found[k] = _mm256_blendv_epi8(found[2 * k], found[2 * k + 1], bits[1]);
    }
    const __m256i first = _mm256_blendv_epi8(found[0], found[1], bits[2]);
    const __m256i second = _mm256_blendv_epi8(found[2], found[3], bits[2]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm256_blendv_epi8(first, second, bits[3]));
  }
#endif
  for (; i < count; i++) out[i] = table[in[i]];
}

}  // namespace daliesque::DALIESQUE_ISA
