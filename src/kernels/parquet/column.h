// SPDX-License-Identifier: Apache-2.0
// A column of a row group as samples.
#pragma once

#include <cstdint>
#include <vector>

#include "core/samples.h"
#include "parquet/column_pages.h"
#include "parquet/hybrid.h"

namespace daliesque::parquet {

/// How values are stored.
enum class ValueType { boolean, int32, int64, float32, float64, bytes, fixed };

/// Where a column of a row group is, and what is in it.
struct ColumnChunk {
  int64_t offset, size;  ///< of all pages in the file
  int64_t rows;
  Codec codec;
  ValueType type;
  int64_t width;         ///< the bytes of a value of type `fixed`
  int definition_level;  ///< of rows that have a value
  /// Of samples. Those of `bytes`, and of `fixed` if this is uint8, are vectors, others numbers.
  DType dtype;
};

/// Decodes a column from front to back. Whatever is not read here - damage, missing values, other
/// encodings - is Undecoded; files::ReadFailure may come as well. After that there are no more.
class ColumnReader {
 public:
  ColumnReader(files::SourceHandle source, const ColumnChunk& chunk);

  /// The next rows. Nobody else uses the memory of samples, but they may share buffers with each
  /// other, and with those of further calls.
  Samples read(int64_t rows);

  /// What reading costs, in nanoseconds.
  double cost(int64_t rows) const;

 private:
  enum class Values { plain, indices, runs };
  struct Found;

  void load_page();
  void load_dictionary(const PageHeader& header);
  void start_page(const PageHeader& header);
  void start_values(Encoding encoding);
  int64_t file_width() const;
  bool are_vectors() const;
  Samples read_vectors(int64_t rows);
  Samples read_numbers(int64_t rows);
  void find_plain(Found& found, int64_t count);
  void find_indexed(Found& found, int64_t count);
  void copy_numbers(uint8_t* out, int64_t count);
  void copy_truths(uint8_t* out, int64_t count);
  std::span<const uint32_t> next_indices(int64_t count);

  ColumnPages pages_;
  ColumnChunk chunk_;
  int64_t left_;  ///< rows that have not been read

  Page page_;
  int64_t page_left_ = 0;  ///< values of the page
  Values kind_ = Values::plain;
  Bytes plain_;
  int64_t bit_ = 0;  ///< of truth values, those that were taken
  HybridReader hybrid_;
  std::vector<uint32_t> indices_;

  bool has_dictionary_ = false;
  Page dictionary_page_;
  std::vector<Bytes> dictionary_;  ///< vectors
  std::vector<uint8_t> dictionary_numbers_;
  size_t dictionary_size_ = 0;
  size_t unused_ = 0;  ///< from here on no vector of the dictionary was given out
};

}  // namespace daliesque::parquet
