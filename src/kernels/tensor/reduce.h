// SPDX-License-Identifier: Apache-2.0
// Sums, means, extremes and deviations along axes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/samples.h"

namespace daliesque::tensor {

enum class Reduction : int32_t {
  sum = 0,
  mean = 1,
  mean_square = 2,
  rms = 3,
  variance = 4,
  std_dev = 5,
  min = 6,
  max = 7,
};

struct ReduceAxes {
  std::vector<bool> reduced;  ///< one flag for each axis
  bool keep_dims;             ///< reduced axes stay, with an extent of 1
};

/// Uninitialized samples with the shapes that a reduction of `in` gives.
Samples reduced_like(const Samples& in, DType dtype, const ReduceAxes& axes, std::string layout);

/// Reduces `in` to `out`, made by reduced_like(). A mean is the sum times the float nearest to one
/// over (number of values - ddof), in float. Integer results of means are cut off, those of sums
/// wrap around; 64-bit sums apart, nothing overflows on the way. Floats are added four at a time,
/// the sums of four in double. NaN never is an extreme. `means`, for variance and std_dev only,
/// holds as many float values as `out`.
void reduce(Samples& out, const Samples& in, Reduction kind, const ReduceAxes& axes,
            const Samples* means, int64_t ddof);

}  // namespace daliesque::tensor
