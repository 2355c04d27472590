// SPDX-License-Identifier: Apache-2.0
// Windows of samples: the kernel of slice, crop and pad.
#pragma once

#include <cstdint>
#include <vector>

#include "core/border.h"
#include "core/per_sample.h"
#include "core/samples.h"

namespace daliesque::tensor {

/// Sample i of `out` becomes the window of sample i of `in` that begins at anchors.row(i) and has
/// the shape of the output sample; it may leave the input. Element types may differ if the output
/// is uint8, float16 or float32: numbers are clamped and their fraction is cut off.
/// A row of `fill` holds one value, or one for each index of `channel_axis`.
void slice(Samples& out, const Samples& in, const PerSample<int64_t>& anchors, Border border,
           const PerSample<float>& fill, int channel_axis);

/// Converts a fill value as the reference does: integers wrap around.
void store_fill(void* out, DType type, float value);

}  // namespace daliesque::tensor
