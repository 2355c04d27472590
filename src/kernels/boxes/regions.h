// SPDX-License-Identifier: Apache-2.0
// Connected regions of labeled arrays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "core/samples.h"

namespace daliesque::boxes {

/// A box: `high` is one past the end.
struct RegionBox {
  std::vector<int64_t> low, high;
};

/// Equal values next to each other along the innermost axis.
struct Run {
  int64_t begin, end, value;
};

/// The boxes around the face-connected regions of runs of one value, in the order of their first
/// runs. Row k of the array has the runs [row_ends[k - 1], row_ends[k]).
std::vector<RegionBox> boxes_of_regions(const std::vector<Run>& runs,
                                        const std::vector<int64_t>& row_ends, Shape shape);

/// Boxes in an array without its axes of extent 1 (unless there are no others) as boxes in the
/// array.
std::vector<RegionBox> expanded(std::vector<RegionBox> boxes, Shape shape);

/// The boxes around face-connected regions of equal value, in the order of their first elements;
/// elements for which `wanted(value)` is false belong to none.
template <class T, class Wanted>
std::vector<RegionBox> find_regions(const T* data, Shape shape, Wanted&& wanted) {
  // Axes of extent 1 would make each element a row of its own.
  std::vector<int64_t> thin;
  for (int64_t extent : shape) {
    if (extent != 1) thin.push_back(extent);
  }
  if (thin.empty()) thin.push_back(1);
  const int64_t width = thin.back(), rows = volume(Shape(thin).first(thin.size() - 1));
  std::vector<Run> runs;
  std::vector<int64_t> row_ends;
  for (int64_t row = 0; row < rows; row++) {
    const T* values = data + row * width;
    for (int64_t k = 0; k < width;) {
      const T value = values[k];
      const int64_t begin = k;
      do k++;
      while (k < width && values[k] == value);
      if (wanted(value)) runs.push_back({begin, k, static_cast<int64_t>(value)});
    }
    row_ends.push_back(static_cast<int64_t>(runs.size()));
  }
  return expanded(boxes_of_regions(runs, row_ends, thin), shape);
}

/// The values that occur, ascending.
template <class T>
std::vector<int64_t> find_labels(const T* data, int64_t size) {
  std::unordered_set<int64_t> labels;
  for (int64_t k = 0; k < size; k++) {
    if (k == 0 || data[k] != data[k - 1]) labels.insert(static_cast<int64_t>(data[k]));
  }
  std::vector<int64_t> sorted(labels.begin(), labels.end());
  std::ranges::sort(sorted);
  return sorted;
}

}  // namespace daliesque::boxes
