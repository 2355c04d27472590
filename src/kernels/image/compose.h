// SPDX-License-Identifier: Apache-2.0
// Operators that put things over images: erased regions, grids and pasted images.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/per_sample.h"
#include "core/samples.h"

namespace daliesque::image {

/// Regions of sample i are those from offsets[i] to offsets[i + 1]; each has ndim begins and ndim
/// ends, within the sample.
struct Regions {
  std::span<const int64_t> offsets;
  const int64_t* bounds;
};

/// Copies `in` with regions filled. `fill` holds a value for everything or, along `channel_axis`,
/// one for each index.
void erase(Samples& out, const Samples& in, const Regions& regions, PerSample<float> fill,
           int channel_axis);

/// A grid of squares: `ratio` of each tile along both axes is black.
struct Grid {
  PerSample<int32_t> tile;
  PerSample<float> ratio, angle, shift_x, shift_y;
};

/// Copies images (HWC) with the squares of a grid set to zero.
void grid_mask(Samples& out, const Samples& in, const Grid& grid);

/// A part of a sample of an input and its position in a sample of the output.
struct Patch {
  int64_t input, sample, from_y, from_x, height, width, to_y, to_x;
};

/// Pastes parts of images (HWC) onto black ones; patches of sample i are those from offsets[i] to
/// offsets[i + 1], in that order.
void multi_paste(Samples& out, const std::vector<const Samples*>& inputs,
                 std::span<const int64_t> offsets, const Patch* patches);

}  // namespace daliesque::image
