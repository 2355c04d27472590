// SPDX-License-Identifier: Apache-2.0
#include "audio/butterflies.simd.h"
#include "audio/fft_loops.h"
#include "audio/lanes.simd.h"

namespace daliesque::audio::DALIESQUE_ISA {

namespace {

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
        side = times_minus_i(side);
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
  const typename W::Type power = value.re * value.re + value.im * value.im;
  W::store(out, magnitude ? square_root<W>(power) : power);
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
      const Value<W> rotated = multiply<W>(odd, twiddles + 2 * k);
      store_power<W>(out + k * out_stride + q, add(even, rotated), magnitude);
      store_power<W>(out + mirrored * out_stride + q, subtract(even, rotated), magnitude);
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

}  // namespace daliesque::audio::DALIESQUE_ISA
