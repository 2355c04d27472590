// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/per_sample.h"
#include "core/samples.h"

namespace daliesque::boxes {

/// Multiplies the vectors along the innermost axis of `in` with the sample's matrix (rows by rows)
/// and adds its translation, in float, from left to right. `out` has the same type or float32, and
/// as many components as the matrix has rows; integers are rounded and clamped.
void transform_points(Samples& out, const Samples& in, const PerSample<float>& matrix,
                      const PerSample<float>& translation);

}  // namespace daliesque::boxes
