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
        to_size_(dtype_size(to)),
        from_size_(dtype_size(from)),
        border_(border) {}

  /// Pixels [first, last) of a row of `width`; `fill` is a pixel for beyond a constant border.
  void read(void* out, const void* row, int64_t width, int64_t channels, int64_t first,
            int64_t last, const void* fill) const {
    auto* to = static_cast<std::byte*>(out);
    const int64_t begin = std::clamp<int64_t>(0, first, last);
    const int64_t end = std::clamp<int64_t>(width, begin, last);
    const size_t pixel = static_cast<size_t>(channels) * to_size_;
    const auto pixel_at = [&](int64_t x) { return to + static_cast<size_t>(x - first) * pixel; };
    if (begin < end) {
      convert_(
          pixel_at(begin),
          static_cast<const std::byte*>(row) + static_cast<size_t>(begin * channels) * from_size_,
          (end - begin) * channels);
    }
    const auto border = [&](int64_t x) {
      const int64_t source = border_index(x, width, border_);
      if (source == kOutside) {
        std::memcpy(pixel_at(x), fill, pixel);
      } else if (source >= begin && source < end) {
        std::memcpy(pixel_at(x), pixel_at(source), pixel);
      } else {
        convert_(pixel_at(x),
                 static_cast<const std::byte*>(row) +
                     static_cast<size_t>(source * channels) * from_size_,
                 channels);
      }
    };
    for (int64_t x = first; x < begin; x++) border(x);
    for (int64_t x = end; x < last; x++) border(x);
  }

 private:
  ConvertLoop convert_;
  size_t to_size_, from_size_;
  Border border_;
};

/// Cuts `width` pixels into strips of about `bytes` and calls body(first, last) for each.
template <class Body>
void for_strips(int64_t width, int64_t bytes_per_pixel, int64_t bytes, Body&& body) {
  const int64_t most = std::max<int64_t>(bytes / std::max<int64_t>(bytes_per_pixel, 1), 64);
  const int64_t count = (width + most - 1) / most;
  for (int64_t s = 0; s < count; s++) body(width * s / count, width * (s + 1) / count);
}

}  // namespace daliesque::image
