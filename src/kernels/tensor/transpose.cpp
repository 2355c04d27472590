// SPDX-License-Identifier: Apache-2.0
#include "tensor/transpose.h"

#include <algorithm>
#include <cstring>

#include "core/parallel.h"
#include "core/rearrange.h"

namespace daliesque::tensor {

namespace {

// Measured for batches larger than the caches.
constexpr double kTransposeNanosecondsPerByte = 0.3;
// Enough items on each side of a block to fill cache lines and vectors.
constexpr int64_t kTile = 64;
constexpr int64_t kBlockItems = 32768;

struct PermutedAxis {
  int64_t extent, in_stride, out_stride;  // bytes
};

int64_t count_items(const std::vector<PermutedAxis>& axes) {
  int64_t items = 1;
  for (const PermutedAxis& axis : axes) items *= axis.extent;
  return items;
}

/// A sample as matrices to transpose. Rows run along what is dense in the output, columns along
/// what is dense in the input; `outer` holds the other axes.
struct TransposePlan {
  std::vector<PermutedAxis> outer, rows, columns;
  int64_t size = 0;  // bytes of an item, i.e. of what stays together
  int64_t outer_count = 1, row_count = 1, column_count = 1;
  int64_t row_block = 1, column_block = 1;

  int64_t row_blocks() const { return (row_count + row_block - 1) / row_block; }
  int64_t column_blocks() const { return (column_count + column_block - 1) / column_block; }
  int64_t blocks() const { return outer_count * row_blocks() * column_blocks(); }

