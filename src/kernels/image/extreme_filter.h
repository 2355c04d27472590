// SPDX-License-Identifier: Apache-2.0
// The largest or smallest value under a rectangle, in a time that hardly depends on its size.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/scratch.h"
#include "image/extreme_loops.h"
#include "image/rank_filters.h"
#include "image/strips.h"

namespace daliesque::image {

/// Filters the images of one sample, which are of a type.
///
/// Along columns, a few rows of the result are found at once, which share most of their windows.
/// For tall windows, blocks of as many rows as the window has make each window the end of a block
/// and the beginning of the next one: extremes from each row to the end of its block, and from the
/// beginning of a block on, take three steps for each row (van Herk, Gil and Werman). Along rows,
/// the extremes of 4, 16, ... pixels in a row are found from those of a quarter as many, and two of
/// them, which may overlap, make up the window. Columns come first: they need no border to the left
/// and right, and so read the image where it is.
class ExtremeFilter {
 public:
  /// `streamed` results are written past the caches: a stream_fence() must follow.
  ExtremeFilter(const FilterShape& shape, DType type, const RankFilter& arguments, int64_t i,
                bool streamed);

  /// Rows [begin, end) of an image.
  void run(std::byte* out, const std::byte* in, int64_t begin, int64_t end);

 private:
  /// Positions, in pixels, of what makes up a longer part of the window.
  struct Pass {
    int64_t offsets[kMostExtremeInputs];
    int inputs;
    int64_t length;  ///< of what is made up
  };

  int64_t strip_bytes() const;
  void prepare(int64_t first, int64_t last);
  void run_groups(std::byte* out, const std::byte* in, int64_t begin, int64_t end);
  void run_blocks(std::byte* out, const std::byte* in, int64_t begin, int64_t end);
  const std::byte* source(const std::byte* in, int64_t y) const;
  void finish(std::byte* out, std::byte* line) const;

  /// Fetches what the strip needs of a row that is read soon, if the image has it. Inlined, as
  /// prefetch_after() is.
  DALIESQUE_INLINE void prefetch(const std::byte* in, int64_t y) const {
    constexpr int64_t kLine = 64;
    const int64_t row = y - anchor_y_;
    if (row < 0 || row >= shape_.height) return;
    const std::byte* from = in + (row * shape_.width + begin_) * pixel_;
    for (int64_t at = 0; at < read_count_ * size_; at += kLine) __builtin_prefetch(from + at);
  }

  std::byte* slot(int64_t y) const { return rows_.data() + y % slots_ * row_stride_; }
  /// Where line `k` has the first pixel of the image that the strip needs.
  std::byte* line(int64_t k) const { return lines_.data() + k * line_stride_ + margin_; }

  const FilterShape& shape_;
  Border border_;
  bool floating_, streamed_;
  int64_t size_;   // bytes of a value
  int64_t pixel_;  // bytes of a pixel
  int64_t width_, height_, anchor_x_, anchor_y_;
  bool tall_;
  int64_t slots_;  // rows that are kept
  const ExtremeLoops& loops_;
  std::vector<Pass> passes_;
  int64_t first_ = 0, last_ = 0;              // pixels that the strip needs
  int64_t begin_ = 0, end_ = 0;               // those of them that the image has
  int64_t count_ = 0;                         // values of the result
  int64_t read_count_ = 0;                    // values that are read
  int64_t row_stride_ = 0, line_stride_ = 0;  // between rows and lines, in bytes
  int64_t margin_ = 0;  // of a line: bytes before the first pixel of the image
  std::vector<std::pair<int64_t, int64_t>> repeated_;  // pixels of borders, and what they repeat
  Scratch<std::byte> rows_, lines_, parts_[2], prefix_;
  Scratch<std::byte> nothing_;  // a row that is never picked
  std::vector<const void*> inputs_;
};

}  // namespace daliesque::image
