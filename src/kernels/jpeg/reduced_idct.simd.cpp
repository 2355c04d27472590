// SPDX-License-Identifier: Apache-2.0
// Inverse DCTs that give fewer samples than a block has coefficients: columns first, kept at two
// extra bits, then rows, in the fixed point and with the rounding of libjpeg. Of the samples of the
// whole block each is a mean, but for what the highest frequencies would add.
#include <cstring>

#include "jpeg/decoder_loops.h"
#include "jpeg/header.h"

namespace daliesque::jpeg::DALIESQUE_ISA {
namespace {

constexpr int kReducedConstBits = 13;
constexpr int kReducedPassBits = 2;

constexpr int reduced_fix(double value) {
  return static_cast<int>(value * (1 << kReducedConstBits) + 0.5);
}

/// The weights of the coefficients 1, 3, 5 and 7 in the odd part of a result.
struct OddWeights {
  int first, third, fifth, seventh;
};

constexpr OddWeights kOddOf2 = {reduced_fix(3.624509785), -reduced_fix(1.272758580),
                                reduced_fix(0.850430095), -reduced_fix(0.720959822)};
constexpr OddWeights kInnerOddOf4 = {reduced_fix(1.061594337), -reduced_fix(2.172734803),
                                     reduced_fix(1.451774981), -reduced_fix(0.211164243)};
constexpr OddWeights kOuterOddOf4 = {reduced_fix(2.562915447), reduced_fix(0.899976223),
                                     -reduced_fix(0.601344887), -reduced_fix(0.509795579)};
constexpr int kSecondOf4 = reduced_fix(1.847759065), kSixthOf4 = -reduced_fix(0.765366865);

/// Sums wrap around, as those of vectors do; only damaged files have any that large.
[[gnu::always_inline]] inline uint32_t product(int value, int weight) {
  return static_cast<uint32_t>(value) * static_cast<uint32_t>(weight);
}

[[gnu::always_inline]] inline uint32_t odd_part(const OddWeights& weights, int first, int third,
                                                int fifth, int seventh) {
  return product(first, weights.first) + product(third, weights.third) +
         product(fifth, weights.fifth) + product(seventh, weights.seventh);
}

template <int shift>
[[gnu::always_inline]] inline int descale(uint32_t value) {
  return static_cast<int32_t>(value + (1u << (shift - 1))) >> shift;
}

[[gnu::always_inline]] inline uint8_t to_sample(int value) {
  const int sample = value + 128;
  return static_cast<uint8_t>(sample < 0 ? 0 : sample > 255 ? 255 : sample);
}

/// The sample of a block that has only a DC coefficient.
[[gnu::always_inline]] inline uint8_t mean_sample(int16_t dc, uint16_t quant) {
  return to_sample((static_cast<int16_t>(dc * quant) + 4) >> 3);
}

/// Coefficient (row, column), dequantized.
struct Dequantizer {
  const int16_t* coefficients;
  const uint16_t* quant;

  [[gnu::always_inline]] inline int operator()(int row, int column) const {
    const int index = row * kBlockSide + column;
    return static_cast<int16_t>(coefficients[index] * quant[index]);
  }
};

void block_2x2(uint8_t* out, ptrdiff_t stride, const Dequantizer& at) {
  constexpr int kShift = kReducedConstBits + 2;
  int sums[2][kBlockSide];
  for (int column = 0; column < kBlockSide; ++column) {
    const uint32_t even = static_cast<uint32_t>(at(0, column)) << kShift;
    const uint32_t odd =
        odd_part(kOddOf2, at(1, column), at(3, column), at(5, column), at(7, column));
    sums[0][column] = descale<kShift - kReducedPassBits>(even + odd);
    sums[1][column] = descale<kShift - kReducedPassBits>(even - odd);
  }
  for (const auto& sum : sums) {
    const uint32_t even = static_cast<uint32_t>(sum[0]) << kShift;
    const uint32_t odd = odd_part(kOddOf2, sum[1], sum[3], sum[5], sum[7]);
    out[0] = to_sample(descale<kShift + kReducedPassBits + 3>(even + odd));
    out[1] = to_sample(descale<kShift + kReducedPassBits + 3>(even - odd));
    out += stride;
  }
}

void block_4x4(uint8_t* out, ptrdiff_t stride, const Dequantizer& at) {
  constexpr int kShift = kReducedConstBits + 1;
  int sums[4][kBlockSide];
  for (int column = 0; column < kBlockSide; ++column) {
    const uint32_t dc = static_cast<uint32_t>(at(0, column)) << kShift;
    const uint32_t even = product(at(2, column), kSecondOf4) + product(at(6, column), kSixthOf4);
    const int first = at(1, column), third = at(3, column), fifth = at(5, column),
              seventh = at(7, column);
    const uint32_t outer = odd_part(kOuterOddOf4, first, third, fifth, seventh);
    const uint32_t inner = odd_part(kInnerOddOf4, first, third, fifth, seventh);
    constexpr int kDown = kShift - kReducedPassBits;
    sums[0][column] = descale<kDown>(dc + even + outer);
    sums[1][column] = descale<kDown>(dc - even + inner);
    sums[2][column] = descale<kDown>(dc - even - inner);
    sums[3][column] = descale<kDown>(dc + even - outer);
  }
  for (const auto& sum : sums) {
    const uint32_t dc = static_cast<uint32_t>(sum[0]) << kShift;
    const uint32_t even = product(sum[2], kSecondOf4) + product(sum[6], kSixthOf4);
    const uint32_t outer = odd_part(kOuterOddOf4, sum[1], sum[3], sum[5], sum[7]);
    const uint32_t inner = odd_part(kInnerOddOf4, sum[1], sum[3], sum[5], sum[7]);
    constexpr int kDown = kShift + kReducedPassBits + 3;
    out[0] = to_sample(descale<kDown>(dc + even + outer));
    out[1] = to_sample(descale<kDown>(dc - even + inner));
    out[2] = to_sample(descale<kDown>(dc - even - inner));
    out[3] = to_sample(descale<kDown>(dc + even - outer));
    out += stride;
  }
}

template <int side, class Transform>
[[gnu::always_inline]] inline void for_each_block(uint8_t* out, ptrdiff_t stride,
                                                  const int16_t* coefficients, const uint8_t* last,
                                                  int count, const uint16_t* quant,
                                                  const Transform& transform) {
  for (int i = 0; i < count; ++i) {
    const int16_t* const block = coefficients + static_cast<ptrdiff_t>(i) * kBlockSize;
    if (last[i] == 0) {
      const uint8_t sample = mean_sample(*block, *quant);
      for (int row = 0; row < side; ++row) std::memset(out + row * stride, sample, side);
    } else {
      transform(out, stride, Dequantizer{block, quant});
    }
    out += side;
  }
}

}  // namespace

void inverse_dct_1x1(uint8_t* out, ptrdiff_t, const int16_t* coefficients, const uint8_t*,
                     int count, const uint16_t* quant) {
  for (int i = 0; i < count; ++i) {
    out[i] = mean_sample(coefficients[static_cast<ptrdiff_t>(i) * kBlockSize], *quant);
  }
}

void inverse_dct_2x2(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients,
                     const uint8_t* last, int count, const uint16_t* quant) {
  for_each_block<2>(out, stride, coefficients, last, count, quant, block_2x2);
}

void inverse_dct_4x4(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients,
                     const uint8_t* last, int count, const uint16_t* quant) {
  for_each_block<4>(out, stride, coefficients, last, count, quant, block_4x4);
}

}  // namespace daliesque::jpeg::DALIESQUE_ISA
