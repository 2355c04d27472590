// SPDX-License-Identifier: Apache-2.0
// Pictures of segmentations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/samples.h"

namespace daliesque::records {

/// An outline or runs of pixels that get a label.
struct CocoMask {
  int32_t label = 0;
  std::span<const float> vertices;  ///< pairs of x and y
  std::span<const uint32_t> runs;   ///< used if there are no vertices
};

/// Paints masks into sample i of `out` (int32, height x width x 1); others are 0. Of masks that
/// overlap, the one with the highest label wins. If `relative`, vertices are shares of the size.
///
/// Which pixels an outline covers is defined by the functions that come with the COCO data set:
/// the outline is drawn five times larger, and its pixels in the middle of columns are the ends of
/// runs down the columns.
void paint_masks(Samples& out, const std::vector<std::vector<CocoMask>>& masks, bool relative);

}  // namespace daliesque::records
