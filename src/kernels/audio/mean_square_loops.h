// SPDX-License-Identifier: Apache-2.0
// Moving mean squares.
#pragma once

#include <cstdint>

namespace daliesque::audio {

/// Sums that run side by side, each through a part of a signal of its own: one alone would wait for
/// its last addition.
constexpr int64_t kMeanSquareChains = 8;

struct MeanSquareLoops {
  /// Goes on with the sums of kMeanSquareChains windows over `count` positions: adds the squares of
  /// entering[t * 8 + chain], writes the sums times `factor`, subtracts those of leaving[...].
  void (*advance)(float* out, float* sums, const float* entering, const float* leaving,
                  int64_t count, float factor);
};

namespace portable {
extern const MeanSquareLoops mean_square_loops;
}
namespace avx2 {
extern const MeanSquareLoops mean_square_loops;
}

}  // namespace daliesque::audio
