// SPDX-License-Identifier: Apache-2.0
#include "jpeg/geometry.h"

#include <algorithm>

namespace daliesque::jpeg {
namespace {

ComponentGeometry plan_component(const Header& header, int index, const DecodeOptions& options) {
  const FrameComponent& stored = header.components[index];
  ComponentGeometry result;
  result.v_stored = stored.v;
  // A lone component is never interleaved, whatever its sampling factors say.
  if (header.info.components > 1) {
    result.h = stored.h;
    result.v = stored.v;
    result.h_ratio = header.max_h / stored.h;
    result.v_ratio = header.max_v / stored.v;
  }
  result.columns = divide_up(header.info.width, kBlockSide * result.h_ratio);
  result.rows = divide_up(header.info.height, kBlockSide * result.v_ratio);
  result.side = kBlockSide / options.reduction;
  // Like libjpeg, reduce subsampled components less rather than interpolate them.
  while (result.side < kBlockSide && result.h_ratio % 2 == 0 && result.v_ratio % 2 == 0) {
    result.side *= 2;
    result.h_ratio /= 2;
    result.v_ratio /= 2;
  }
  result.fast_idct = options.fast_idct && result.side == kBlockSide;
  result.width = divide_up(header.info.width, options.reduction * result.h_ratio);
  result.height = divide_up(header.info.height, options.reduction * result.v_ratio);
  result.wanted = index == 0 || options.format != Format::kGray || header.info.color == Color::kRgb;
  // libjpeg filters only these ratios, and in rows of more than two samples.
  const bool wide = result.width > 2;
  if (options.fancy_upsampling && options.reduction < kBlockSide && result.v_ratio <= 2) {
    result.fancy_h = result.h_ratio == 2 && wide;
    result.fancy_v = result.v_ratio == 2 && (result.h_ratio == 1 || result.fancy_h);
  }
  return result;
}

}  // namespace

ScanGrid Geometry::block_grid(int index) const {
  const ComponentGeometry& c = component[index];
  ScanGrid blocks;
  blocks.columns = c.columns;
  blocks.rows = c.rows;
  blocks.column0 = grid.column0 * c.h;
  blocks.column1 = std::min(grid.column1 * c.h, blocks.columns);
  blocks.row0 = grid.row0 * c.v;
  blocks.row1 = std::min(grid.row1 * c.v, blocks.rows);
  return blocks;
}

Geometry plan_geometry(const Header& header, const DecodeOptions& options) {
  const ImageInfo& info = header.info;
  Geometry result;
  result.components = info.components;
  const int width = divide_up(info.width, options.reduction);
  const int height = divide_up(info.height, options.reduction);
  result.image_height = height;
  result.region = options.region;
  Region& region = result.region;
  if (region.width == 0 && region.height == 0) region = {0, 0, width, height};

  int column_context = 0;
  for (int i = 0; i < info.components; ++i) {
    ComponentGeometry& component = result.component[i];
    component = plan_component(header, i, options);
    if (!component.wanted) continue;
    column_context |= static_cast<int>(component.fancy_h);
    result.row_context |= static_cast<int>(component.fancy_v);
  }

  const bool interleaved = info.components > 1;
  const int side = kBlockSide / options.reduction;
  result.mcu_width = interleaved ? side * header.max_h : side;
  result.mcu_height = interleaved ? side * header.max_v : side;
  const auto last_needed = [](int end, int context, int size) {
    return std::min(end - 1 + context, size - 1);
  };
  ScanGrid& grid = result.grid;
  grid.columns = divide_up(width, result.mcu_width);
  grid.rows = divide_up(height, result.mcu_height);
  grid.column0 = std::max(region.x - column_context, 0) / result.mcu_width;
  grid.column1 = last_needed(region.x + region.width, column_context, width) / result.mcu_width + 1;
  grid.row0 = std::max(region.y - result.row_context, 0) / result.mcu_height;
  grid.row1 =
      last_needed(region.y + region.height, result.row_context, height) / result.mcu_height + 1;
  return result;
}

}  // namespace daliesque::jpeg
