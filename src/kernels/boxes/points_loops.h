// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace daliesque::boxes {

/// out[k] = matrix * in[k] + translation, for vectors one after the other. `out` and `in` do not
/// overlap. Products are added from left to right.
using PointsLoop = void (*)(float* out, const float* in, int64_t points, const float* matrix,
                            const float* translation);

namespace portable {
/// The loop for matrices of 1 to 6 rows and columns; null for others.
PointsLoop find_points_loop(int64_t rows, int64_t columns);
}  // namespace portable
namespace avx2 {
PointsLoop find_points_loop(int64_t rows, int64_t columns);
}

}  // namespace daliesque::boxes
