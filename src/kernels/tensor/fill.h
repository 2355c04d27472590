// SPDX-License-Identifier: Apache-2.0
// Arrays of constants.
#pragma once

#include "core/samples.h"

namespace daliesque::tensor {

/// Broadcasts sample i of `values` (or the only one) to sample i of `out`, as NumPy does. Types
/// agree.
void fill(Samples& out, const Samples& values);

/// Along `axis` of `out`, whose other axes have the elements of `in`, the index whose number is the
/// value of the input (its fraction cut off) gets the first element of `values`, all others the
/// second.
void one_hot(Samples& out, const Samples& in, int axis, const Samples& values);

}  // namespace daliesque::tensor
