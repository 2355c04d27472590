// SPDX-License-Identifier: Apache-2.0
// The arithmetic is that of the accurate integer transform of the JPEG reference software.
#include "jpeg/distortion.h"

namespace daliesque::jpeg::DALIESQUE_ISA {

namespace {

void to_ycbcr(uint8_t* __restrict y, uint8_t* __restrict cb, uint8_t* __restrict cr,
              const uint8_t* __restrict pixels, int count) {
  // 16-bit fractions of ITU-R BT.601; those of each row sum up to 65536 or 0.
  constexpr int32_t half = 1 << 15, middle = (128 << 16) + half - 1;
  for (int i = 0; i < count; i++) {
    const int32_t r = pixels[3 * i], g = pixels[3 * i + 1], b = pixels[3 * i + 2];
    y[i] = static_cast<uint8_t>((19595 * r + 38470 * g + 7471 * b + half) >> 16);
    cb[i] = static_cast<uint8_t>((-11059 * r - 21709 * g + 32768 * b + middle) >> 16);
    cr[i] = static_cast<uint8_t>((32768 * r - 27439 * g - 5329 * b + middle) >> 16);
  }
}

void downsample(uint8_t* __restrict out, const uint8_t* __restrict upper,
                const uint8_t* __restrict lower, int count) {
  for (int i = 0; i < count; i++) {
    const int sum = upper[2 * i] + upper[2 * i + 1] + lower[2 * i] + lower[2 * i + 1];
    // Alternating 1 and 2 keeps the average brightness.
    out[i] = static_cast<uint8_t>((sum + 1 + (i & 1)) >> 2);
  }
}

constexpr int kFractionBits = 13;

/// One dimension of the transform along the first axis. The first pass keeps 2 more bits, which the
/// second one drops; the result is 8 times that of the mathematical definition.
template <bool first>
static inline void transform(int32_t v[8][8]) {
  constexpr int extra = 2;
  constexpr int shift = first ? kFractionBits - extra : kFractionBits + extra;
  constexpr int32_t round = 1 << (shift - 1);
  for (int k = 0; k < 8; k++) {
    const int32_t s0 = v[0][k] + v[7][k], d0 = v[0][k] - v[7][k];
    const int32_t s1 = v[1][k] + v[6][k], d1 = v[1][k] - v[6][k];
    const int32_t s2 = v[2][k] + v[5][k], d2 = v[2][k] - v[5][k];
    const int32_t s3 = v[3][k] + v[4][k], d3 = v[3][k] - v[4][k];
    const int32_t e0 = s0 + s3, e3 = s0 - s3, e1 = s1 + s2, e2 = s1 - s2;
    if constexpr (first) {
      v[0][k] = (e0 + e1) * (1 << extra);
      v[4][k] = (e0 - e1) * (1 << extra);
    } else {
      v[0][k] = (e0 + e1 + (1 << (extra - 1))) >> extra;
      v[4][k] = (e0 - e1 + (1 << (extra - 1))) >> extra;
    }
    // Products of cosines as fractions of 2^13: 0.541196100, 0.765366865, 1.847759065 here, and
    // 0.298631336, 2.053119869, 3.072711026, 1.501321110, 0.899976223, 2.562915447, 1.961570560,
    // 0.390180644, 1.175875602 below.
    const int32_t even = (e2 + e3) * 4433;
    v[2][k] = (even + e3 * 6270 + round) >> shift;
    v[6][k] = (even - e2 * 15137 + round) >> shift;
    const int32_t z1 = (d3 + d0) * -7373, z2 = (d2 + d1) * -20995;
    const int32_t z5 = (d3 + d1 + d2 + d0) * 9633;
    const int32_t z3 = (d3 + d1) * -16069 + z5, z4 = (d2 + d0) * -3196 + z5;
    v[7][k] = (d3 * 2446 + z1 + z3 + round) >> shift;
    v[5][k] = (d2 * 16819 + z2 + z4 + round) >> shift;
    v[3][k] = (d1 * 25172 + z2 + z3 + round) >> shift;
    v[1][k] = (d0 * 12299 + z1 + z4 + round) >> shift;
  }
}

static inline void transpose(int32_t to[8][8], const int32_t from[8][8]) {
  for (int r = 0; r < 8; r++) {
    for (int k = 0; k < 8; k++) to[r][k] = from[k][r];
  }
}

void forward_dct(int16_t* coefficients, uint8_t* last, const uint8_t* in, int64_t stride, int count,
                 const uint16_t* quant) {
  float inverse[64];
  int32_t half[64];
  for (int k = 0; k < 64; k++) {
    inverse[k] = 1.f / static_cast<float>(quant[k] * 8);
    half[k] = quant[k] * 4;
  }
  for (int block = 0; block < count; block++, coefficients += 64, in += 8) {
    int32_t rows[8][8], columns[8][8];
    for (int r = 0; r < 8; r++) {
      for (int k = 0; k < 8; k++) rows[r][k] = in[r * stride + k] - 128;
    }
    transpose(columns, rows);
    transform<true>(columns);
    transpose(rows, columns);
    transform<false>(rows);
    const int32_t* values = rows[0];
    int32_t beyond_first = 0;
    for (int k = 0; k < 64; k++) {
      // Adding one half before cutting off makes the division by a float exact.
      const int32_t magnitude = values[k] < 0 ? -values[k] : values[k];
      const auto level =
          static_cast<int32_t>((static_cast<float>(magnitude + half[k]) + 0.5f) * inverse[k]);
      coefficients[k] = static_cast<int16_t>(values[k] < 0 ? -level : level);
      beyond_first |= k ? level : 0;
    }
    last[block] = beyond_first ? 63 : 0;
  }
}

}  // namespace

const EncoderLoops encoder_loops = {to_ycbcr, downsample, forward_dct};

}  // namespace daliesque::jpeg::DALIESQUE_ISA
