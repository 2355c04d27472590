// SPDX-License-Identifier: Apache-2.0
// The inverse DCT of Arai, Agui and Nakajima in 16-bit integers: the scale factors are part of the
// quantization table, products keep 8 fractional bits of their constant, nothing is rounded. Equal
// to libjpeg-turbo's fast integer DCT.
#include <cstring>

#include "jpeg/decoder_loops.h"
#include "jpeg/header.h"

namespace daliesque::jpeg::DALIESQUE_ISA {
namespace {

constexpr int kConstBits = 8;
constexpr int kOutputShift = 5;  // 2 bits from the table, 3 from the transform

constexpr int fix(double value) { return static_cast<int>(value * (1 << kConstBits) + 0.5); }

/// value * constant / 256, rounded down, in the form that the high half of a 16-bit product has.
template <int kConstant>
inline int16_t times(int16_t value) {
  static_assert(kConstant * 64 < 32768 && kConstant * 64 >= -32768);
  return static_cast<int16_t>((static_cast<int16_t>(value * 4) * (kConstant * 64)) >> 16);
}

inline int16_t add(int16_t a, int16_t b) { return static_cast<int16_t>(a + b); }
inline int16_t subtract(int16_t a, int16_t b) { return static_cast<int16_t>(a - b); }

/// One pass over the columns of a block, lane by lane, for the compiler to vectorize.
[[gnu::always_inline]] inline void transform(int16_t* v) {
  for (int i = 0; i < 8; ++i) {
    const int16_t in0 = v[i], in1 = v[8 + i], in2 = v[16 + i], in3 = v[24 + i];
    const int16_t in4 = v[32 + i], in5 = v[40 + i], in6 = v[48 + i], in7 = v[56 + i];
    const int16_t sum04 = add(in0, in4), difference04 = subtract(in0, in4);
    const int16_t sum26 = add(in2, in6);
    const int16_t rotated26 = subtract(times<fix(1.414213562)>(subtract(in2, in6)), sum26);
    const int16_t even0 = add(sum04, sum26), even3 = subtract(sum04, sum26);
    const int16_t even1 = add(difference04, rotated26), even2 = subtract(difference04, rotated26);
    const int16_t z13 = add(in5, in3), z10 = subtract(in5, in3);
    const int16_t z11 = add(in1, in7), z12 = subtract(in1, in7);
    const int16_t z5 = times<fix(1.847759065)>(add(z10, z12));
    const int16_t odd7 = add(z11, z13);
    // -2.613 does not fit into the 16 bits of a product's constant: -1.613 and -1 do.
    const int16_t rotated10 = subtract(times<-(fix(2.613125930) - (1 << kConstBits))>(z10), z10);
    const int16_t odd6 = subtract(add(rotated10, z5), odd7);
    const int16_t odd5 = subtract(times<fix(1.414213562)>(subtract(z11, z13)), odd6);
    const int16_t odd4 = add(subtract(times<fix(1.082392200)>(z12), z5), odd5);
    v[i] = add(even0, odd7);
    v[56 + i] = subtract(even0, odd7);
    v[8 + i] = add(even1, odd6);
    v[48 + i] = subtract(even1, odd6);
    v[16 + i] = add(even2, odd5);
    v[40 + i] = subtract(even2, odd5);
    v[32 + i] = add(even3, odd4);
    v[24 + i] = subtract(even3, odd4);
  }
}

[[gnu::always_inline]] inline void transpose(int16_t* out, const int16_t* in) {
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) out[8 * column + row] = in[8 * row + column];
  }
}

inline uint8_t to_sample(int16_t value) {
  const int centered = (value >> kOutputShift) + 128;
  return static_cast<uint8_t>(centered < 0 ? 0 : centered > 255 ? 255 : centered);
}

}  // namespace

void fast_inverse_dct(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients,
                      const uint8_t* last, int count, const uint16_t* quant) {
  for (int block = 0; block < count; ++block, coefficients += kBlockSize, out += 8) {
    if (last[block] == 0) {
      const auto value = static_cast<int16_t>(*coefficients * *quant);
      for (int row = 0; row < 8; ++row) std::memset(out + row * stride, to_sample(value), 8);
      continue;
    }
    alignas(32) int16_t rows[kBlockSize];
    alignas(32) int16_t columns[kBlockSize];
    for (int i = 0; i < kBlockSize; ++i) {
      rows[i] = static_cast<int16_t>(coefficients[i] * quant[i]);
    }
    transform(rows);
    transpose(columns, rows);
    transform(columns);
    transpose(rows, columns);
    for (int row = 0; row < 8; ++row) {
      for (int i = 0; i < 8; ++i) out[row * stride + i] = to_sample(rows[8 * row + i]);
    }
  }
}

}  // namespace daliesque::jpeg::DALIESQUE_ISA
