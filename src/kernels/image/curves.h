// SPDX-License-Identifier: Apache-2.0
// Values replaced by functions of themselves: inversion, solarization, posterization, gamma and
// similar ones. Arithmetic is in float, each step rounded, and results are rounded and clamped.
#pragma once

#include <cstdint>
#include <vector>

#include "core/per_sample.h"
#include "core/samples.h"
#include "image/byte_statistics.h"
#include "tensor/lookup.h"

namespace daliesque::image {

/// Functions of a value, where `range` is the highest value of an integer type, or 1:
enum class Curve : int {
  invert,     // range - value
  solarize,   // value below a threshold, otherwise range - value
  add_below,  // value + b below the threshold a, otherwise value
  posterize,  // value without all but its a highest bits
  gamma,      // range * b * (value / range) ^ a, within 0 and range
  shift,      // value + a
  stretch,    // (value - a) * b
  contrast,   // a + (value - a) * b
};

/// out = curve(in), with two parameters, a and b, for each sample or each of its channels: a row of
/// `parameters` has 2 values or 2 for each channel. `outer` is 1 if channels come first, else 0.
void apply_curve(Samples& out, const Samples& in, Curve curve, PerSample<float> parameters,
                 int outer);

/// Stretches the values of each channel over the whole range.
void autocontrast(Samples& out, const Samples& in, int outer);

/// Contrast about the mean luminance of each image (HWC or HW): a + (value - a) * factor.
void mean_contrast(Samples& out, const Samples& in, PerSample<float> factor);

// What these do to the bytes of an image.
tensor::ByteTable curve_table(Curve curve, const float* parameters);
tensor::ByteTable autocontrast_table(ByteRange range);
/// `sums` are those of the bytes of each channel.
tensor::ByteTable mean_contrast_table(const std::vector<int64_t>& sums, int64_t pixels,
                                      float factor);

}  // namespace daliesque::image
