// SPDX-License-Identifier: Apache-2.0
#include "boxes/regions.h"

#include <utility>

namespace daliesque::boxes {

namespace {

/// Disjoint sets of runs. The root of a set is its smallest member.
class RunSets {
 public:
  explicit RunSets(size_t count) : parents_(count) {
    for (size_t k = 0; k < count; k++) parents_[k] = static_cast<int64_t>(k);
  }

  int64_t root(int64_t k) {
    while (parent(k) != k) {
      parent(k) = parent(parent(k));
      k = parent(k);
    }
    return k;
  }

  void join(int64_t first, int64_t second) {
    const int64_t a = root(first), b = root(second);
    parent(std::max(a, b)) = std::min(a, b);
  }

 private:
  int64_t& parent(int64_t k) { return parents_[static_cast<size_t>(k)]; }

  std::vector<int64_t> parents_;
};

/// Joins the runs of two neighboring rows that touch.
void join_rows(RunSets& sets, const std::vector<Run>& runs, int64_t first, int64_t first_end,
               int64_t second, int64_t second_end) {
  while (first < first_end && second < second_end) {
    const Run& a = runs[static_cast<size_t>(first)];
    const Run& b = runs[static_cast<size_t>(second)];
    if (a.value == b.value && a.begin < b.end && b.begin < a.end) sets.join(first, second);
    (a.end <= b.end ? first : second)++;
  }
}

/// The indices of a row along the outer axes, which move on row by row.
class RowIndices {
 public:
  explicit RowIndices(Shape outer) : outer_(outer), indices_(outer.size(), 0) {}

  void advance() {
    for (size_t d = outer_.size(); d-- > 0 && ++indices_[d] == outer_[d];) indices_[d] = 0;
  }
  const std::vector<int64_t>& indices() const { return indices_; }

 private:
  Shape outer_;
  std::vector<int64_t> indices_;
};

void extend(RegionBox& box, const std::vector<int64_t>& indices, const Run& run) {
  const size_t inner = indices.size();
  for (size_t d = 0; d < inner; d++) {
    box.low[d] = std::min(box.low[d], indices[d]);
    box.high[d] = std::max(box.high[d], indices[d] + 1);
  }
  box.low[inner] = std::min(box.low[inner], run.begin);
  box.high[inner] = std::max(box.high[inner], run.end);
}

}  // namespace

std::vector<RegionBox> expanded(std::vector<RegionBox> boxes, Shape shape) {
  for (RegionBox& box : boxes) {
    if (box.low.size() == shape.size()) break;
    RegionBox full{std::vector<int64_t>(shape.size(), 0), std::vector<int64_t>(shape.size(), 1)};
    for (size_t d = 0, k = 0; d < shape.size(); d++) {
      if (shape[d] == 1) continue;
      full.low[d] = box.low[k];
      full.high[d] = box.high[k++];
    }
    box = std::move(full);
  }
  return boxes;
}

std::vector<RegionBox> boxes_of_regions(const std::vector<Run>& runs,
                                        const std::vector<int64_t>& row_ends, Shape shape) {
  const Shape outer = shape.first(shape.size() - 1);
  const auto rows = static_cast<int64_t>(row_ends.size());
  const auto end = [&](int64_t row) { return row < 0 ? 0 : row_ends[static_cast<size_t>(row)]; };
  RunSets sets(runs.size());
  RowIndices position(outer);
  for (int64_t row = 0; row < rows; row++, position.advance()) {
    int64_t step = 1;
    for (size_t d = outer.size(); d-- > 0; step *= outer[d]) {
      if (position.indices()[d] == 0) continue;
      const int64_t near = row - step;
      join_rows(sets, runs, end(near - 1), end(near), end(row - 1), end(row));
    }
  }
  std::vector<RegionBox> boxes;
  std::vector<int64_t> box_of(runs.size(), -1);  // by root
  RowIndices again(outer);
  for (int64_t row = 0; row < rows; row++, again.advance()) {
    for (int64_t k = end(row - 1); k < end(row); k++) {
      int64_t& number = box_of[static_cast<size_t>(sets.root(k))];
      if (number < 0) {
        number = static_cast<int64_t>(boxes.size());
        boxes.push_back({std::vector<int64_t>(shape.begin(), shape.end()),
                         std::vector<int64_t>(shape.size(), 0)});
      }
      extend(boxes[static_cast<size_t>(number)], again.indices(), runs[static_cast<size_t>(k)]);
    }
  }
  return boxes;
}

}  // namespace daliesque::boxes
