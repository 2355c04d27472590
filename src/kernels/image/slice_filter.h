// SPDX-License-Identifier: Apache-2.0
// Filters images along rows and then along columns, strip by strip.
#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "core/scratch.h"
#include "image/filter_loops.h"
#include "image/strips.h"

namespace daliesque::image {

/// A window for each of three axes (depth, height, width), and the factor of the result.
template <class Value>
struct FilterTerm {
  std::array<std::vector<Value>, 3> windows;
  float scale = 1;

  int64_t radius(size_t axis) const { return static_cast<int64_t>(windows[axis].size()) / 2; }
};

/// The terms that are added up for a sample.
template <class Value>
using FilterTerms = std::vector<FilterTerm<Value>>;

template <class Value>
int64_t largest_radius(const FilterTerms<Value>& terms, size_t axis) {
  int64_t largest = 0;
  for (const FilterTerm<Value>& term : terms) largest = std::max(largest, term.radius(axis));
  return largest;
}

/// Filters a slice (an image) along its two axes. Values are floats; or words, if no sum of all
/// terms exceeds them and all windows along an axis are of one length.
template <class Value>
class SliceFilter {
 public:
  /// `step`: how many rows are computed at once, 1 or kWindowRows.
  SliceFilter(const FilterShape& shape, const FilterTerms<Value>& terms, const RowReader& reader,
              int64_t step = 1)
      : shape_(shape),
        terms_(terms),
        reader_(reader),
        radius_x_(largest_radius(terms, 2)),
        radius_y_(largest_radius(terms, 1)),
        step_(step),
        slots_(std::min(2 * radius_y_ + step, shape.height)) {
    for (const FilterTerm<Value>& term : terms) {
      column_weights_.insert(column_weights_.end(), term.windows[1].begin(), term.windows[1].end());
      row_weights_.insert(row_weights_.end(), term.windows[2].begin(), term.windows[2].end());
    }
  }

  /// Rows [begin, end) of a slice. Calls store(y, rows, first, count) for values
  /// [first, first + count) of some rows from y on, which sums() or bytes() then gives.
  template <class Store>
  void run(const std::byte* slice, size_t itemsize, int64_t begin, int64_t end, Store&& store) {
    // What the rows of a strip may occupy of the fastest cache.
    constexpr int64_t kStripBytes = 96 << 10;
    const int64_t pixel = shape_.channels * static_cast<int64_t>(terms_.size() * sizeof(Value));
    for_strips(shape_.width, slots_ * pixel, kStripBytes, [&](int64_t first, int64_t last) {
      prepare(first, last);
      int64_t next = std::max<int64_t>(0, begin - radius_y_);
      for (int64_t y = begin; y < end; y += step_) {
        const int64_t rows = std::min(step_, end - y);
        const int64_t needed = std::min(shape_.height - 1, y + rows - 1 + radius_y_);
        for (; next <= needed; next++) {
          prefetch_after(slice, next, shape_, itemsize, first - radius_x_, last + radius_x_);
          filter_row(slice + static_cast<size_t>(next * shape_.row()) * itemsize, next);
        }
        store(y, rows, first * shape_.channels, count_);
      }
    });
  }

  /// The sums of each term, result_stride() apart, for the part of row y that is due
  /// (if it is one row).
  float* sums(int64_t y) {
    for (size_t t = 0; t < terms_.size(); t++) {
      const auto term = static_cast<int64_t>(t);
      taps_.clear();
      add_rows(y, term);
      Value* out = results_.data() + term * stride_;
      weigh(out, taps_.data(), terms_[t].windows[1]);
      if constexpr (!std::is_same_v<Value, float>) {
        convert_loop(DType::float32, DType::int16)(floats_.data() + term * stride_, out, count_);
      }
    }
    if constexpr (std::is_same_v<Value, float>) {
      return results_.data();
    } else {
      return floats_.data();
    }
  }

