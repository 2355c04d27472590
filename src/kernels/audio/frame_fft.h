// SPDX-License-Identifier: Apache-2.0
// Fast Fourier transforms of short windows of signals.
#pragma once

#include <cstdint>
#include <vector>

#include "audio/frame_loops.h"

namespace daliesque::audio {

/// Spectra of kFftLanes real signals at once whose length is a power of two. The transform is done
/// in place, so that it fits into the fastest cache, and leaves results in a scrambled order; the
/// pass that converts them to magnitudes reorders them.
class FrameFft {
 public:
  /// Whether there are transforms of this length.
  static bool takes(int64_t length);

  explicit FrameFft(int64_t length);

  int64_t bins() const { return half_ + 1; }
  int64_t work_size() const { return 2 * half_ * kFftLanes; }
  /// Writes bins() rows of kFftLanes values, `out_stride` apart, and meanwhile fetches what is
  /// needed next.
  void power(float* out, int64_t out_stride, float* work, const FrameInput& in,
             const FrameAhead (&ahead)[2], bool magnitude) const;

 private:
  struct Pass {
    int64_t radix, span;
    std::vector<float> twiddles;
  };

  int64_t half_;
  std::vector<Pass> passes_;
  std::vector<int32_t> order_;
  std::vector<float> split_;
};

}  // namespace daliesque::audio
