// SPDX-License-Identifier: Apache-2.0
// Resampling of signals by a windowed sinc, with the reference's positions and weights.
#pragma once

#include <cstdint>
#include <vector>

#include "core/samples.h"

namespace daliesque::audio {

/// Weights at 33 positions from one sample to the next, and how they change between them. Row p
/// holds the weights of 2 * lobes samples for a result that lies p / 32 before the middle ones.
struct ResampleWindow {
  explicit ResampleWindow(int lobes);

  static constexpr int64_t kPhases = 32;
  int64_t lobes;
  int64_t taps;  ///< The length of a row: 2 * lobes, rounded up to whole vectors with zeros.
  std::vector<float> weights, changes;
};

/// Resamples the first axis of each sample; a second one holds channels. `steps[i]` is the distance
/// of results in input samples. Types are normalized: integers stand for -1 to 1, unsigned ones
/// with their middle for 0. `in` and `out` may be int8 to uint32 and float32.
void audio_resample(Samples& out, const Samples& in, const double* steps, int lobes);

/// out[j] = mean of in[j * channels ...].
void downmix(float* out, const float* in, int64_t count, int64_t channels);

struct ResampleLoops {
  /// Results at positions first, first + step, ... (sums in single precision) of a signal that has
  /// values from in[-before] to in[after - 1] and zeros around them.
  void (*resample)(float* out, int64_t count, const float* in, int64_t before, int64_t after,
                   float first, float step, const ResampleWindow& window);
};

namespace portable {
extern const ResampleLoops resample_loops;
}
namespace avx2 {
extern const ResampleLoops resample_loops;
}

}  // namespace daliesque::audio
