// SPDX-License-Identifier: Apache-2.0
// Windows of random area and aspect ratio, as for training classifiers. The draws are those of the
// reference.
#pragma once

#include <cstdint>

#include "core/crop_window.h"
#include "random/philox.h"

namespace daliesque::image {

/// What windows are drawn from.
struct RandomCropArgs {
  float min_aspect, max_aspect;  ///< width / height
  float min_area, max_area;      ///< fractions of the image's area
  int attempts;                  ///< draws before a window as large as fits is taken
};

/// Where the draws of sample `index` begin. The key differs from that of the operator's other
/// draws.
random::PhiloxState random_crop_state(const random::PhiloxState& state, int64_t index);

/// Draws a window inside an image of at least one pixel. The last bit of the logarithm and the
/// exponential of the C library may decide about a pixel.
CropWindow random_crop(random::Philox& generator, int64_t height, int64_t width,
                       const RandomCropArgs& args);

}  // namespace daliesque::image
