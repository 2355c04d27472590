// SPDX-License-Identifier: Apache-2.0
// What stands in front of a page.
#pragma once

#include <cstdint>

#include "parquet/cursor.h"

namespace daliesque::parquet {

enum class PageKind { data = 0, index = 1, dictionary = 2, data_v2 = 3 };

enum class Encoding { plain = 0, plain_dictionary = 2, rle = 3, rle_dictionary = 8 };

struct PageHeader {
  PageKind kind = PageKind::index;
  int64_t unpacked_size = -1, packed_size = -1;
  int64_t values = -1;
  Encoding encoding = Encoding::plain;
  Encoding definition_encoding = Encoding::rle, repetition_encoding = Encoding::rle;
  /// Of pages of kind `data_v2`: the bytes of the levels, which are never compressed.
  int64_t definition_size = 0, repetition_size = 0;
  bool is_compressed = true;
};

/// Takes a header from the front. Throws CutShort if it goes on behind the last byte, or Undecoded.
/// Sizes and the number of values are not negative, save values of an index.
PageHeader read_page_header(Cursor& cursor);

}  // namespace daliesque::parquet
