// SPDX-License-Identifier: Apache-2.0
// Random numbers by the batch. All functions fill `out`; what they put there depends on the state,
// the arguments and the index of sample and element only, never on threads. Numbers that do not
// fit the output type are rounded and clamped.
#pragma once

#include "core/per_sample.h"
#include "core/samples.h"
#include "random/philox.h"

namespace daliesque::random {

/// Evenly distributed over [low, high); a row of `range` holds low and high, low < high. For an
/// integer output both are truncated to that type first, as a conversion on x86 does it.
/// Types: integers, float32, float64.
void uniform(Samples& out, const PhiloxState& state, const PerSample<float>& range);

/// One of the values of the sample's (float32, 1-D, not empty) array, each equally likely.
/// `values` holds one array for each sample, or one for all. Types: as for uniform.
void uniform_values(Samples& out, const PhiloxState& state, const Samples& values);

/// Normally distributed. Types: as for uniform. The last bit depends on the C library's log and
/// cos.
void normal(Samples& out, const PhiloxState& state, const PerSample<float>& mean,
            const PerSample<float>& stddev);

/// One with the given probability, else zero. Types: bool, uint8, int32.
void coin_flip(Samples& out, const PhiloxState& state, const PerSample<float>& probability);

/// Beta-distributed over [0, 1]; alpha and beta are positive and finite. Types: float32, float64.
/// The last bits depend on the C library's log, exp and pow.
void beta(Samples& out, const PhiloxState& state, const PerSample<float>& alpha,
          const PerSample<float>& beta);

/// Entries of the sample's array `from`, along its first axis (a 0-D integer n stands for 0, 1,
/// ..., n - 1). `weights`, if not null, holds the (float32, 1-D) probabilities of the entries, one
/// array for each sample or one for all; otherwise all are equally likely. `out` has the type of
/// `from`.
void choice(Samples& out, const PhiloxState& state, const Samples& from, const Samples* weights);

}  // namespace daliesque::random
