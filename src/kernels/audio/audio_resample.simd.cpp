// SPDX-License-Identifier: Apache-2.0
#include "audio_resample.h"

#include <algorithm>
#include <cmath>

#include "lanes.simd.h"

namespace daliesque::DALIESQUE_ISA {

namespace {

using W = Wide<kWidest>;
constexpr int kVectors = 8 / W::lanes;

/// The weighted sum around one position; `weights` and `changes` are rows of the window, `part` how
/// far the position is on the way to the next row. Eight sums whatever the width of vectors.
DALIESQUE_INLINE float weigh(const float* in, const float* weights, const float* changes,
                             float part, int64_t taps) {
  typename W::Type sums[kVectors] = {};
  for (int64_t j = 0; j < taps; j += 8) {
    for (int v = 0; v < kVectors; v++) {
      const int64_t k = j + v * W::lanes;
      const auto weight = W::load(weights + k) + W::load(changes + k) * part;
      sums[v] += W::load(in + k) * weight;
    }
  }
#ifdef __AVX2__
  const __m128 half =
      _mm_add_ps(_mm256_castps256_ps128(sums[0]), _mm256_extractf128_ps(sums[0], 1));
#else
  const auto half = sums[0] + sums[1];
#endif
  return (half[0] + half[2]) + (half[1] + half[3]);
}

void resample(float* out, int64_t count, const float* in, int64_t before, int64_t after,
              float first, float step, const ResampleWindow& window) {
  const int64_t taps = window.taps, used = 2 * window.lobes;
  const float* weights = window.weights.data();
  const float* changes = window.changes.data();
  constexpr int64_t kMostTaps = 2 * 64;
  alignas(32) float copy[kMostTaps];
  float position = first;
  for (int64_t k = 0; k < count; k++, position += step) {
    const float next = std::ceil(position);
    const float phase = (next - position) * static_cast<float>(ResampleWindow::kPhases);
    const auto row = static_cast<int64_t>(phase);
    const float part = phase - static_cast<float>(row);
    const int64_t begin = static_cast<int64_t>(next) - window.lobes;
    const float* from = in + begin;
    if (begin < -before || begin + taps > after || taps != used) {
      // A row of the window is longer than what it applies to, or reaches beyond the signal.
      const int64_t low = std::max<int64_t>(0, -before - begin);
      const int64_t high = std::max(low, std::min(used, after - begin));
      for (int64_t j = 0; j < taps; j++) copy[j] = j >= low && j < high ? from[j] : 0;
      from = copy;
    }
    out[k] = weigh(from, weights + row * taps, changes + row * taps, part, taps);
  }
}

}  // namespace

const ResampleLoops resample_loops = {resample};

}  // namespace daliesque::DALIESQUE_ISA
