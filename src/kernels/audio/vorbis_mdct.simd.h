// SPDX-License-Identifier: Apache-2.0
// The inverse MDCT, and how blocks overlap, for vorbis.simd.cpp, which alone includes this.
#pragma once

#include "audio/butterflies.simd.h"
#include "audio/vorbis_loops.h"

namespace daliesque::audio::DALIESQUE_ISA {

namespace {

using Lanes = Wide<kWidest>;
using Floats = Lanes::Type;
constexpr int64_t kLanes = Lanes::lanes;

/// Two vectors of numbers: those with even and those with odd positions.
struct Pair {
  Floats even, odd;
};

#ifdef __AVX2__

/// The lanes in the opposite order.
DALIESQUE_INLINE Floats reversed(const Floats& v) {
  return _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
}

DALIESQUE_INLINE Pair split(const Floats& a, const Floats& b) {
  const __m256 low = _mm256_permute2f128_ps(a, b, 0x20), high = _mm256_permute2f128_ps(a, b, 0x31);
  return {_mm256_shuffle_ps(low, high, 0x88), _mm256_shuffle_ps(low, high, 0xdd)};
}

DALIESQUE_INLINE void merge(float* out, const Pair& pair) {
  const __m256 low = _mm256_unpacklo_ps(pair.even, pair.odd);
  const __m256 high = _mm256_unpackhi_ps(pair.even, pair.odd);
  _mm256_storeu_ps(out, _mm256_permute2f128_ps(low, high, 0x20));
  _mm256_storeu_ps(out + 8, _mm256_permute2f128_ps(low, high, 0x31));
}

#elif defined(__SSE2__)

DALIESQUE_INLINE Floats reversed(const Floats& v) { return _mm_shuffle_ps(v, v, 0x1b); }

DALIESQUE_INLINE Pair split(const Floats& a, const Floats& b) {
  return {_mm_shuffle_ps(a, b, 0x88), _mm_shuffle_ps(a, b, 0xdd)};
}

DALIESQUE_INLINE void merge(float* out, const Pair& pair) {
  _mm_storeu_ps(out, _mm_unpacklo_ps(pair.even, pair.odd));
  _mm_storeu_ps(out + 4, _mm_unpackhi_ps(pair.even, pair.odd));
}

#else

DALIESQUE_INLINE Floats reversed(const Floats& v) { return Floats{v[3], v[2], v[1], v[0]}; }

DALIESQUE_INLINE Pair split(const Floats& a, const Floats& b) {
  return {Floats{a[0], a[2], b[0], b[2]}, Floats{a[1], a[3], b[1], b[3]}};
}

DALIESQUE_INLINE void merge(float* out, const Pair& pair) {
  for (int k = 0; k < 4; k++) {
    out[2 * k] = pair.even[k];
    out[2 * k + 1] = pair.odd[k];
  }
}

#endif

#ifndef __AVX2__
/// Transposes 4x4.
DALIESQUE_INLINE void transpose(Floats (&r)[4]) {
#ifdef __SSE2__
  _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
#else
  const Floats a = r[0], b = r[1], c = r[2], d = r[3];
  for (int k = 0; k < 4; k++) r[k] = Floats{a[k], b[k], c[k], d[k]};
#endif
}
#endif

/// The products of numbers, two vectors of each.
DALIESQUE_INLINE Pair split_products(const float* a, const float* b) {
  return split(Lanes::load(a) * Lanes::load(b), Lanes::load(a + kLanes) * Lanes::load(b + kLanes));
}

DALIESQUE_INLINE Value<Lanes> rotated(const Value<Lanes>& a, const float* re, const float* im) {
  const Floats c = Lanes::load(re), s = Lanes::load(im);
  return {a.re * c - a.im * s, a.re * s + a.im * c};
}

/// Takes products from both ends, every other one, as real and imaginary parts, and rotates them.
DALIESQUE_INLINE void twist_input(Complex out, const float* in, const float* curve,
                                  const MdctTables& tables) {
  const int64_t count = tables.half / 2;
  for (int64_t i = 0; i < count / 2; i += kLanes) {
    const int64_t j = count - kLanes - i;
    const Pair low = split_products(in + 2 * i, curve + 2 * i);
    const Pair high = split_products(in + 2 * j, curve + 2 * j);
    const Value<Lanes> first{low.even, reversed(high.odd)}, second{high.even, reversed(low.odd)};
    store(out, i, rotated(first, tables.twist_re + i, tables.twist_im + i));
    store(out, j, rotated(second, tables.twist_re + j, tables.twist_im + j));
  }
}

/// The opposite of twist_input.
DALIESQUE_INLINE void twist_output(float* out, Complex in, const MdctTables& tables) {
  const int64_t count = tables.half / 2;
  for (int64_t i = 0; i < count / 2; i += kLanes) {
    const int64_t j = count - kLanes - i;
    const Value<Lanes> first =
        rotated(load<Lanes>(in, i), tables.twist_re + i, tables.twist_im + i);
    const Value<Lanes> second =
        rotated(load<Lanes>(in, j), tables.twist_re + j, tables.twist_im + j);
    merge(out + 2 * i, {first.re, -reversed(second.im)});
    merge(out + 2 * j, {second.re, -reversed(first.im)});
  }
}

/// One stage for the columns: `length` rows are still to be combined, in groups of `stride` numbers
/// that stay together.
template <int radix>
DALIESQUE_INLINE void column_stage(Complex out, Complex in, int64_t length, int64_t stride,
                                   const float* roots) {
  const int64_t groups = length / radix;
  for (int64_t p = 0; p < groups; p++, roots += 2 * (radix - 1)) {
    for (int64_t q = 0; q < stride; q += kLanes) {
      Value<Lanes> v[radix];
      for (int k = 0; k < radix; k++) v[k] = load<Lanes>(in, q + stride * (p + k * groups));
      Butterfly<Lanes, radix>::run(v, nullptr);
      store(out, q + stride * radix * p, v[0]);
      for (int k = 1; k < radix; k++) {
        store(out, q + stride * (radix * p + k), multiply(v[k], roots + 2 * (k - 1)));
      }
    }
  }
}

/// Transforms columns; returns where the result is.
DALIESQUE_INLINE Complex transform_columns(Complex in, Complex out, const MdctTables& tables) {
  const float* roots = tables.column_roots;
  int64_t length = tables.rows, stride = kMdctColumns;
  while (length > 1) {
    const int radix = length % 4 == 0 ? 4 : 2;
    if (radix == 4) {
      column_stage<4>(out, in, length, stride, roots);
    } else {
      column_stage<2>(out, in, length, stride, roots);
    }
    roots += length / radix * 2 * (radix - 1);
    length /= radix;
    stride *= radix;
    const Complex other = in;
    in = out;
    out = other;
  }
  return in;
}

/// Combines columns: a row k of them becomes numbers k, k + rows, k + 2 * rows, ...
DALIESQUE_INLINE void transform_rows(Complex out, Complex in, const MdctTables& tables) {
  for (int64_t k = 0; k < tables.rows; k += kLanes) {
    Value<Lanes> v[kMdctColumns];
    for (int64_t column = 0; column < kMdctColumns; column += kLanes) {
      Floats re[kLanes], im[kLanes];
      for (int64_t j = 0; j < kLanes; j++) {
        const int64_t at = (k + j) * kMdctColumns + column;
        const Value<Lanes> row =
            rotated(load<Lanes>(in, at), tables.row_re + at, tables.row_im + at);
        re[j] = row.re;
        im[j] = row.im;
      }
      transpose(re);
      transpose(im);
      for (int64_t j = 0; j < kLanes; j++) v[column + j] = {re[j], im[j]};
    }
    Butterfly<Lanes, kMdctColumns>::run(v, nullptr);
    for (int64_t j = 0; j < kMdctColumns; j++) store(out, k + j * tables.rows, v[j]);
  }
}

/// The same for fewer rows than lanes.
void transform_few_rows(Complex out, Complex in, const MdctTables& tables) {
  using One = Wide<1>;
  for (int64_t k = 0; k < tables.rows; k++) {
    Value<One> v[kMdctColumns];
    for (int64_t j = 0; j < kMdctColumns; j++) {
      const int64_t at = k * kMdctColumns + j;
      const float c = tables.row_re[at], s = tables.row_im[at];
      v[j] = {in.re[at] * c - in.im[at] * s, in.re[at] * s + in.im[at] * c};
    }
    Butterfly<One, kMdctColumns>::run(v, nullptr);
    for (int64_t j = 0; j < kMdctColumns; j++) store(out, k + j * tables.rows, v[j]);
  }
}

void inverse_mdct(float* out, const float* in, const float* curve, const MdctTables& tables,
                  float* work) {
  const int64_t count = tables.half / 2;
  const Complex first{work, work + count}, second{work + 2 * count, work + 3 * count};
  twist_input(first, in, curve, tables);
  const Complex columns = transform_columns(first, second, tables);
  const Complex rest = columns.re == first.re ? second : first;
  if (tables.rows >= kLanes) {
    transform_rows(rest, columns, tables);
  } else {
    transform_few_rows(rest, columns, tables);
  }
  twist_output(out, rest, tables);
}

void overlap(float* out, const float* before, const float* after, const float* slope,
             int64_t length) {
  const int64_t half = length / 2, last = length - kLanes;
  for (int64_t i = 0; i < half; i += kLanes) {
    const Floats a = -reversed(Lanes::load(before + half - kLanes - i));
    const Floats b = Lanes::load(after + i);
    const Floats up = Lanes::load(slope + i), down = reversed(Lanes::load(slope + last - i));
    Lanes::store(out + i, a * down + b * up);
    Lanes::store(out + last - i, reversed(a * up - b * down));
  }
}

void mirror(float* out, const float* end, int64_t count) {
  for (int64_t i = 0; i < count; i++) out[i] = -end[-1 - i];
}

}  // namespace

}  // namespace daliesque::audio::DALIESQUE_ISA
