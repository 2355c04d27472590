// SPDX-License-Identifier: Apache-2.0
#include "flip.h"

#include <algorithm>
#include <cstring>

#include "parallel.h"
#include "rearrange.h"
#include "stream.h"

namespace daliesque {

namespace {

// Measured for batches larger than the caches.
constexpr double kNanosecondsPerByte = 0.2;

struct Axis {
  int64_t extent;
  bool mirrored;
};

/// A sample as rows of items: `outer` counts the rows, the items of a row are kept in order or
/// reversed as a whole.
struct Rows {
  std::vector<Axis> outer;
  int64_t count = 1;  // rows
  int64_t items = 1;  // per row
  int64_t item_bytes;
  bool reversed = false;

  /// The source row that becomes row `index`.
  int64_t source(int64_t index) const {
    int64_t row = 0, step = 1;
    for (size_t axis = outer.size(); axis-- > 0;) {
      const auto [extent, mirrored] = outer[axis];
      const int64_t place = index % extent;
      index /= extent;
      row += step * (mirrored ? extent - 1 - place : place);
      step *= extent;
    }
    return row;
  }
};

Rows find_rows(Shape shape, const std::vector<bool>& mirrored, size_t itemsize) {
  Rows rows;
  rows.item_bytes = static_cast<int64_t>(itemsize);
  size_t axis = shape.size();
  while (axis > 1 && !mirrored[axis - 1]) rows.item_bytes *= shape[--axis];
  if (axis > 0 && mirrored[axis - 1]) {
    rows.reversed = true;
    rows.items = shape[--axis];
  }
  for (size_t k = 0; k < axis; k++) {
    rows.outer.push_back({shape[k], mirrored[k]});
    rows.count *= shape[k];
  }
  return rows;
}

/// Writes rows in order. Memory is read and written in one direction only, because rows that are
/// run through backwards one after the other look like no pattern to the processor.
class RowWriter {
 public:
  RowWriter(const Rows& rows, bool streamed)
      : rows_(rows),
        bytes_(static_cast<size_t>(rows.items * rows.item_bytes)),
        // Rows that begin inside a cache line would write it in two parts, which is slow.
        streamed_(streamed && bytes_ % kLine == 0) {
    const bool descends = !rows.outer.empty() && rows.outer.back().mirrored;
    buffered_ = rows.reversed && bytes_ <= kLongest && (streamed_ || !descends);
    if (buffered_) buffer_.resize(bytes_);
  }

  void run(std::byte* out, const std::byte* in) {
    const RearrangeLoops& loops = rearrange_loops();
    if (rows_.reversed && !buffered_) {
      loops.reverse(out, in, rows_.items, rows_.item_bytes);
      return;
    }
    if (buffered_) {
      loops.reverse_ascending(buffer_.data(), in, rows_.items, rows_.item_bytes);
      in = buffer_.data();
    }
    if (streamed_) {
      stream_copy(out, in, bytes_);
    } else {
      std::memcpy(out, in, bytes_);
    }
  }

 private:
  static constexpr size_t kLine = 64, kLongest = 16384;  // longer rows are a pattern of their own

  const Rows& rows_;
  size_t bytes_;
  bool streamed_, buffered_;
  std::vector<std::byte> buffer_;
};

}  // namespace

void flip(Samples& out, const Samples& in, const std::vector<FlipAxis>& axes) {
  std::vector<Rows> plans(static_cast<size_t>(in.size()));
  for (int64_t i = 0; i < in.size(); i++) {
    std::vector<bool> mirrored(static_cast<size_t>(in.ndim()));
    for (const auto& [axis, flags] : axes) mirrored[static_cast<size_t>(axis)] = flags[i] != 0;
    plans[static_cast<size_t>(i)] = find_rows(in.shape(i), mirrored, in.itemsize());
  }
  const bool streamed = static_cast<size_t>(out.total_volume()) * out.itemsize() >= kStreamBytes;
  parallel_slices(
      in.size(), [&](int64_t i) { return in.volume(i) ? plans[static_cast<size_t>(i)].count : 0; },
      [&](int64_t i) {
        const Rows& rows = plans[static_cast<size_t>(i)];
        return static_cast<double>(rows.items * rows.item_bytes) * kNanosecondsPerByte;
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const Rows& rows = plans[static_cast<size_t>(i)];
        const int64_t bytes = rows.items * rows.item_bytes;
        const auto* from = in.data<const std::byte>(i);
        RowWriter writer(rows, streamed);
        for (int64_t row = begin; row < end; row++) {
          writer.run(out.data<std::byte>(i) + row * bytes, from + rows.source(row) * bytes);
        }
        if (streamed) stream_fence();
      });
}

}  // namespace daliesque
