// SPDX-License-Identifier: Apache-2.0
// The inner loops behind fft.h, one set for each instruction set.
#pragma once

#include <cstdint>

namespace daliesque::audio {

/// Complex numbers in two arrays.
struct Complex {
  float *re, *im;
};

/// One stage of a transform: `radix` inputs, `groups` * `stride` elements apart, become as many
/// outputs, `stride` apart. `twiddles` holds (radix - 1) factors for each group, real and imaginary
/// parts alternating; `roots` the cosines and sines of multiples of 2 pi / radix.
struct FftStage {
  int64_t radix, groups, stride;
  const float* twiddles;
  const float* roots;
};

/// The largest radix that loops have; longer prime factors need another way.
constexpr int64_t kMaxRadix = 31;
/// Signals that are transformed side by side.
constexpr int64_t kFftLanes = 8;

struct FftLoops {
  void (*stage)(Complex out, Complex in, const FftStage& stage);
  /// out[j * stride + q] = in[j * stride + q] * factors[j], for `count` factors.
  void (*multiply)(Complex out, Complex in, const float* factors, int64_t count, int64_t stride);
  /// Squared magnitudes (or magnitudes) of `count` complex numbers; `rows` of `lanes` each, those
  /// of `out` being `out_stride` apart.
  void (*power)(float* out, int64_t out_stride, Complex in, int64_t rows, int64_t lanes,
                bool magnitude);
  /// The same for the spectrum of 2 * half real numbers, of which those with even numbers were
  /// transformed as real and the others as imaginary parts. `half` + 1 rows.
  void (*split_power)(float* out, int64_t out_stride, Complex in, const float* twiddles,
                      int64_t half, int64_t lanes, bool magnitude);
  /// out[j * 8 + lane] = rows[lane][j] * window[j] (or without window, if null), alternately into
  /// `even` and `odd` (or all into `even`, if `odd` is null).
  void (*interleave)(float* even, float* odd, const float* const* rows, const float* window,
                     int64_t count);
  /// rows[lane][j] = in[j * 8 + lane] for the first `lanes` rows.
  void (*separate)(float* const* rows, const float* in, int64_t count, int64_t lanes);
};

namespace portable {
extern const FftLoops fft_loops;
}
namespace avx2 {
extern const FftLoops fft_loops;
}

/// The loops for this processor.
const FftLoops& fft_loops();

}  // namespace daliesque::audio
