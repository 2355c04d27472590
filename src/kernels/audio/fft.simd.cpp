// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "fft_loops.h"
#include "lanes.simd.h"

namespace daliesque::DALIESQUE_ISA {

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
DALIESQUE_INLINE Value<W> turn(const Value<W>& a) {
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
    const Value<W> side = turn(scale(subtract(v[1], v[2]), kSine));
    v[0] = add(v[0], sum);
    v[1] = add(middle, side);
    v[2] = subtract(middle, side);
  }
};

template <class W>
struct Butterfly<W, 4> {
  DALIESQUE_INLINE static void run(Value<W> (&v)[4], const float*) {
    const Value<W> a = add(v[0], v[2]), b = subtract(v[0], v[2]);
    const Value<W> c = add(v[1], v[3]), d = turn(subtract(v[1], v[3]));
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
    const Value<W> turned[4] = {
        odd[0],
        {(odd[1].re + odd[1].im) * kHalfRoot, (odd[1].im - odd[1].re) * kHalfRoot},
        turn(odd[2]),
        {(odd[3].im - odd[3].re) * kHalfRoot, (odd[3].re + odd[3].im) * -kHalfRoot}};
    for (int k = 0; k < 4; k++) {
      v[k] = add(even[k], turned[k]);
      v[k + 4] = subtract(even[k], turned[k]);
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
    const Value<W> near_side = turn(add(scale(c, kSin1), scale(d, kSin2)));
    const Value<W> far_side = turn(subtract(scale(c, kSin2), scale(d, kSin1)));
    v[0] = add(v[0], add(a, b));
    v[1] = add(near, near_side);
    v[2] = add(far, far_side);
    v[3] = subtract(far, far_side);
    v[4] = subtract(near, near_side);
  }
};

template <class W, int radix>
void fixed_stage(Complex out, Complex in, const FftStage& stage) {
  const int64_t stride = stage.stride, span = stage.groups * stride;
  for (int64_t group = 0; group < stage.groups; group++) {
    const float* twiddles = stage.twiddles + group * 2 * (radix - 1);
    const int64_t from = group * stride, to = from * radix;
    for (int64_t q = 0; q < stride; q += W::lanes) {
      Value<W> values[radix];
      for (int k = 0; k < radix; k++) values[k] = load<W>(in, from + q + k * span);
      Butterfly<W, radix>::run(values, stage.roots);
      store<W>(out, to + q, values[0]);
      for (int k = 1; k < radix; k++) {
        store<W>(out, to + q + k * stride,
                 stage.groups > 1 ? multiply<W>(values[k], twiddles + 2 * (k - 1)) : values[k]);
      }
    }
  }
}

/// Any odd radix: inputs that stand symmetrically share their products.
template <class W>
void odd_stage(Complex out, Complex in, const FftStage& stage) {
  const int64_t stride = stage.stride, span = stage.groups * stride, radix = stage.radix;
  const int64_t pairs = radix / 2;
  for (int64_t group = 0; group < stage.groups; group++) {
    const float* twiddles = stage.twiddles + group * 2 * (radix - 1);
    const int64_t from = group * stride, to = from * radix;
    for (int64_t q = 0; q < stride; q += W::lanes) {
      Value<W> sums[kMaxRadix / 2], differences[kMaxRadix / 2];
      const Value<W> first = load<W>(in, from + q);
      Value<W> total = first;
      for (int64_t j = 0; j < pairs; j++) {
        const Value<W> a = load<W>(in, from + q + (j + 1) * span);
        const Value<W> b = load<W>(in, from + q + (radix - 1 - j) * span);
        sums[j] = add(a, b);
        differences[j] = subtract(a, b);
        total = add(total, sums[j]);
      }
      store<W>(out, to + q, total);
      for (int64_t k = 1; k <= pairs; k++) {
        Value<W> middle = first, side{};
        for (int64_t j = 0; j < pairs; j++) {
          const float* root = stage.roots + 2 * ((k * (j + 1)) % radix);
          middle = add(middle, scale(sums[j], root[0]));
          side = add(side, scale(differences[j], root[1]));
        }
        side = turn(side);
        store<W>(out, to + q + k * stride, multiply<W>(add(middle, side), twiddles + 2 * (k - 1)));
        store<W>(out, to + q + (radix - k) * stride,
                 multiply<W>(subtract(middle, side), twiddles + 2 * (radix - k - 1)));
      }
    }
  }
}

template <class W>
void wide_stage(Complex out, Complex in, const FftStage& stage) {
  switch (stage.radix) {
    case 2:
      return fixed_stage<W, 2>(out, in, stage);
    case 3:
      return fixed_stage<W, 3>(out, in, stage);
    case 4:
      return fixed_stage<W, 4>(out, in, stage);
    case 5:
      return fixed_stage<W, 5>(out, in, stage);
    case 8:
      return fixed_stage<W, 8>(out, in, stage);
    default:
      return odd_stage<W>(out, in, stage);
  }
}

void run_stage(Complex out, Complex in, const FftStage& stage) {
  if (stage.stride % kWidest == 0) return wide_stage<Wide<kWidest>>(out, in, stage);
  if (stage.stride % 4 == 0) return wide_stage<Wide<4>>(out, in, stage);
  wide_stage<Wide<1>>(out, in, stage);
}

template <class W>
void wide_multiply(Complex out, Complex in, const float* factors, int64_t count, int64_t stride) {
  for (int64_t j = 0; j < count; j++) {
    for (int64_t q = j * stride; q < (j + 1) * stride; q += W::lanes) {
      store<W>(out, q, multiply<W>(load<W>(in, q), factors + 2 * j));
    }
  }
}

void multiply_all(Complex out, Complex in, const float* factors, int64_t count, int64_t stride) {
  if (stride % kWidest == 0) return wide_multiply<Wide<kWidest>>(out, in, factors, count, stride);
  wide_multiply<Wide<1>>(out, in, factors, count, stride);
}

template <class W>
DALIESQUE_INLINE void store_power(float* out, const Value<W>& value, bool magnitude) {
  typename W::Type power = value.re * value.re + value.im * value.im;
  if (magnitude) {
    if constexpr (W::lanes == 1) {
      power = std::sqrt(power);
    } else {
      for (int k = 0; k < W::lanes; k++) power[k] = std::sqrt(power[k]);
    }
  }
  W::store(out, power);
}

template <class W>
void wide_power(float* out, int64_t out_stride, Complex in, int64_t rows, int64_t lanes,
                bool magnitude) {
  for (int64_t k = 0; k < rows; k++) {
    for (int64_t q = 0; q < lanes; q += W::lanes) {
      store_power<W>(out + k * out_stride + q, load<W>(in, k * lanes + q), magnitude);
    }
  }
}

void power(float* out, int64_t out_stride, Complex in, int64_t rows, int64_t lanes,
           bool magnitude) {
  if (lanes % kWidest == 0) {
    return wide_power<Wide<kWidest>>(out, out_stride, in, rows, lanes, magnitude);
  }
  wide_power<Wide<1>>(out, out_stride, in, rows, lanes, magnitude);
}

template <class W>
void wide_split_power(float* out, int64_t out_stride, Complex in, const float* twiddles,
                      int64_t half, int64_t lanes, bool magnitude) {
  for (int64_t q = 0; q < lanes; q += W::lanes) {
    const Value<W> first = load<W>(in, q);
    const typename W::Type zero{};
    store_power<W>(out + q, {first.re + first.im, zero}, magnitude);
    store_power<W>(out + half * out_stride + q, {first.re - first.im, zero}, magnitude);
  }
  for (int64_t k = 1; k <= half / 2; k++) {
    const int64_t mirrored = half - k;
    for (int64_t q = 0; q < lanes; q += W::lanes) {
      const Value<W> a = load<W>(in, k * lanes + q), b = load<W>(in, mirrored * lanes + q);
      // The spectra of the even and of the odd numbers.
      const Value<W> even = scale<W>({a.re + b.re, a.im - b.im}, 0.5f);
      const Value<W> odd = scale<W>({a.im + b.im, b.re - a.re}, 0.5f);
      const Value<W> turned = multiply<W>(odd, twiddles + 2 * k);
      store_power<W>(out + k * out_stride + q, add(even, turned), magnitude);
      store_power<W>(out + mirrored * out_stride + q, subtract(even, turned), magnitude);
    }
  }
}

void split_power(float* out, int64_t out_stride, Complex in, const float* twiddles, int64_t half,
                 int64_t lanes, bool magnitude) {
  if (lanes % kWidest == 0) {
    return wide_split_power<Wide<kWidest>>(out, out_stride, in, twiddles, half, lanes, magnitude);
  }
  wide_split_power<Wide<1>>(out, out_stride, in, twiddles, half, lanes, magnitude);
}

void interleave(float* even, float* odd, const float* const* rows, const float* window,
                int64_t count) {
  float* targets[2] = {even, odd ? odd : even + kFftLanes};
  // Where both halves go into one array, each takes every second row of it.
  const int64_t step = odd ? kFftLanes : 2 * kFftLanes;
  int64_t j = 0;
#ifdef __AVX2__
  for (; j + 8 <= count; j += 8) {
    __m256 block[8];
    for (int lane = 0; lane < 8; lane++) {
      block[lane] = _mm256_loadu_ps(rows[lane] + j);
      if (window) block[lane] = _mm256_mul_ps(block[lane], _mm256_loadu_ps(window + j));
    }
    transpose(block);
    for (int k = 0; k < 8; k++) _mm256_storeu_ps(targets[k & 1] + (j + k) / 2 * step, block[k]);
  }
#endif
  for (; j < count; j++) {
    float* to = targets[j & 1] + j / 2 * step;
    for (int64_t lane = 0; lane < kFftLanes; lane++) {
      to[lane] = window ? rows[lane][j] * window[j] : rows[lane][j];
    }
  }
}

void separate(float* const* rows, const float* in, int64_t count, int64_t lanes) {
  int64_t j = 0;
#ifdef __AVX2__
  for (; j + 8 <= count; j += 8) {
    __m256 block[8];
    for (int k = 0; k < 8; k++) block[k] = _mm256_loadu_ps(in + (j + k) * 8);
    transpose(block);
    for (int64_t lane = 0; lane < lanes; lane++) _mm256_storeu_ps(rows[lane] + j, block[lane]);
  }
#endif
  for (; j < count; j++) {
    for (int64_t lane = 0; lane < lanes; lane++) rows[lane][j] = in[j * kFftLanes + lane];
  }
}

}  // namespace

const FftLoops fft_loops = {run_stage, multiply_all, power, split_power, interleave, separate};

}  // namespace daliesque::DALIESQUE_ISA
