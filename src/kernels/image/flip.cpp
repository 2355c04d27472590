// SPDX-License-Identifier: Apache-2.0
#include "image/flip.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/parallel.h"
#include "core/rearrange.h"
#include "core/stream.h"

namespace daliesque::image {

namespace {

// Measured for batches larger than the caches.
constexpr double kFlipNanosecondsPerByte = 0.2;

constexpr int64_t kLongItem = 256;

// The axes to mirror are of three kinds at most: width, height, depth.
constexpr size_t kMostMirrored = 3;

struct FlippedAxis {
  int64_t extent;
  bool mirrored;
};

/// A sample as rows of items: the outer axes count the rows, the items of a row are kept in order
/// or reversed as a whole.
struct Rows {
  // Neighbors that keep their order are one axis.
  std::array<FlippedAxis, 2 * kMostMirrored + 1> outer;
  size_t outer_axes = 0;
  int64_t count = 1;  // rows
  int64_t items = 1;  // per row
  int64_t item_bytes;
  bool reversed = false;

  /// The source row that becomes row `index`.
  int64_t source(int64_t index) const {
    if (outer_axes <= 1) return descends() ? count - 1 - index : index;
    int64_t row = 0, step = 1;
    for (size_t axis = outer_axes; axis-- > 0;) {
      const auto [extent, mirrored] = outer[axis];
      const int64_t position = index % extent;
      index /= extent;
      row += step * (mirrored ? extent - 1 - position : position);
      step *= extent;
    }
    return row;
  }

  /// Whether nothing is mirrored.
  bool is_plain() const { return !reversed && outer_axes <= 1 && !descends(); }

  /// Whether one row after the other comes from higher to lower addresses.
  bool descends() const { return outer_axes > 0 && outer[outer_axes - 1].mirrored; }
};

/// One bit for each axis that sample `i` is mirrored along.
uint64_t mirrored_axes(const std::vector<FlipAxis>& axes, int64_t i) {
  uint64_t bits = 0;
  for (const auto& [axis, flags] : axes) bits |= uint64_t{flags[i] != 0} << axis;
  return bits;
}

Rows find_rows(Shape shape, uint64_t mirrored_bits, size_t itemsize) {
  const auto mirrored = [&](size_t axis) { return (mirrored_bits >> axis & 1) != 0; };
  Rows rows;
  rows.item_bytes = static_cast<int64_t>(itemsize);
  size_t axis = shape.size();
  while (axis > 1 && !mirrored(axis - 1)) rows.item_bytes *= shape[--axis];
  // Items that are long are rows themselves.
  if (axis > 0 && mirrored(axis - 1) && rows.item_bytes < kLongItem) {
    rows.reversed = true;
    rows.items = shape[--axis];
  }
  bool joinable = false;
  for (size_t k = 0; k < axis; k++) {
    rows.count *= shape[k];
    if (joinable && !mirrored(k)) {
      rows.outer[rows.outer_axes - 1].extent *= shape[k];
    } else {
      rows.outer[rows.outer_axes++] = {shape[k], mirrored(k)};
    }
    joinable = !mirrored(k);
  }
  return rows;
}

/// Writes rows. Each is read and written in one direction only, because rows that are run through
/// backwards one after the other look like no pattern to the processor.
class RowWriter {
 public:
  RowWriter(const Rows& rows, bool streamed)
      : rows_(rows),
        bytes_(static_cast<size_t>(rows.items * rows.item_bytes)),
        streamed_(streamed) {
    const bool cached = bytes_ * static_cast<size_t>(rows.count) <= kLongest;
    buffered_ = rows.reversed && bytes_ <= kLongest && (streamed_ || !rows.descends()) && !cached;
  }

  void run(std::byte* out, const std::byte* in) {
    const RearrangeLoops& loops = rearrange_loops();
    if (rows_.reversed && !buffered_) {
      loops.reverse(out, in, rows_.items, rows_.item_bytes);
      return;
    }
    if (buffered_) {
      loops.reverse_ascending(buffer_, in, rows_.items, rows_.item_bytes);
      in = buffer_;
    }
    copy_bytes(out, in, bytes_, streamed_);
  }

 private:
  static constexpr size_t kLongest = 16384;  // longer rows are a pattern of their own

  const Rows& rows_;
  size_t bytes_;
  bool streamed_, buffered_;
  std::byte buffer_[kLongest];
};

}  // namespace

void flip(Samples& out, const Samples& in, const std::vector<FlipAxis>& axes) {
  // Samples of one shape and direction, which is the usual batch, share a plan.
  std::vector<Rows> plans;
  std::vector<uint32_t> plan_of(static_cast<size_t>(in.size()));
  uint64_t planned = 0;
  for (int64_t i = 0; i < in.size(); i++) {
    const uint64_t mirrored = mirrored_axes(axes, i);
    if (plans.empty() || mirrored != planned || !std::ranges::equal(in.shape(i), in.shape(i - 1))) {
      plans.push_back(find_rows(in.shape(i), mirrored, in.itemsize()));
      planned = mirrored;
    }
    plan_of[static_cast<size_t>(i)] = static_cast<uint32_t>(plans.size() - 1);
  }
  const auto rows_of = [&](int64_t i) -> const Rows& {
    return plans[plan_of[static_cast<size_t>(i)]];
  };
  const bool streamed = exceeds_caches(out, in);
  parallel_slices(
      in.size(), [&](int64_t i) { return in.volume(i) ? rows_of(i).count : 0; },
      [&](int64_t i) {
        const Rows& rows = rows_of(i);
        return static_cast<double>(rows.items * rows.item_bytes) * kFlipNanosecondsPerByte;
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const Rows& rows = rows_of(i);
        const int64_t bytes = rows.items * rows.item_bytes;
        const auto* from = in.data<const std::byte>(i);
        auto* to = out.data<std::byte>(i);
        if (rows.is_plain()) {
          copy_bytes(to + begin * bytes, from + begin * bytes,
                     static_cast<size_t>((end - begin) * bytes), streamed);
        } else {
          RowWriter writer(rows, streamed);
          for (int64_t k = begin; k < end; k++) {
            // It is reading that should go from lower to higher addresses.
            const int64_t row = rows.descends() ? end - 1 - (k - begin) : k;
            writer.run(to + row * bytes, from + rows.source(row) * bytes);
          }
        }
        if (streamed) stream_fence();
      });
}

}  // namespace daliesque::image
