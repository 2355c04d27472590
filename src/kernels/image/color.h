// SPDX-License-Identifier: Apache-2.0
// Brightness, contrast, hue, saturation and color spaces of interleaved images. All arithmetic is
// in float, each step rounded, in the reference's order, so that results are equal to it.
#pragma once

#include <optional>

#include "core/per_sample.h"
#include "core/samples.h"

namespace daliesque::image {

/// What brightness and contrast do to a value:
/// shift * range + brightness * (center + contrast * (value - center)), where `range` is the
/// highest value of an integer output type, or 1. No `center` stands for the middle of the
/// input type's positive range.
struct BrightnessContrast {
  PerSample<float> brightness, shift, contrast;
  std::optional<PerSample<float>> center;
};

void brightness_contrast(Samples& out, const Samples& in, const BrightnessContrast& arguments);

/// Changes of color: hue in degrees, the others as factors.
struct ColorTwist {
  PerSample<float> hue, saturation, value, brightness, contrast;
};

/// Applies all changes as one linear map of RGB; the last axis has three channels.
void color_twist(Samples& out, const Samples& in, const ColorTwist& arguments);

/// The numbers of the reference's DALIImageType.
enum class ColorSpace : int { rgb = 0, bgr = 1, gray = 2, ycbcr = 3 };

constexpr int64_t channels(ColorSpace space) { return space == ColorSpace::gray ? 1 : 3; }

/// Converts uint8 pixels; the last axis holds the channels of the respective space.
void convert_color_space(Samples& out, const Samples& in, ColorSpace to, ColorSpace from);

}  // namespace daliesque::image
