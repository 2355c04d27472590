// SPDX-License-Identifier: Apache-2.0
// The largest or smallest value under a rectangle, in a time that hardly depends on its size.
#pragma once

#include <cstddef>
#include <vector>

#include "core/scratch.h"
#include "image/extreme_loops.h"
#include "image/rank_filters.h"
#include "image/strips.h"

namespace daliesque::image {

/// Filters the images of one sample, which are of a type.
///
/// Along rows, the extremes of 4, 16, ... pixels in a row are found from those of a quarter as
/// many, and two of them, which may overlap, make up the window. Along columns, blocks of as many
/// rows as the window has make each window the end of a block and the beginning of the next one:
/// extremes from each row to the end of its block, and from the beginning of a block on, take three
/// steps for each row (van Herk, Gil and Werman).
class ExtremeFilter {
 public:
  ExtremeFilter(const FilterShape& shape, DType type, const RankFilter& arguments, int64_t i);

  /// Rows [begin, end) of an image.
  void run(std::byte* out, const std::byte* in, int64_t begin, int64_t end);

 private:
  /// Positions, in pixels, of what makes up a longer part of the window.
  struct Pass {
    int64_t offsets[kMostExtremeRows];
    int inputs;
    int64_t length;  ///< of what is made up
  };

  void prepare(int64_t first, int64_t last);
  void run_few_rows(std::byte* out, const std::byte* in, int64_t begin, int64_t end);
  void run_blocks(std::byte* out, const std::byte* in, int64_t begin, int64_t end);
  void find_along_row(std::byte* out, const std::byte* in, int64_t y);
  void read(const std::byte* row);
  void finish(std::byte* out) const;

  const FilterShape& shape_;
  Border border_;
  bool floating_;
  int64_t size_;  // bytes of a value
  int64_t width_, height_, anchor_x_, anchor_y_;
  const ExtremeLoops& loops_;
  RowReader reader_;
  std::vector<Pass> passes_;
  int64_t first_ = 0, last_ = 0, count_ = 0;  // of the strip: pixels that are read, values
  int64_t stride_ = 0;                        // between rows of the strip, in bytes
  Scratch<std::byte> line_, other_line_, rows_, prefix_;
};

}  // namespace daliesque::image
