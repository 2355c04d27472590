// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/per_sample.h"
#include "core/samples.h"
#include "random/philox.h"

namespace daliesque::random {

/// Fills `out`, one int32 for each sample, with the numbers of the samples in random order. With
/// repetitions, each is drawn independently; without fixed points, none is its own number (if there
/// is more than one).
void batch_permutation(Samples& out, const PhiloxState& state, bool repetitions,
                       bool no_fixed_points);

/// Fills `out` (int64, a vector for each sample) with the begin of a window of the shape `crop`
/// that lies in the region, or contains it. With an input shape it also lies in the input.
void roi_random_crop(Samples& out, const PhiloxState& state, const PerSample<int64_t>& crop,
                     const PerSample<int64_t>& roi_start, const PerSample<int64_t>& roi_shape,
                     const PerSample<int64_t>* input_shape);

}  // namespace daliesque::random
