// SPDX-License-Identifier: Apache-2.0
// Log and cos of doubles, on several numbers at a time, with what rounding takes away from them:
// then one knows when a function that is not rounded correctly may give the number beside it.
#pragma once

#include <math.h>

#include "random/library_functions.simd.h"

namespace daliesque::random::DALIESQUE_ISA {

/// The nearest double, and what would have to be added to it.
struct Rounded {
  Doubles value, rest;
};

#ifdef __AVX512VBMI__

DALIESQUE_INLINE Doubles look_up(const double* table, Bits index) {
  return _mm512_permutex2var_pd(_mm512_load_pd(table), (__m512i)index, _mm512_load_pd(table + 8));
}

/// One bit for each lane in which a > b.
DALIESQUE_INLINE uint32_t lanes_above(Doubles a, Doubles b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ);
}

#else

DALIESQUE_INLINE Doubles look_up(const double* table, Bits index) {
  const __m256d every = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
  return _mm256_mask_i64gather_pd(_mm256_setzero_pd(), table, (__m256i)(index & 15), every, 8);
}

/// One bit for each lane in which a > b.
DALIESQUE_INLINE uint32_t lanes_above(Doubles a, Doubles b) {
  return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ)));
}

#endif

DALIESQUE_INLINE Doubles magnitude(Doubles x) { return (Doubles)((Bits)x & ~(uint64_t{1} << 63)); }

/// One bit for each lane in which a function with errors below 1 - limit units in the last place
/// may give another result.
DALIESQUE_INLINE uint32_t doubtful_lanes(Rounded result, double limit) {
  // Below a power of two, numbers are half as far apart.
  const Doubles power = (Doubles)(((Bits)result.value - 1) & (uint64_t{0x7ff} << 52));
  return lanes_above(magnitude(result.rest), power * (limit * 0x1p-52));
}

/// Log of positive normal numbers except 1, within 2^-60 of it.
DALIESQUE_INLINE Rounded rounded_log(Doubles number) {
  // A number is z * 2^k; z lies in one of 16 intervals from here up. z times the reciprocal of a
  // number in its interval, which has few bits, is nearly 1. Logarithms are in two parts, so that
  // multiples of the first ones can be added without rounding.
  constexpr uint64_t kBegin = uint64_t{0x3fe6} << 48, kOne = uint64_t{0x3ff} << 52;
  alignas(64) static constexpr double kReciprocal[16] = {
      0x1.6cp+0, 0x1.5dp+0, 0x1.4ep+0, 0x1.41p+0, 0x1.35p+0, 0x1.2ap+0, 0x1.1fp+0, 0x1.16p+0,
      0x1.0dp+0, 0x1p+0,    0x1.fp-1,  0x1.d4p-1, 0x1.bap-1, 0x1.a4p-1, 0x1.9p-1,  0x1.7ep-1};
  alignas(64) static constexpr double kHigh[16] = {-0x1.686c81e9b1p-2, -0x1.3d54fa5c1fp-2,
                                                   -0x1.1058bf9ae5p-2, -0x1.cf6354e09cp-3,
                                                   -0x1.815c0a1436p-3, -0x1.371fc201e8p-3,
                                                   -0x1.d4313d66ccp-4, -0x1.51b073f06p-4,
                                                   -0x1.95c830ec9p-5,  0,
                                                   0x1.0415d89e78p-5,  0x1.700d30aeacp-4,
                                                   0x1.2d1610c868p-3,  0x1.95a5adcf7p-3,
                                                   0x1.f991c6cb3cp-3,  0x1.2bef07cdc9p-2};
  alignas(64) static constexpr double kLow[16] = {-0x1.2bb110af84054p-44, -0x1.c3e1cd9a395e3p-44,
                                                  0x1.4ab9d817d52cdp-44,  -0x1.771239a07d55bp-45,
                                                  0x1.02a52f9201ce8p-44,  -0x1.ee8779b2d8abcp-44,
                                                  0x1.9454379135713p-45,  -0x1.83f69278e686ap-44,
                                                  0x1.c148297c5feb8p-45,  0,
                                                  -0x1.dddc7f461c516p-44, 0x1.c1e8da99ded32p-49,
                                                  0x1.39d6ccb81b4a1p-47,  0x1.7f22858a0ff6fp-47,
                                                  -0x1.90d04cd7cc834p-44, 0x1.a9cfa4a5004f4p-45};
  const Bits bits = (Bits)number, above = bits - kBegin + kOne;
  const Bits interval = (bits - kBegin) >> 48;
  const Doubles k = (Doubles)((above >> 52) | (uint64_t{0x433} << 52)) - (0x1p52 + 1023);
  const Doubles z = (Doubles)(bits - (above & (uint64_t{0xfff} << 52)) + kOne);
  const Doubles reciprocal = look_up(kReciprocal, interval), product = z * reciprocal;
  const Doubles r = product - 1, r_low = fused(z, reciprocal, -product);
  const Doubles base = fused(k, repeat(0x1.62e42fefa38p-1), look_up(kHigh, interval));
  const Doubles base_low = fused(k, repeat(0x1.ef35793c7673p-45), look_up(kLow, interval));
  const Doubles square = r * r, square_low = fused(r, r, -square) + 2 * r * r_low;
  // r - r^2 / 2 + r^3 / 3 - ...
  Doubles series = repeat(1.0 / 14);
  for (int n = 13; n >= 3; n--) series = fused(-series, r, repeat(1.0 / n));
  const Doubles first = base + r, first_low = r - (first - base);
  const Doubles half = -0.5 * square, sum = first + half, sum_low = half - (sum - first);
  const Doubles low = (first_low + sum_low) + (base_low + fused(repeat(-0.5), square_low, r_low)) +
                      square * r * series;
  const Doubles value = sum + low;
  return {value, low - (value - sum)};
}

