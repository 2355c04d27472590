// SPDX-License-Identifier: Apache-2.0
// Arrow columns as samples, over the same memory.
#pragma once

#include <string>
#include <vector>

#include "core/arrow.h"
#include "core/samples.h"

namespace daliesque::arrow {

/// A column, or consecutive rows of one. Copies share the data, which is never written to.
class Column {
 public:
  /// `owner` keeps `array` alive.
  Column(Buffer owner, const Array* array);

  int64_t size() const { return length_; }
  /// The rows of a field of a column of structs.
  Column field(size_t index) const;
  /// The values that a column of indices refers to.
  Column dictionary() const;
  /// The first row of at least one missing value; -1 if all are there. `formats` are those of
  /// the column and of its first child, that one's first child and so on.
  int64_t first_missing(const std::vector<std::string>& formats) const;
  /// The rows as samples: lists are axes, outermost first, and so are binary values. The last of
  /// `formats` says how `type` is stored. Throws UsageError if lists inside of a row differ in
  /// length, or if the column contradicts itself. Copies only booleans that are stored as bits and
  /// values that are not aligned.
  Samples samples(const std::vector<std::string>& formats, DType type) const;
  /// The rows of a column of integers of the given format.
  std::vector<int64_t> integers(const std::string& format) const;

 private:
  Buffer owner_;
  const Array* array_;
  int64_t offset_, length_;
};

}  // namespace daliesque::arrow
