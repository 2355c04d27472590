// SPDX-License-Identifier: Apache-2.0
// Images of bytes whose rows move as a whole, by fractions of pixels: translations, and shears
// along rows. All pixels of a row have the same weights, so that no pixel is looked up on its own.
#pragma once

#include <cstdint>

#include "image/warp_loops.h"

namespace daliesque::image {

/// The pixel at x of row y comes from x + shift.x of row y + shift.y.
struct RowShift {
  float x, y;
};

/// Columns from the first to the one before the last.
struct RowColumns {
  int64_t begin, end;
};

/// Makes columns of the row `y` of a result with linear interpolation. `in` has bytes, and a border
/// that is constant or clamped. `buffer` has space for 2 * (n + 1) pixels, if there are n columns.
void shift_row(uint8_t* out, const WarpSurface& in, int64_t y, RowColumns columns, RowShift shift,
               uint8_t* buffer);

}  // namespace daliesque::image
