// SPDX-License-Identifier: Apache-2.0
// Weighted sums of samples, and samples that show through masks.
#pragma once

#include <vector>

#include "core/per_sample.h"
#include "core/samples.h"

namespace daliesque::image {

/// out = sum of weights[k] * inputs[k], rounded and clamped. All have the same shapes; a row of
/// `weights` has a value for each input.
void mix(Samples& out, const std::vector<const Samples*>& inputs, PerSample<float> weights);

/// Pixels (HWC) of `over` where `mask` (HW, uint8) is not 0, otherwise those of `in`.
void overlay(Samples& out, const Samples& in, const Samples& over, const Samples& mask);

}  // namespace daliesque::image
