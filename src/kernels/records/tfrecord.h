// SPDX-License-Identifier: Apache-2.0
// TFRecord files: where the records are, and what is in them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/samples.h"
#include "files/archives.h"
#include "records/fault.h"

namespace daliesque::records {

/// Offsets and sizes of records, with their lengths and checksums.
struct RecordIndex {
  std::vector<int64_t> offsets, sizes;
  /// What ended the index early, and where.
  RecordFault fault = RecordFault::none;
  int64_t fault_offset = 0;
};

/// Finds the records of a file. Throws ReadFailure.
RecordIndex index_tfrecord(const files::ByteSource& source);

/// A feature to be read.
struct FeatureRule {
  std::string name;
  DType dtype;  // int64, float32, or uint8 for a string
  bool fixed;   // `shape` is that of all values; otherwise that after the first axis
  std::vector<int64_t> shape;
  /// The values of a record that lacks the feature, in full; for strings any bytes. Unless
  /// `fixed`, there is no need for any.
  std::optional<std::string> fallback;
};

/// Pieces of files: the number of the file, offset and size of each.
struct Pieces {
  std::span<const int64_t> files, offsets, sizes;
};

/// Reads records and takes them apart.
class ExampleParser {
 public:
  explicit ExampleParser(std::vector<FeatureRule> rules) : rules_(std::move(rules)) {}

  /// One Samples for each feature. Records that cannot be read leave entries in `unread`, those
  /// with faults in `errors`, both sorted by index, and samples whose contents mean nothing.
  std::vector<Samples> read(files::Archives& archives, const Pieces& pieces,
                            std::vector<files::PieceError>& unread,
                            std::vector<RecordError>& errors) const;

 private:
  std::vector<FeatureRule> rules_;
};

}  // namespace daliesque::records
