// SPDX-License-Identifier: Apache-2.0
// The inner loops behind frame_fft.h, one set for each instruction set.
#pragma once

#include <cstdint>

#include "audio/fft_loops.h"

namespace daliesque::audio {

/// `count` numbers of each of kFftLanes signals, times `window` unless that is null; zeros follow.
struct FrameInput {
  const float* const* rows;
  const float* window;
  int64_t count;
};

/// Memory that is needed soon: `count` lines of the cache, `step` floats apart.
struct FrameAhead {
  const float* first = nullptr;
  int64_t step = 0, count = 0;
};

/// A pass through the whole work space: `radix` elements, `span` apart, are transformed in place;
/// the results but the first are multiplied by (radix - 1) `twiddles` for each of `span` positions.
struct FramePass {
  int64_t radix, span;
  const float* twiddles;
};

/// Transforms of 2 * half real numbers as half complex ones: a first pass of radix 4, which reads
/// the input, those in `middle`, and a last one of radix 4, which writes the result.
struct FramePlan {
  int64_t half;
  FramePass first;
  const FramePass* middle;
  int64_t middle_count;
  /// Where the last pass finds the elements of frequencies k + m * half / 4.
  const int32_t* order;
  /// For each frequency, half the factor that puts the spectra of even and odd numbers together.
  const float* split;
};

/// Squared magnitudes, or magnitudes, of the spectra: half + 1 rows of kFftLanes values,
/// `out_stride` apart. `work` holds 2 * half * kFftLanes floats.
using FramePower = void(float* out, int64_t out_stride, float* work, const FrameInput& in,
                        const FramePlan& plan, const FrameAhead (&ahead)[2], bool magnitude);

namespace portable {
FramePower frame_power;
}
namespace avx2 {
FramePower frame_power;
}

}  // namespace daliesque::audio
