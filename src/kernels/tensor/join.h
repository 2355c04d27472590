// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/samples.h"

namespace daliesque::tensor {

/// Sample i of the result holds the samples i of all parts, one after the other along `axis`. The
/// parts agree in type, in the number of samples and in all extents but those of `axis`.
Samples concatenate(const std::vector<const Samples*>& parts, int axis, std::string layout);

}  // namespace daliesque::tensor
