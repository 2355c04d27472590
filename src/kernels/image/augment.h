// SPDX-License-Identifier: Apache-2.0
// Images that each go through steps of their own, one image after the other: what a step leaves is
// still in the cache when the next one reads it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/border.h"
#include "core/per_sample.h"
#include "core/samples.h"
#include "image/warp.h"

namespace daliesque::image {

/// What a step does. `a` and `b` are its parameters.
enum class Augmentation : int32_t {
  none,
  move,        // by the matrix of the step
  brightness,  // value * a
  contrast,    // mean_contrast() with the factor a
  color,       // color_twist() with the saturation a; gray images stay as they are
  sharpness,   // more, or for a negative a less, of what a smoothing window takes away
  posterize,   // apply_curve() with a and b, as the three that follow
  solarize,
  add_below,
  invert,
  equalize,
  autocontrast,
};

constexpr int32_t kAugmentations = static_cast<int32_t>(Augmentation::autocontrast) + 1;

/// The steps of all samples. Rows have an entry for each step: an Augmentation, two parameters and
/// the six values of a matrix that leads from the result to the input.
struct AugmentPlan {
  int64_t steps;
  PerSample<int32_t> kinds;
  PerSample<float> parameters, matrices;
  WarpOptions moves;
};

/// `in` holds bytes (HWC, of one or three channels), `out` has the same shapes.
void augment(Samples& out, const Samples& in, const AugmentPlan& plan);

}  // namespace daliesque::image
