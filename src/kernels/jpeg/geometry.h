// SPDX-License-Identifier: Apache-2.0
// Which blocks a region needs, and where its samples lie.
#pragma once

#include "jpeg/header.h"

namespace daliesque::jpeg {

struct ComponentGeometry {
  int h = 1;  ///< blocks in an interleaved MCU
  int v = 1;
  int v_stored = 1;  ///< as the file has it, also of a lone component
  int side = 8;      ///< samples of a block in each direction; less if the image is reduced
  int h_ratio = 1;   ///< image samples per component sample
  int v_ratio = 1;
  int width = 0;  ///< samples
  int height = 0;
  int columns = 0;  ///< blocks that hold samples
  int rows = 0;
  bool wanted = true;
  bool fast_idct = false;
  bool fancy_h = false;  ///< the triangle filter reads one more column on each side
  bool fancy_v = false;  ///< the triangle filter reads one more row on each side
};

/// Units of one scan: MCUs, or blocks if the scan has a single component. [column0, column1) and
/// [row0, row1) are those that the region needs.
struct ScanGrid {
  int columns = 0;
  int rows = 0;
  int column0 = 0;
  int column1 = 0;
  int row0 = 0;
  int row1 = 0;

  bool needs_last() const { return row1 == rows && column1 == columns; }
};

struct Geometry {
  int components = 0;
  ComponentGeometry component[kMaxComponents];
  Region region;
  int image_height = 0;  ///< of the reduced image, as all that follows
  int mcu_width = 0;
  int mcu_height = 0;
  ScanGrid grid;        ///< of interleaved MCUs
  int row_context = 0;  ///< image rows beside a row that its upsampling needs

  /// Grid of a scan with component `index` alone.
  ScanGrid block_grid(int index) const;
};

inline int divide_up(int a, int b) { return (a + b - 1) / b; }

/// `options.region` must lie inside the reduced image, or be empty for all of it.
Geometry plan_geometry(const Header& header, const DecodeOptions& options);

}  // namespace daliesque::jpeg
