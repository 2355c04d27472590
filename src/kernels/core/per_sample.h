// SPDX-License-Identifier: Apache-2.0
// Arguments that may differ from sample to sample.
#pragma once

#include <cstdint>

namespace daliesque {

/// A row of `width` values for each sample, or one row for all. Does not own the values.
template <class T>
class PerSample {
 public:
  PerSample(const T* values, int64_t rows, int64_t width)
      : values_(values), rows_(rows), width_(width) {}

  /// The values of sample i.
  const T* row(int64_t i) const { return values_ + (rows_ == 1 ? 0 : i * width_); }
  /// The first value of sample i: all of a scalar argument.
  T operator[](int64_t i) const { return *row(i); }
  /// The values of samples from number `first` on.
  PerSample from(int64_t first) const {
    return rows_ == 1 ? *this : PerSample(row(first), rows_ - first, width_);
  }
  int64_t rows() const { return rows_; }
  int64_t width() const { return width_; }

 private:
  const T* values_;
  int64_t rows_, width_;
};

}  // namespace daliesque
