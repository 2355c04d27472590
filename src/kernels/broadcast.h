// SPDX-License-Identifier: Apache-2.0
// Broadcasting: how several operands of different shapes are walked together.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "samples.h"

namespace daliesque {

/// The number of samples of the result: that of the operands which have more or less than one.
/// Throws std::invalid_argument if they disagree.
int64_t broadcast_count(std::span<const Samples* const> operands);

/// The shapes of the result, sample after sample, extents aligned at the last axis. Throws
/// std::invalid_argument, naming the sample, where shapes do not go together.
std::vector<int64_t> broadcast_shapes(std::span<const Samples* const> operands, int64_t count,
                                      int ndim);

/// The layout of the result: the longest, if all others are its endings (or empty), and if it
/// describes all axes. Throws std::invalid_argument if layouts contradict each other.
std::string broadcast_layout(std::span<const Samples* const> operands, int ndim);

/// The fewest axes along which a result and its operands can be walked.
struct BroadcastAxes {
  std::vector<int64_t> extents;
  /// For each operand the step along each axis, in elements; 0 where it is repeated.
  std::vector<std::vector<int64_t>> strides;
};

/// Axes for contiguous operands of the given shapes.
BroadcastAxes broadcast_axes(Shape result, std::span<const Shape> operands);

/// Reads an operand in the order of the result.
class BroadcastReader {
 public:
  /// `axes` must outlive the reader.
  BroadcastReader(const BroadcastAxes& axes, size_t operand);

  /// The same element everywhere.
  bool constant() const { return constant_; }
  /// Element i of the result needs element i of the operand.
  bool linear() const { return linear_; }
  /// If positive, element i of the result needs element i % period of the operand.
  int64_t period() const { return period_; }

  /// Copies the elements for positions [begin, begin + count) of the result to `out`.
  void gather(void* out, const void* in, size_t itemsize, int64_t begin, int64_t count) const;

 private:
  const std::vector<int64_t>& extents_;
  const std::vector<int64_t>& strides_;
  bool constant_ = false, linear_ = false;
  int64_t period_ = 0;
};

}  // namespace daliesque
