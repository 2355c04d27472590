// SPDX-License-Identifier: Apache-2.0
// The pages of a column in a row group.
#pragma once

#include <cstdint>
#include <optional>

#include "core/memory.h"
#include "files/byte_source.h"
#include "parquet/decompress.h"
#include "parquet/page_header.h"

namespace daliesque::parquet {

/// A page in memory.
struct Page {
  Buffer memory;
  size_t memory_size = 0;
  /// Of pages of kind `data_v2` the levels; `values` then begins behind them.
  Bytes repetitions, definitions;
  Bytes values;
};

/// Reads pages one after the other. All of it may throw Undecoded or files::ReadFailure.
class ColumnPages {
 public:
  /// The pages are `size` bytes of the source, from `offset` on.
  ColumnPages(files::SourceHandle source, int64_t offset, int64_t size, Codec codec);

  /// The header of the next page; none behind the last one.
  const std::optional<PageHeader>& header();

  /// The next page; it has a header.
  Page load();
  void skip();

 private:
  void fill_window(int64_t size);
  bool parse_header();
  void unpack_snappy(uint8_t* out, size_t size);
  Bytes read_page(Buffer& memory, size_t& memory_size, bool may_be_in_window);

  files::SourceHandle source_;
  int64_t position_, end_;
  Codec codec_;
  std::optional<PageHeader> header_;
  // Some bytes of the source, in which headers and small pages are.
  Buffer window_;
  int64_t window_capacity_ = 0, window_begin_ = 0, window_end_ = 0;
  // Memory for compressed pages that are larger.
  Buffer packed_;
  size_t packed_capacity_ = 0;
};

}  // namespace daliesque::parquet
