// SPDX-License-Identifier: Apache-2.0
// Broadcasting: how operands of different shapes go together, as in NumPy.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/samples.h"

namespace daliesque {

/// The number of samples of the result: that of the operands which have more or less than one.
/// Throws UsageError if they disagree.
int64_t broadcast_count(std::span<const Samples* const> operands);

/// The shapes of the result, sample after sample, extents aligned at the last axis. Throws
/// UsageError, naming the sample, where shapes do not go together.
std::vector<int64_t> broadcast_shapes(std::span<const Samples* const> operands, int64_t count,
                                      int ndim);

/// The layout of the result: the longest, if all others are its endings (or empty), and if it
/// describes all axes. Throws UsageError if layouts contradict each other.
std::string broadcast_layout(std::span<const Samples* const> operands, int ndim);

/// Finds the elements of one contiguous operand in the order of the result.
class BroadcastReader {
 public:
  BroadcastReader(Shape result, Shape operand);

  /// The same element everywhere.
  bool constant() const { return axes_ == 0 || (axes_ == 1 && repeats_); }
  /// Element i of the result needs element i of the operand.
  bool linear() const { return axes_ == 1 && !repeats_; }
  /// If positive, element i of the result needs element i % period of the operand.
  int64_t period() const { return axes_ == 2 && !repeats_ ? extents_[0] : 0; }

  /// Copies the elements for positions [begin, begin + count) of the result to `out`.
  void gather(void* out, const void* in, size_t itemsize, int64_t begin, int64_t count) const;

 private:
  static constexpr size_t kMaxAxes = 64;

  template <class T>
  void gather_elements(T* out, const T* in, int64_t begin, int64_t count) const;

  // Axes from the last one outwards. Neighbors that are walked alike are merged, so that axes
  // along which the operand is repeated alternate with those along which it advances.
  std::array<int64_t, kMaxAxes> extents_;
  size_t axes_ = 0;
  bool repeats_ = false;  ///< The last axis is one of repetition.
};

}  // namespace daliesque
