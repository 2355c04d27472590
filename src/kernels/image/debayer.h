// SPDX-License-Identifier: Apache-2.0
// Images from sensors that see one color per pixel. Results are those of OpenCV, which the
// reference uses.
#pragma once

#include "core/per_sample.h"
#include "core/samples.h"

namespace daliesque::image {

enum class Demosaic : int { bilinear, edge_aware, variable_gradients, gray };

/// Samples have one channel (rows and columns are the first two axes) of uint8 or uint16; `out` has
/// three (red, green, blue), or one for gray. A row of `blue_position` holds the row and column of
/// the blue pixel in the tile of four that begins in the second row and column.
void debayer(Samples& out, const Samples& in, const PerSample<int32_t>& blue_position,
             Demosaic algorithm);

}  // namespace daliesque::image
