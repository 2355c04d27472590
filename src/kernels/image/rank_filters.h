// SPDX-License-Identifier: Apache-2.0
// Filters that pick one of the values under a window: the largest, the smallest, the median.
#pragma once

#include "core/border.h"
#include "core/per_sample.h"
#include "core/samples.h"
#include "image/filters.h"

namespace daliesque::image {

enum class Rank : int { smallest, median, largest };

/// The window slides over two axes. Sizes and anchors (the element that lies over the pixel) are
/// pairs of width, height. A constant border never counts.
struct RankFilter {
  Rank rank;
  PerSample<int32_t> window, anchor;
  Border border;
};

void rank_filter(Samples& out, const Samples& in, FilterAxes axes, const RankFilter& arguments);

}  // namespace daliesque::image
