// SPDX-License-Identifier: Apache-2.0
// Complex arithmetic and short transforms for the `.simd.cpp` files, which alone may include this.
#pragma once

#include <cmath>

#include "audio/fft_loops.h"
#include "audio/lanes.simd.h"

namespace daliesque::audio::DALIESQUE_ISA {

namespace {

/// A complex number in each lane.
template <class W>
struct Value {
  typename W::Type re, im;
};

template <class W>
DALIESQUE_INLINE Value<W> load(Complex in, int64_t i) {
  return {W::load(in.re + i), W::load(in.im + i)};
}

template <class W>
DALIESQUE_INLINE void store(Complex out, int64_t i, const Value<W>& value) {
  W::store(out.re + i, value.re);
  W::store(out.im + i, value.im);
}

template <class W>
DALIESQUE_INLINE Value<W> add(const Value<W>& a, const Value<W>& b) {
  return {a.re + b.re, a.im + b.im};
}

template <class W>
DALIESQUE_INLINE Value<W> subtract(const Value<W>& a, const Value<W>& b) {
  return {a.re - b.re, a.im - b.im};
}

template <class W>
DALIESQUE_INLINE Value<W> scale(const Value<W>& a, float factor) {
  return {a.re * factor, a.im * factor};
}

/// Times -i.
template <class W>
DALIESQUE_INLINE Value<W> times_minus_i(const Value<W>& a) {
  return {a.im, -a.re};
}

template <class W>
DALIESQUE_INLINE Value<W> multiply(const Value<W>& a, const float* factor) {
  return {a.re * factor[0] - a.im * factor[1], a.re * factor[1] + a.im * factor[0]};
}

template <class W, int radix>
struct Butterfly;

template <class W>
struct Butterfly<W, 2> {
  DALIESQUE_INLINE static void run(Value<W> (&v)[2], const float*) {
    const Value<W> sum = add(v[0], v[1]);
    v[1] = subtract(v[0], v[1]);
    v[0] = sum;
  }
};

template <class W>
struct Butterfly<W, 3> {
  DALIESQUE_INLINE static void run(Value<W> (&v)[3], const float*) {
    constexpr float kSine = 0.86602540378443864676f;  // sin(pi / 3)
    const Value<W> sum = add(v[1], v[2]);
    const Value<W> middle = subtract(v[0], scale(sum, 0.5f));
    const Value<W> side = times_minus_i(scale(subtract(v[1], v[2]), kSine));
    v[0] = add(v[0], sum);
    v[1] = add(middle, side);
    v[2] = subtract(middle, side);
  }
};

template <class W>
struct Butterfly<W, 4> {
  DALIESQUE_INLINE static void run(Value<W> (&v)[4], const float*) {
    const Value<W> a = add(v[0], v[2]), b = subtract(v[0], v[2]);
    const Value<W> c = add(v[1], v[3]), d = times_minus_i(subtract(v[1], v[3]));
    v[0] = add(a, c);
    v[1] = add(b, d);
    v[2] = subtract(a, c);
    v[3] = subtract(b, d);
  }
};

template <class W>
struct Butterfly<W, 8> {
  DALIESQUE_INLINE static void run(Value<W> (&v)[8], const float*) {
    constexpr float kHalfRoot = 0.70710678118654752440f;
    Value<W> even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], v[3], v[5], v[7]};
    Butterfly<W, 4>::run(even, nullptr);
    Butterfly<W, 4>::run(odd, nullptr);
    const Value<W> rotated[4] = {
        odd[0],
        {(odd[1].re + odd[1].im) * kHalfRoot, (odd[1].im - odd[1].re) * kHalfRoot},
        times_minus_i(odd[2]),
        {(odd[3].im - odd[3].re) * kHalfRoot, (odd[3].re + odd[3].im) * -kHalfRoot}};
    for (int k = 0; k < 4; k++) {
      v[k] = add(even[k], rotated[k]);
      v[k + 4] = subtract(even[k], rotated[k]);
    }
  }
};

template <class W>
struct Butterfly<W, 5> {
  DALIESQUE_INLINE static void run(Value<W> (&v)[5], const float*) {
    constexpr float kCos1 = 0.30901699437494742410f, kCos2 = -0.80901699437494742410f;
    constexpr float kSin1 = 0.95105651629515357212f, kSin2 = 0.58778525229247312917f;
    const Value<W> a = add(v[1], v[4]), b = add(v[2], v[3]);
    const Value<W> c = subtract(v[1], v[4]), d = subtract(v[2], v[3]);
    const Value<W> near = add(v[0], add(scale(a, kCos1), scale(b, kCos2)));
    const Value<W> far = add(v[0], add(scale(a, kCos2), scale(b, kCos1)));
    const Value<W> near_side = times_minus_i(add(scale(c, kSin1), scale(d, kSin2)));
    const Value<W> far_side = times_minus_i(subtract(scale(c, kSin2), scale(d, kSin1)));
    v[0] = add(v[0], add(a, b));
    v[1] = add(near, near_side);
    v[2] = add(far, far_side);
    v[3] = subtract(far, far_side);
    v[4] = subtract(near, near_side);
  }
};

template <class W>
DALIESQUE_INLINE typename W::Type square_root(const typename W::Type& value) {
  if constexpr (W::lanes == 1) {
    return std::sqrt(value);
  } else {
#if defined(__AVX2__)
    return _mm256_sqrt_ps(value);
#elif defined(__SSE2__)
    return _mm_sqrt_ps(value);
#else
    typename W::Type root{};
    for (int k = 0; k < W::lanes; k++) root[k] = std::sqrt(value[k]);
    return root;
#endif
  }
}

}  // namespace

}  // namespace daliesque::audio::DALIESQUE_ISA
