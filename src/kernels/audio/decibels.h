// SPDX-License-Identifier: Apache-2.0
// Logarithms of ratios.
#pragma once

#include <cstdint>

#include "core/samples.h"

namespace daliesque::audio {

/// out = multiplier * log10(max(min_ratio, in / reference)) for float32 samples; a `reference` of 0
/// stands for the largest value of each sample.
void to_decibels(Samples& out, const Samples& in, float multiplier, float reference,
                 float min_ratio);

/// The largest of the values and 0; NaN is ignored.
float largest_value(const float* in, int64_t count);

struct DecibelLoops {
  /// out = multiplier * log2(max(least, in * scale))
  void (*convert)(float* out, const float* in, int64_t count, float scale, float least,
                  float multiplier);
  /// See largest_value.
  float (*largest)(const float* in, int64_t count);
};

namespace portable {
extern const DecibelLoops decibel_loops;
}
namespace avx2 {
extern const DecibelLoops decibel_loops;
}

}  // namespace daliesque::audio
