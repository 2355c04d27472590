// SPDX-License-Identifier: Apache-2.0
#include "audio/resample.h"

#include "audio/lanes.simd.h"

namespace daliesque::audio::DALIESQUE_ISA {

namespace {

using W = Wide<kWidest>;
constexpr int kVectors = 8 / W::lanes;
constexpr int kTogether = 4;
constexpr int64_t kMostTaps = 2 * 64;

DALIESQUE_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
DALIESQUE_INLINE int64_t larger(int64_t a, int64_t b) { return a < b ? b : a; }

/// One result: the samples around its position, the row of the window, and how far the position is
/// on the way to the next row.
struct InputRow {
  const float *in, *weights, *changes;
  float part;
};

/// Eight sums, whatever the width of vectors, that belong to one result.
struct Sums {
  typename W::Type parts[kVectors];
};

DALIESQUE_INLINE Sums weigh(const InputRow& tap, int64_t taps) {
  Sums sums = {};
  for (int64_t j = 0; j < taps; j += 8) {
    for (int v = 0; v < kVectors; v++) {
      const int64_t k = j + v * W::lanes;
      const auto weight = W::load(tap.weights + k) + W::load(tap.changes + k) * tap.part;
      sums.parts[v] += W::load(tap.in + k) * weight;
    }
  }
  return sums;
}

/// Adds up pairs of neighbors, then pairs of pairs, then both halves.
DALIESQUE_INLINE void add_up(float* out, const Sums (&sums)[kTogether]) {
#ifdef __AVX2__
  const __m256 first = _mm256_hadd_ps(sums[0].parts[0], sums[1].parts[0]);
  const __m256 second = _mm256_hadd_ps(sums[2].parts[0], sums[3].parts[0]);
  const __m256 both = _mm256_hadd_ps(first, second);
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(both), _mm256_extractf128_ps(both, 1)));
#else
  for (int k = 0; k < kTogether; k++) {
    const auto &a = sums[k].parts[0], &b = sums[k].parts[1];
    out[k] = ((a[0] + a[1]) + (a[2] + a[3])) + ((b[0] + b[1]) + (b[2] + b[3]));
  }
#endif
}

/// The number of taps at the usual quality, known to the compiler.
struct UsualTaps {
  constexpr operator int64_t() const { return 32; }
};

/// Finds the inputs of one result after the other. Where a row of the window reaches beyond the
/// signal, or is longer than what it applies to, the samples are copied, with zeros around them.
class Inputs {
 public:
  Inputs(const float* in, int64_t before, int64_t after, float first, float step,
         const ResampleWindow& window)
      : in_(in),
        weights_(window.weights.data()),
        changes_(window.changes.data()),
        before_(before),
        after_(after),
        lobes_(window.lobes),
        position_(first),
        step_(step) {}

  DALIESQUE_INLINE InputRow next(int64_t taps, float* copy) {
    const float next = __builtin_ceilf(position_);
    const float phase = (next - position_) * static_cast<float>(ResampleWindow::kPhases);
    position_ += step_;
    const auto row = static_cast<int32_t>(phase);
    const int64_t begin = static_cast<int64_t>(next) - lobes_, used = 2 * lobes_;
    const float* from = in_ + begin;
    if (begin < -before_ || begin + taps > after_ || taps != used) [[unlikely]] {
      const int64_t low = larger(0, -before_ - begin);
      const int64_t high = larger(low, smaller(used, after_ - begin));
      for (int64_t j = 0; j < taps; j++) copy[j] = j >= low && j < high ? from[j] : 0;
      from = copy;
    }
    return {from, weights_ + row * taps, changes_ + row * taps, phase - static_cast<float>(row)};
  }

 private:
  const float *in_, *weights_, *changes_;
  int64_t before_, after_, lobes_;
  float position_, step_;
};

template <class Taps>
DALIESQUE_INLINE void resample_all(float* out, int64_t count, Inputs inputs, Taps taps) {
  alignas(32) float copy[kMostTaps];
  for (int64_t done = 0; done < count; done += kTogether) {
    const int64_t here = smaller(kTogether, count - done);
    Sums sums[kTogether];
#pragma GCC unroll 4
    for (int k = 0; k < kTogether; k++) sums[k] = weigh(inputs.next(taps, copy), taps);
    if (here == kTogether) {
      add_up(out + done, sums);
    } else {
      float results[kTogether];
      add_up(results, sums);
      for (int64_t k = 0; k < here; k++) out[done + k] = results[k];
    }
  }
}

void resample(float* out, int64_t count, const float* in, int64_t before, int64_t after,
              float first, float step, const ResampleWindow& window) {
  const Inputs inputs(in, before, after, first, step, window);
  if (window.taps == UsualTaps()) {
    resample_all(out, count, inputs, UsualTaps());
  } else {
    resample_all(out, count, inputs, window.taps);
  }
}

}  // namespace

const ResampleLoops resample_loops = {resample};

}  // namespace daliesque::audio::DALIESQUE_ISA
