// SPDX-License-Identifier: Apache-2.0
// Operators that look at how often values occur. Results are those of OpenCV, which the reference
// uses.
#pragma once

#include "core/samples.h"
#include "image/byte_statistics.h"
#include "tensor/lookup.h"

namespace daliesque::image {

/// Spreads the values of each plane over the whole range. Samples are bytes: `outer` leading axes
/// count images, two more are rows and columns, and what follows are channels.
void equalize(Samples& out, const Samples& in, int outer);

/// What equalize() does to the bytes of a channel: maps the lowest to 0 and the highest to 255, and
/// others by how many are below.
tensor::ByteTable equalizing_table(const ByteCounts& counts, int64_t pixels);

/// Contrast-limited adaptive equalization of images of one or three channels.
struct Clahe {
  int tiles_x, tiles_y;
  float clip_limit;
  /// Colors: only change the lightness (L of CIE Lab), otherwise each channel by itself.
  bool luma_only;
};

void clahe(Samples& out, const Samples& in, const Clahe& arguments);

}  // namespace daliesque::image
