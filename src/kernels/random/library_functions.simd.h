// SPDX-License-Identifier: Apache-2.0
// Log and cos with the bits of the C library's logf and cosf, on several numbers at a time. glibc
// computes both in double by short polynomials: logf with a table of 16 reciprocals, cosf after
// the angle is reduced to a quarter of pi. The same steps with the same constants, which are what
// defines the last bit, give the same floats for all numbers that can be drawn (there are 10 * 2^23
// of them, so each was tried). Other C libraries do it in other ways: see agrees_with_library() in
// normal.simd.cpp.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "core/half.h"

namespace daliesque::random::DALIESQUE_ISA {

#ifdef __AVX512VBMI__
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

using Doubles [[gnu::vector_size(8 * kLanes)]] = double;
using Floats [[gnu::vector_size(4 * kLanes)]] = float;
using Ints [[gnu::vector_size(4 * kLanes)]] = int32_t;
using Words [[gnu::vector_size(4 * kLanes)]] = uint32_t;
using Bits [[gnu::vector_size(8 * kLanes)]] = uint64_t;

#ifdef __AVX512VBMI__

DALIESQUE_INLINE Doubles fused(Doubles a, Doubles b, Doubles c) { return _mm512_fmadd_pd(a, b, c); }
DALIESQUE_INLINE Floats fused(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
DALIESQUE_INLINE Floats square_root(Floats x) { return _mm256_sqrt_ps(x); }

/// Entry number (index mod 16) of a table of 16.
DALIESQUE_INLINE Doubles look_up(const double* table, Ints index) {
  const __m512i indices = _mm512_cvtepi32_epi64((__m256i)index);
  return _mm512_permutex2var_pd(_mm512_load_pd(table), indices, _mm512_load_pd(table + 8));
}

/// Which of several integers are odd.
class Odd {
 public:
  DALIESQUE_INLINE explicit Odd(Ints x)
      : lanes_(_mm256_test_epi32_mask((__m256i)x, _mm256_set1_epi32(1))) {}
  DALIESQUE_INLINE explicit Odd(Bits x)
      : lanes_(_mm512_test_epi64_mask((__m512i)x, _mm512_set1_epi64(1))) {}
  DALIESQUE_INLINE Doubles choose(Doubles odd, Doubles even) const {
    return _mm512_mask_mov_pd(even, lanes_, odd);
  }

 private:
  __mmask8 lanes_;
};

#else

DALIESQUE_INLINE Doubles fused(Doubles a, Doubles b, Doubles c) { return _mm256_fmadd_pd(a, b, c); }
DALIESQUE_INLINE Floats fused(Floats a, Floats b, Floats c) { return _mm_fmadd_ps(a, b, c); }
DALIESQUE_INLINE Floats square_root(Floats x) { return _mm_sqrt_ps(x); }

/// Entry number (index mod 16) of a table of 16.
DALIESQUE_INLINE Doubles look_up(const double* table, Ints index) {
  // GCC warns of the intrinsic without a mask.
  const __m256d every = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
  return _mm256_mask_i32gather_pd(_mm256_setzero_pd(), table, (__m128i)(index & 15), every, 8);
}

/// Which of several integers are odd.
class Odd {
 public:
  DALIESQUE_INLINE explicit Odd(Ints x)
      : lanes_((__m256d)_mm256_cvtepi32_epi64((__m128i)(x << 31))) {}
  DALIESQUE_INLINE explicit Odd(Bits x) : lanes_((__m256d)(x << 63)) {}
  DALIESQUE_INLINE Doubles choose(Doubles odd, Doubles even) const {
    return _mm256_blendv_pd(even, odd, lanes_);
  }

 private:
  __m256d lanes_;
};

#endif

DALIESQUE_INLINE Doubles repeat(double x) { return x - Doubles{}; }

/// logf, of numbers that are positive and normal.
DALIESQUE_INLINE Floats library_log(Floats number) {
  // A number is z * 2^k; z lies in one of 16 intervals from here up. Near the center of each is
  // a c with a reciprocal and a logarithm that hardly suffer from being rounded.
  constexpr int32_t kBegin = 0x3f330000;
  alignas(64) static constexpr double kReciprocal[16] = {
      0x1.661ec79f8f3bep+0, 0x1.571ed4aaf883dp+0,
      0x1.49539f0f010bp+0,  0x1.3c995b0b80385p+0,
      0x1.30d190c8864a5p+0, 0x1.25e227b0b8eap+0,
      0x1.1bb4a4a1a343fp+0, 0x1.12358f08ae5bap+0,
      0x1.0953f419900a7p+0, 0x1p+0,
      0x1.e608cfd9a47acp-1, 0x1.ca4b31f026aap-1,
      0x1.b2036576afce6p-1, 0x1.9c2d163a1aa2dp-1,
      0x1.886e6037841edp-1, 0x1.767dcf5534862p-1};
  alignas(64) static constexpr double kLogarithm[16] = {
      -0x1.57bf7808caadep-2, -0x1.2bef0a7c06ddbp-2,
      -0x1.01eae7f513a67p-2, -0x1.b31d8a68224e9p-3,
      -0x1.6574f0ac07758p-3, -0x1.1aa2bc79c81p-3,
      -0x1.a4e76ce8c0e5ep-4, -0x1.1973c5a611cccp-4,
      -0x1.252f438e10c1ep-5, 0,
      0x1.aa5aa5df25984p-5,  0x1.c5e53aa362eb4p-4,
      0x1.526e57720db08p-3,  0x1.bc2860d22477p-3,
      0x1.1058bc8a07ee1p-2,  0x1.4043057b6ee09p-2};
  const Ints bits = (Ints)number, above = bits - kBegin;
  const Ints interval = above >> 19;
  const Doubles k = __builtin_convertvector(above >> 23, Doubles);
  const Doubles z = __builtin_convertvector((Floats)(bits - (above & ~0x7fffff)), Doubles);
  const Doubles r = fused(z, look_up(kReciprocal, interval), repeat(-1)), square = r * r;
  const Doubles base = fused(k, repeat(0x1.62e42fefa39efp-1), look_up(kLogarithm, interval));
  Doubles sum = fused(repeat(0x1.5575b0be00b6ap-2), r, repeat(-0x1.ffffef20a4123p-2));
  sum = fused(repeat(-0x1.00ea348b88334p-2), square, sum);
  return __builtin_convertvector(fused(sum, square, base + r), Floats);
}

/// cosf(2 pi u), with the product rounded to float, for 0 <= u <= 1.
DALIESQUE_INLINE Floats library_cosine(Floats u) {
  const Doubles angle = __builtin_convertvector(u * 0x1.921fb6p+2f, Doubles);
  const Ints quarter = __builtin_convertvector(u * 4 + 0.5f, Ints);
  const Doubles x =
      fused(__builtin_convertvector(-quarter, Doubles), repeat(0x1.921fb54442d18p+0), angle);
  // In odd quarters this is a sine: x + x^3 (...), else 1 + x^2 (...).
  const Odd odd(quarter);
  const Doubles square = x * x, power = square * odd.choose(x, square);
  const Doubles even_start = fused(square, repeat(-0x1.ffffffd0c621cp-2), repeat(1));
  Doubles sum = odd.choose(repeat(-0x1.555545995a603p-3), repeat(0x1.55553e1068f19p-5));
  sum = fused(power, sum, odd.choose(x, even_start));
  const Doubles last = odd.choose(repeat(-0x1.994eb3774cf24p-13), repeat(0x1.99343027bf8c3p-16));
  const Doubles next = odd.choose(repeat(0x1.1107605230bc4p-7), repeat(-0x1.6c087e89a359dp-10));
  sum = fused(power * square, fused(square, last, next), sum);
  const Ints sign = ((quarter + 1) & 2) << 30;
  return (Floats)((Ints) __builtin_convertvector(sum, Floats) ^ sign);
}

}  // namespace daliesque::random::DALIESQUE_ISA
