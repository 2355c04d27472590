// SPDX-License-Identifier: Apache-2.0
#include "audio/lanes.simd.h"
#include "audio/mean_square_loops.h"

namespace daliesque::audio::DALIESQUE_ISA {

namespace {

void advance(float* out, float* sums, const float* entering, const float* leaving, int64_t count,
             float factor) {
  using W = Wide<kWidest>;
  for (int64_t lane = 0; lane < kMeanSquareChains; lane += W::lanes) {
    auto sum = W::load(sums + lane);
    for (int64_t t = lane; t < count * kMeanSquareChains; t += kMeanSquareChains) {
      const auto in = W::load(entering + t), gone = W::load(leaving + t);
      sum += in * in;
      W::store(out + t, sum * factor);
      sum -= gone * gone;
    }
    W::store(sums + lane, sum);
  }
}

}  // namespace

const MeanSquareLoops mean_square_loops = {advance};

}  // namespace daliesque::audio::DALIESQUE_ISA