  /// The sum of all terms as bytes, to rows that are `pitch` apart. Terms of floats are not added
  /// up in this way: one at most. More than one row only of floats.
  void bytes(uint8_t* out, int64_t pitch, int64_t y, int64_t rows) {
    taps_.clear();
    for (size_t t = 0; t < terms_.size(); t++) add_rows(y, static_cast<int64_t>(t), rows);
    const int64_t taps = 2 * radius_y_ + 1;
    if constexpr (std::is_same_v<Value, float>) {
      if (rows == kWindowRows) {
        const DenseWindow window{column_weights_.data(), taps, 1, 0};
        return filter_loops().weigh_windows_to_bytes(out, pitch, taps_.data(), window, count_,
                                                     false);
      }
      filter_loops().weigh_to_bytes(out, taps_.data(), column_weights_.data(), taps, count_, false);
    } else {
      word_loops().weigh_to_bytes(out, taps_.data(), column_weights_.data(),
                                  static_cast<int64_t>(terms_.size()), taps, count_);
    }
  }

  int64_t result_stride() const { return stride_; }

 private:
  void prepare(int64_t first, int64_t last) {
    count_ = (last - first) * shape_.channels;
    stride_ = padded(count_) + kPadding;
    const auto terms = static_cast<int64_t>(terms_.size());
    // What is converted begins at a cache line: stores across two of them are slow.
    const int64_t border = std::max<int64_t>(radius_x_ - first, 0) * shape_.channels;
    row_.require(stride_ + 2 * radius_x_ * shape_.channels + 2 * kPadding);
    line_ = row_.data() + padded(border) - border;
    columns_.clear();
    for (int64_t x = 0; x <= 2 * radius_x_; x++) columns_.push_back(line_ + x * shape_.channels);
    reader_.choose(shape_.width, shape_.channels, first - radius_x_, last + radius_x_);
    rows_.require(slots_ * terms * stride_);
    results_.require(terms * stride_);
    if constexpr (!std::is_same_v<Value, float>) floats_.require(terms * stride_);
  }

  Value* slot(int64_t number, int64_t term) {
    return rows_.data() + (number * static_cast<int64_t>(terms_.size()) + term) * stride_;
  }

  void filter_row(const std::byte* row, int64_t y) {
    reader_.read(line_, row, nullptr);
    if constexpr (std::is_same_v<Value, float>) {
      for (size_t t = 0; t < terms_.size(); t++) {
        weigh(slot(y % slots_, static_cast<int64_t>(t)),
              columns_.data() + radius_x_ - terms_[t].radius(2), terms_[t].windows[2]);
      }
    } else {
      word_loops().weigh_rows(slot(y % slots_, 0), stride_, columns_.data(), row_weights_.data(),
                              static_cast<int64_t>(terms_.size()), 2 * radius_x_ + 1, count_);
    }
  }

  void weigh(Value* out, const Value* const* taps, const std::vector<Value>& weights) {
    const auto count = static_cast<int64_t>(weights.size());
    if constexpr (std::is_same_v<Value, float>) {
      filter_loops().weigh_rows(out, taps, weights.data(), count, count_);
    } else {
      word_loops().weigh_rows(out, stride_, taps, weights.data(), 1, count, count_);
    }
  }

  /// Adds the rows under the windows of a term to taps_.
  void add_rows(int64_t y, int64_t term, int64_t rows = 1) {
    const int64_t radius = terms_[static_cast<size_t>(term)].radius(1);
    const int64_t before = y / slots_ * slots_;
    for (int64_t k = -radius; k < radius + rows; k++) {
      // Rows are less than slots_ away from y: one step brings the number into its range.
      const int64_t number = border_index(y + k, shape_.height, Border::reflect_101) - before;
      const int64_t step = number < 0 ? slots_ : number < slots_ ? 0 : -slots_;
      taps_.push_back(slot(number + step, term));
    }
  }

  static constexpr int64_t kPadding = 64 / sizeof(Value);
  static_assert(kPadding == (std::is_same_v<Value, float> ? kFilterPadding : kWordPadding));

  static int64_t padded(int64_t count) { return (count + kPadding - 1) / kPadding * kPadding; }

  const FilterShape& shape_;
  const FilterTerms<Value>& terms_;
  RowReader reader_;
  int64_t radius_x_, radius_y_, step_, slots_;
  int64_t count_ = 0, stride_ = 0;
  std::vector<Value> column_weights_, row_weights_;  // windows of all terms, one after the other
  Scratch<Value> row_, rows_, results_;
  Scratch<float> floats_;              // results_, if these are words
  Value* line_ = nullptr;              // the part of row_ that is read to
  std::vector<const Value*> columns_;  // where it begins, and each pixel after that
  std::vector<const Value*> taps_;
};

}  // namespace daliesque::image
