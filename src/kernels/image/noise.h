// SPDX-License-Identifier: Apache-2.0
// Noise on images. As in random.h, results depend on the state, the arguments and the index of
// sample and element only. Types: integers and float32.
#pragma once

#include <optional>

#include "core/per_sample.h"
#include "core/samples.h"
#include "random/philox.h"

namespace daliesque::image {

/// Adds normally distributed numbers; results are rounded and clamped.
void gaussian_noise(Samples& out, const Samples& in, const random::PhiloxState& state,
                    const PerSample<float>& mean, const PerSample<float>& stddev);

struct SaltAndPepper {
  PerSample<float> probability, salt_vs_pepper;
  /// By default the ends of the range of an integer type, or 1 and -1.
  std::optional<PerSample<float>> salt, pepper;
  /// Elements along this axis (the first or the last) are replaced together; -1 if there is none.
  int channel_axis;
};

/// Replaces elements by salt or pepper.
void salt_and_pepper_noise(Samples& out, const Samples& in, const random::PhiloxState& state,
                           const SaltAndPepper& arguments);

/// Replaces v by factor * k, with k from the Poisson distribution of mean v / factor. Throws
/// std::invalid_argument if a mean is too large to draw from.
void shot_noise(Samples& out, const Samples& in, const random::PhiloxState& state,
                const PerSample<float>& factor);

}  // namespace daliesque::image
