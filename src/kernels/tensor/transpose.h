// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/samples.h"

namespace daliesque::tensor {

/// Reorders the axes of each sample: axis k of `out` is axis permutation[k] of `in`.
void transpose(Samples& out, const Samples& in, const std::vector<int>& permutation);

}  // namespace daliesque::tensor
