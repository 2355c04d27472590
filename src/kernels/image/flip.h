// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/per_sample.h"
#include "core/samples.h"

namespace daliesque::image {

/// An axis to mirror, with a flag for each sample.
struct FlipAxis {
  int axis;
  PerSample<int32_t> flags;
};

/// Mirrors each sample of `in` along the axes whose flag is not zero.
void flip(Samples& out, const Samples& in, const std::vector<FlipAxis>& axes);

}  // namespace daliesque::image
