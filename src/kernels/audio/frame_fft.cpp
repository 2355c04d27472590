// SPDX-License-Identifier: Apache-2.0
#include "audio/frame_fft.h"

#include <bit>

#include "audio/roots.h"
#include "core/simd.h"

namespace daliesque::audio {

namespace {

// Shorter transforms are too short for three passes; longer ones are not faster this way.
constexpr int64_t kShortest = 128, kLongest = 4096;
constexpr int64_t kMostPasses = 8;

/// Fours, and where these do not suffice an eight; that goes near the end, where elements that are
/// transformed together are neighbors.
std::vector<int64_t> radices_of(int64_t half) {
  std::vector<int64_t> radices;
  const int twos = std::countr_zero(static_cast<uint64_t>(half));
  const int eights = twos % 2;
  for (int k = 0; k < (twos - 3 * eights) / 2; k++) radices.push_back(4);
  if (eights) radices.insert(radices.end() - 1, 8);
  return radices;
}

}  // namespace

bool FrameFft::takes(int64_t length) {
  return length >= kShortest && length <= kLongest &&
         std::has_single_bit(static_cast<uint64_t>(length));
}

FrameFft::FrameFft(int64_t length) : half_(length / 2) {
  int64_t span = half_;
  order_ = {0};
  for (const int64_t radix : radices_of(half_)) {
    Pass pass{radix, span / radix, {}};
    for (int64_t j = 0; j < pass.span; j++) {
      for (int64_t k = 1; k < radix; k++) {
        const auto [re, im] = root_of_unity(j * k, span);
        pass.twiddles.insert(pass.twiddles.end(), {re, im});
      }
    }
    span = pass.span;
    passes_.push_back(std::move(pass));
    if (span == 1) break;
    // Result k of a pass has the frequencies whose remainder is k.
    const size_t known = order_.size();
    for (int64_t k = 1; k < radix; k++) {
      for (size_t i = 0; i < known; i++) {
        order_.push_back(order_[i] + static_cast<int32_t>(k * span));
      }
    }
  }
  for (int64_t k = 0; k < half_; k++) {
    const auto [re, im] = root_of_unity(k, length);
    split_.insert(split_.end(), {0.5f * re, 0.5f * im});
  }
}

void FrameFft::power(float* out, int64_t out_stride, float* work, const FrameInput& in,
                     const FrameAhead (&ahead)[2], bool magnitude) const {
  FramePass passes[kMostPasses];
  for (size_t p = 0; p < passes_.size(); p++) {
    passes[p] = {passes_[p].radix, passes_[p].span, passes_[p].twiddles.data()};
  }
  const FramePlan plan{half_,         passes[0],
                       passes + 1,    static_cast<int64_t>(passes_.size()) - 2,
                       order_.data(), split_.data()};
  DALIESQUE_CHOOSE(frame_power(out, out_stride, work, in, plan, ahead, magnitude));
}

}  // namespace daliesque::audio
