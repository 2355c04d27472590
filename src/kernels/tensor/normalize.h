// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/samples.h"

namespace daliesque::tensor {

/// What statistics run over.
struct NormalizeScope {
  std::vector<bool> reduced;  ///< for each axis: values along it are taken together
  bool batch;                 ///< all samples are taken together
};

/// The mean of each sample (or of the batch) as float32, reduced axes with extent 1.
Samples normalize_means(const Samples& in, const NormalizeScope& scope);

/// scale / sqrt(variance + epsilon) around the given means, which may have extents of 1 along axes
/// that are not reduced; 0 where the root is 0. The variance divides by the number of values less
/// `ddof`.
Samples normalize_factors(const Samples& in, const Samples& means, const NormalizeScope& scope,
                          int ddof, float epsilon, float scale);

/// scale / sqrt(deviation^2 + epsilon) for deviations in float32. Without an epsilon it is
/// scale / deviation, and 0 where that is 0.
Samples deviation_factors(const Samples& deviations, double epsilon, float scale);

/// out = (in - mean) * factor + shift. `means` and `factors` are float32, one sample each or one
/// for all, with the dimensions of `in` and extents that are 1 or those of the input.
void normalize(Samples& out, const Samples& in, const Samples& means, const Samples& factors,
               float shift);

struct NormalizeArgs {
  NormalizeScope scope;
  const Samples* means;    ///< null: to be computed
  const Samples* factors;  ///< null: to be computed
  int ddof;
  float epsilon, scale, shift;
};

/// Computes what is not given and normalizes.
void normalize(Samples& out, const Samples& in, const NormalizeArgs& args);

}  // namespace daliesque::tensor
