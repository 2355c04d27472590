// SPDX-License-Identifier: Apache-2.0
// Operations on signals in the time domain.
#pragma once

#include <cstdint>

#include "core/per_sample.h"
#include "core/samples.h"

namespace daliesque::audio {

/// What stands before the first value of a signal.
enum class SignalStart : int32_t { zero = 0, clamp = 1, reflect = 2 };

/// out[t] = in[t] - coefficient * in[t - 1], over all values of a sample; computed in single
/// precision, or in double for float64.
void preemphasis_filter(Samples& out, const Samples& in, PerSample<float> coefficient,
                        SignalStart start);

struct NonsilentArgs {
  float cutoff_db;
  float reference_power;  ///< 0: the largest power of the signal
  int64_t window_length;
  int64_t reset_interval;  ///< -1: never
};

/// Finds where each signal is louder than the cutoff; `begin` and `length` are int32 numbers.
void nonsilent_region(Samples& begin, Samples& length, const Samples& in,
                      const NonsilentArgs& args);

}  // namespace daliesque::audio