  /// Pixels to planes: a row is a pixel and follows the previous one.
  bool splits() const {
    return rows.size() == 1 && columns.size() == 1 && column_count <= 4 &&
           rows[0].in_stride == column_count * size;
  }
  /// Planes to pixels.
  bool joins() const {
    return rows.size() == 1 && columns.size() == 1 && row_count <= 4 &&
           columns[0].out_stride == row_count * size;
  }
};

/// Axes in output order, without those of extent 1, neighbors in both orders merged.
std::vector<PermutedAxis> merged_permuted_axes(Shape in_shape, const std::vector<int>& permutation,
                                               size_t itemsize) {
  std::vector<int64_t> in_strides(in_shape.size());
  auto step = static_cast<int64_t>(itemsize);
  for (size_t axis = in_shape.size(); axis-- > 0;) {
    in_strides[axis] = step;
    step *= in_shape[axis];
  }
  std::vector<PermutedAxis> axes;
  for (int source : permutation) {
    const int64_t extent = in_shape[static_cast<size_t>(source)];
    const int64_t stride = in_strides[static_cast<size_t>(source)];
    if (extent == 1) continue;
    if (!axes.empty() && axes.back().in_stride == stride * extent) {
      axes.back().extent *= extent;
      axes.back().in_stride = stride;
    } else {
      axes.push_back({extent, stride, 0});
    }
  }
  step = static_cast<int64_t>(itemsize);
  for (size_t axis = axes.size(); axis-- > 0;) {
    axes[axis].out_stride = step;
    step *= axes[axis].extent;
  }
  return axes;
}

/// Moves the axis with the given stride from `from` to the front of `to`, if it is there.
bool take(std::vector<PermutedAxis>& to, std::vector<PermutedAxis>& from,
          int64_t PermutedAxis::* stride, int64_t wanted) {
  const auto found = std::ranges::find(from, wanted, stride);
  if (found == from.end()) return false;
  to.insert(to.begin(), *found);
  from.erase(found);
  return true;
}

TransposePlan plan_transpose(Shape in_shape, const std::vector<int>& permutation, size_t itemsize) {
  TransposePlan plan;
  if (volume(in_shape) == 0) return plan;
  plan.outer = merged_permuted_axes(in_shape, permutation, itemsize);
  plan.size = static_cast<int64_t>(itemsize);
  if (!plan.outer.empty() && plan.outer.back().in_stride == plan.size) {
    plan.size *= plan.outer.back().extent;
    plan.outer.pop_back();
  }
  take(plan.rows, plan.outer, &PermutedAxis::out_stride, plan.size);
  take(plan.columns, plan.outer, &PermutedAxis::in_stride, plan.size);
  while (count_items(plan.columns) < kTile &&
         take(plan.columns, plan.outer, &PermutedAxis::in_stride,
              count_items(plan.columns) * plan.size)) {
  }
  while (count_items(plan.rows) < kTile && take(plan.rows, plan.outer, &PermutedAxis::out_stride,
                                                count_items(plan.rows) * plan.size)) {
  }
  plan.outer_count = count_items(plan.outer);
  plan.row_count = count_items(plan.rows);
  plan.column_count = count_items(plan.columns);
  plan.row_block = std::min(plan.row_count, std::max(kTile, kBlockItems / plan.column_count));
  plan.column_block = std::min(plan.column_count, std::max(kTile, kBlockItems / plan.row_block));
  return plan;
}

int64_t offset_of(int64_t index, const std::vector<PermutedAxis>& axes,
                  int64_t PermutedAxis::* stride) {
  int64_t offset = 0;
  for (size_t axis = axes.size(); axis-- > 0;) {
    offset += index % axes[axis].extent * (axes[axis].*stride);
    index /= axes[axis].extent;
  }
  return offset;
}

std::vector<int64_t> offsets_of(int64_t begin, int64_t end, const std::vector<PermutedAxis>& axes,
                                int64_t PermutedAxis::* stride) {
  std::vector<int64_t> offsets(static_cast<size_t>(end - begin));
  for (int64_t i = begin; i < end; i++) {
    offsets[static_cast<size_t>(i - begin)] = offset_of(i, axes, stride);
  }
  return offsets;
}

void transpose_block(std::byte* out, const std::byte* in, const TransposePlan& plan,
                     int64_t block) {
  const int64_t row = block % plan.row_blocks() * plan.row_block;
  block /= plan.row_blocks();
  const int64_t column = block % plan.column_blocks() * plan.column_block;
  block /= plan.column_blocks();
  const int64_t row_end = std::min(plan.row_count, row + plan.row_block);
  const int64_t column_end = std::min(plan.column_count, column + plan.column_block);
  out += offset_of(block, plan.outer, &PermutedAxis::out_stride) + row * plan.size;
  in += offset_of(block, plan.outer, &PermutedAxis::in_stride) + column * plan.size;
  const RearrangeLoops& loops = rearrange_loops();
  if (plan.splits() && column == 0 && column_end == plan.column_count) {
    loops.split(out, plan.columns[0].out_stride, in + row * plan.rows[0].in_stride, row_end - row,
                plan.column_count, plan.size);
  } else if (plan.joins() && row == 0 && row_end == plan.row_count) {
    loops.join(out + column * plan.columns[0].out_stride, in, plan.rows[0].in_stride,
               column_end - column, plan.row_count, plan.size);
  } else {
    const auto from = offsets_of(row, row_end, plan.rows, &PermutedAxis::in_stride);
    const auto to = offsets_of(column, column_end, plan.columns, &PermutedAxis::out_stride);
    loops.transpose(out, to.data(), in, from.data(), row_end - row, column_end - column, plan.size);
  }
}

}  // namespace

void transpose(Samples& out, const Samples& in, const std::vector<int>& permutation) {
  std::vector<TransposePlan> plans;
  plans.reserve(static_cast<size_t>(in.size()));
  for (int64_t i = 0; i < in.size(); i++) {
    const bool same = i > 0 && std::ranges::equal(in.shape(i), in.shape(i - 1));
    plans.push_back(same ? plans.back() : plan_transpose(in.shape(i), permutation, in.itemsize()));
  }
  parallel_slices(
      in.size(),
      [&](int64_t i) { return in.volume(i) ? plans[static_cast<size_t>(i)].blocks() : 0; },
      [&](int64_t i) {
        const TransposePlan& plan = plans[static_cast<size_t>(i)];
        return static_cast<double>(plan.row_block * plan.column_block * plan.size) *
               kTransposeNanosecondsPerByte;
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        for (int64_t block = begin; block < end; block++) {
          transpose_block(out.data<std::byte>(i), in.data<const std::byte>(i),
                          plans[static_cast<size_t>(i)], block);
        }
      });
}

}  // namespace daliesque::tensor
