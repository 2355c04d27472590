// SPDX-License-Identifier: Apache-2.0
// Neighborhood filters work on vertical strips of an image, so narrow that the rows under a window
// stay in the fastest cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/border.h"
#include "core/convert.h"
#include "core/half.h"
#include "core/samples.h"

namespace daliesque::image {

/// The shape of one sample as filters see it.
struct FilterShape {
  int64_t planes = 1;  ///< images or volumes
  int64_t depth = 1, height = 1, width = 1, channels = 1;

  /// `outer` axes of planes, then `spatial` axes, then one of channels if there is any left.
  FilterShape(Shape shape, int outer, int spatial) {
    size_t axis = 0;
    for (int k = 0; k < outer; k++) planes *= shape[axis++];
    if (spatial > 2) depth = shape[axis++];
    if (spatial > 1) height = shape[axis++];
    width = shape[axis++];
    if (axis < shape.size()) channels = shape[axis];
  }

  int64_t row() const { return width * channels; }
  int64_t slice() const { return height * row(); }
  int64_t volume() const { return depth * slice(); }
};

/// While row y of a slice is read, fetches pixels [first, last) of one that is read soon, as far as
/// there are any. Between two rows there is so much work that the processor does not fetch the next
/// one by itself. Always inlined: the compiler drops calls of functions that only prefetch, because
/// nothing comes of them.
DALIESQUE_INLINE void prefetch_after(const std::byte* slice, int64_t y, const FilterShape& shape,
                                     size_t itemsize, int64_t first, int64_t last) {
  constexpr int64_t kRowsAhead = 2, kLine = 64;
  const auto size = static_cast<int64_t>(itemsize), pixel = shape.channels * size;
  const std::byte* row = slice + std::min(y + kRowsAhead, shape.height - 1) * shape.row() * size;
  const int64_t end = std::min(shape.width, last) * pixel;
  for (int64_t at = std::max<int64_t>(0, first) * pixel; at < end; at += kLine) {
    __builtin_prefetch(row + at);
  }
}

/// Reads parts of rows that may reach beyond the ends, converted to another type.
class RowReader {
 public:
  RowReader(DType to, DType from, Border border)
      : RowReader(convert_loop(to, from), to, from, border) {}

  /// Converts by a loop of its own.
  RowReader(ConvertLoop convert, DType to, DType from, Border border)
      : convert_(convert),
        to_size_(static_cast<int64_t>(dtype_size(to))),
        from_size_(static_cast<int64_t>(dtype_size(from))),
        border_(border) {}

  /// From now on reads pixels [first, last) of rows of `width`.
  void choose(int64_t width, int64_t channels, int64_t first, int64_t last) {
    channels_ = channels;
    first_ = first;
    begin_ = std::clamp<int64_t>(0, first, last);
    end_ = std::clamp<int64_t>(width, begin_, last);
    left_.clear();
    right_.clear();
    mirrored_ = 0;
    for (int64_t x = first; x < begin_; x++) {
      left_.push_back(border_index(x, width, border_));
      if (left_.back() < std::min(end_, begin_ - first + 1)) {
        mirrored_ = std::max(mirrored_, left_.back() + 1);
      }
    }
    for (int64_t x = end_; x < last; x++) right_.push_back(border_index(x, width, border_));
  }

  /// The pixels of one row; `fill` is a pixel for beyond a constant border.
  void read(void* out, const void* row, const void* fill) const {
    auto* to = static_cast<std::byte*>(out);
    const auto* from = static_cast<const std::byte*>(row);
    // What the left border repeats comes first, and the border after it: what reads the row waits
    // for its stores, which take place in order.
    convert(to, from, begin_, begin_ + mirrored_);
    for (size_t k = 0; k < left_.size(); k++) {
      copy(to, from, first_ + static_cast<int64_t>(k), left_[k], 0, mirrored_, fill);
    }
    convert(to, from, begin_, end_);
    for (size_t k = 0; k < right_.size(); k++) {
      copy(to, from, end_ + static_cast<int64_t>(k), right_[k], begin_, end_, fill);
    }
  }

 private:
  std::byte* pixel_at(std::byte* to, int64_t x) const {
    return to + (x - first_) * channels_ * to_size_;
  }

  void convert(std::byte* to, const std::byte* row, int64_t begin, int64_t end) const {
    if (begin >= end) return;
    convert_(pixel_at(to, begin), row + begin * channels_ * from_size_, (end - begin) * channels_);
  }

  /// Repeats pixel `source` of the row as pixel x. Those from `begin` to `end` are converted.
  void copy(std::byte* to, const std::byte* row, int64_t x, int64_t source, int64_t begin,
            int64_t end, const void* fill) const {
    const bool ready = source >= begin && source < end;
    if (source != kOutside && !ready) {
      return convert_(pixel_at(to, x), row + source * channels_ * from_size_, channels_);
    }
    const void* pixel = ready ? pixel_at(to, source) : fill;
    std::memcpy(pixel_at(to, x), pixel, static_cast<size_t>(channels_ * to_size_));
  }

  ConvertLoop convert_;
  int64_t to_size_, from_size_;
  Border border_;
  int64_t channels_ = 1, first_ = 0;
  int64_t begin_ = 0, end_ = 0;        // pixels that the row has
  int64_t mirrored_ = 0;               // how many of these the left border repeats
  std::vector<int64_t> left_, right_;  // which pixels the borders repeat
};

/// Cuts `width` pixels into strips of about `bytes` and calls body(first, last) for each. All but
/// the last one are whole blocks of pixels, which loops go through fastest.
template <class Body>
void for_strips(int64_t width, int64_t bytes_per_pixel, int64_t bytes, Body&& body) {
  constexpr int64_t kBlock = 64;
  const int64_t blocks = (width + kBlock - 1) / kBlock;
  const int64_t most = std::max<int64_t>(bytes / std::max<int64_t>(bytes_per_pixel, 1) / kBlock, 1);
  const int64_t count = (blocks + most - 1) / most;
  for (int64_t s = 0; s < count; s++) {
    body(blocks * s / count * kBlock, std::min(width, blocks * (s + 1) / count * kBlock));
  }
}

}  // namespace daliesque::image
