// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "core/half.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

DALIESQUE_INLINE float byte_of(uint32_t word, int byte) {
  return static_cast<float>(static_cast<int32_t>(word >> 8 * byte & 255));
}

}  // namespace

/// out[i] = the mean of the four bytes that the table at offsets[i] holds for in[i], weighted by
/// left and right, above and below; rounded to the nearest integer, halves to even.
void blend_tables(uint8_t* out, const uint8_t* in, int64_t count, const uint32_t* tables,
                  const int32_t* offsets, const float* left, const float* right, float above,
                  float below) {
  constexpr int64_t kBlock = 256;
  // Adding this leaves no bits for a fraction.
  constexpr float kNoFraction = 0x1.8p23f;
  uint32_t words[kBlock];
  for (int64_t first = 0; first < count; first += kBlock) {
    const int64_t length = count - first < kBlock ? count - first : kBlock;
    for (int64_t i = 0; i < length; i++) words[i] = tables[offsets[first + i] + in[first + i]];
    for (int64_t i = 0; i < length; i++) {
      const float l = left[first + i], r = right[first + i];
      const float upper = byte_of(words[i], 0) * l + byte_of(words[i], 1) * r;
      const float lower = byte_of(words[i], 2) * l + byte_of(words[i], 3) * r;
      const float mean = upper * above + lower * below;
      out[first + i] =
          static_cast<uint8_t>(static_cast<int32_t>((mean + kNoFraction) - kNoFraction));
    }
  }
}

}  // namespace daliesque::image::DALIESQUE_ISA
