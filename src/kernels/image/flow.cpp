// SPDX-License-Identifier: Apache-2.0
#include "image/flow.h"

#include <algorithm>

namespace daliesque::image {

void FlowMapping::locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const {
  const int64_t width = flow_.shape(sample)[1];
  const float scale = scale_[sample];
  for (int r = 0; r < tile.rows; r++) {
    const float* flow = flow_.data<const float>(sample) + ((tile.y + r) * width + tile.x) * 2;
    const float y = static_cast<float>(tile.y + r) + 0.5f;
    for (int k = 0; k < tile.columns; k++) {
      at.x[r][k] = static_cast<float>(tile.x + k) + 0.5f + scale * flow[2 * k];
      at.y[r][k] = y + scale * flow[2 * k + 1];
    }
  }
}

void GridMapping::locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const {
  const Shape grid = nodes_.shape(sample);
  const int64_t columns = grid[1];
  const auto across = static_cast<float>(columns - 1) / static_cast<float>(out_.shape(sample)[1]);
  const auto down = static_cast<float>(grid[0] - 1) / static_cast<float>(out_.shape(sample)[0]);
  const float* nodes = nodes_.data<const float>(sample);
  // The same for all rows of the tile: the node to the left, and how far behind it a pixel lies.
  int64_t lefts[kWarpColumns];
  float shares[kWarpColumns];
  for (int k = 0; k < tile.columns; k++) {
    const float u = (static_cast<float>(tile.x + k) + 0.5f) * across;
    lefts[k] = std::clamp<int64_t>(static_cast<int64_t>(u), 0, columns - 2);
    shares[k] = u - static_cast<float>(lefts[k]);
  }
  for (int r = 0; r < tile.rows; r++) {
    const float v = (static_cast<float>(tile.y + r) + 0.5f) * down;
    const int64_t top = std::clamp<int64_t>(static_cast<int64_t>(v), 0, grid[0] - 2);
    const float share = v - static_cast<float>(top);
    for (int k = 0; k < tile.columns; k++) {
      const float* above = nodes + (top * columns + lefts[k]) * 2;
      const float* below = above + 2 * columns;
      const auto between = [&](int c) {
        const float high = above[c] + shares[k] * (above[2 + c] - above[c]);
        const float low = below[c] + shares[k] * (below[2 + c] - below[c]);
        return high + share * (low - high);
      };
      at.x[r][k] = between(0);
      at.y[r][k] = between(1);
    }
  }
}

}  // namespace daliesque::image
