// SPDX-License-Identifier: Apache-2.0
// Images whose pixels are displaced, by a field or by a grid of nodes.
#pragma once

#include "core/samples.h"
#include "image/warp.h"

namespace daliesque::image {

/// The pixel at (x, y) comes from (x, y) + scale * flow[y, x]; `flow` holds float32 arrays of the
/// output's height and width, with a displacement (x, y) in pixels for each pixel.
class FlowMapping : public WarpMapping {
 public:
  FlowMapping(const Samples& flow, PerSample<float> scale) : flow_(flow), scale_(scale) {}
  void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const override;

 private:
  const Samples& flow_;
  PerSample<float> scale_;
};

/// A grid of nodes lies evenly over the output, from corner to corner. `nodes` holds float32 arrays
/// (rows, columns, 2): where in the input each node lies, (x, y) in pixels. Between nodes,
/// positions are interpolated linearly.
class GridMapping : public WarpMapping {
 public:
  GridMapping(const Samples& nodes, const Samples& out) : nodes_(nodes), out_(out) {}
  void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const override;

 private:
  const Samples& nodes_;
  const Samples& out_;
};

}  // namespace daliesque::image