/// cos(2 pi u), with the product rounded, for 0 <= u <= 1; within 2^-59 of it, unless it is nearly
/// zero.
DALIESQUE_INLINE Rounded rounded_cosine(Doubles u) {
  // Added to this, a number is rounded to an integer, which is in the lowest bits.
  constexpr double kShifter = 0x1.8p52;
  const Doubles shifted = u * 4 + kShifter, quarter = shifted - kShifter;
  const Doubles rest = fused(-quarter, repeat(0x1.921fb54442d18p+0), u * (2 * M_PI));
  const Doubles rest_low = quarter * -0x1.1a62633145c07p-54;
  const Doubles x = rest + rest_low, x_low = rest_low - (x - rest);
  // In odd quarters this is a sine: x - x^3 / 6 + ..., else 1 - x^2 / 2 + x^4 / 24 - ...
  const Odd odd((Bits)shifted);
  const Doubles square = x * x, square_low = fused(x, x, -square) + 2 * x * x_low;
  const Doubles factor = odd.choose(x, square), power = factor * square;
  const Doubles power_low = fused(factor, square, -power) +
                            fused(factor, square_low, square * odd.choose(x_low, square_low));
  const Doubles share = odd.choose(repeat(-1.0 / 6), repeat(1.0 / 24));
  const Doubles share_low =
      odd.choose(repeat(-0x1.5555555555555p-57), repeat(0x1.5555555555555p-59));
  const Doubles term = power * share;
  const Doubles term_low = fused(power, share, -term) + fused(power_low, share, power * share_low);
  // The terms that follow, as 1 / n! of the sine and of the cosine.
  constexpr double kTerms[8][2] = {{0x1.1111111111111p-7, -0x1.6c16c16c16c17p-10},
                                   {-0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-16},
                                   {0x1.71de3a556c734p-19, -0x1.27e4fb7789f5cp-22},
                                   {-0x1.ae64567f544e4p-26, 0x1.1eed8eff8d898p-29},
                                   {0x1.6124613a86d09p-33, -0x1.93974a8c07c9dp-37},
                                   {-0x1.ae7f3e733b81fp-41, 0x1.ae7f3e733b81fp-45},
                                   {0x1.952c77030ad4ap-49, -0x1.6827863b97d97p-53},
                                   {-0x1.2f49b46814157p-57, 0x1.e542ba4020225p-62}};
  Doubles series = repeat(0);
  for (int n = 7; n >= 0; n--) {
    series = fused(series, square, odd.choose(repeat(kTerms[n][0]), repeat(kTerms[n][1])));
  }
  const Doubles even = 1 - 0.5 * square, even_low = (1 - even) - 0.5 * square;
  const Doubles base = odd.choose(x, even);
  const Doubles base_low = odd.choose(x_low, even_low - 0.5 * square_low);
  const Doubles sum = base + term, sum_low = term - (sum - base);
  const Doubles low = sum_low + (base_low + (term_low + power * square * series));
  const Doubles value = sum + low;
  const Bits sign = (((Bits)shifted + 1) & 2) << 62;
  return {(Doubles)((Bits)value ^ sign), low - (value - sum)};
}

}  // namespace daliesque::random::DALIESQUE_ISA
