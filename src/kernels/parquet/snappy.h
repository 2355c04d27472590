// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "files/byte_source.h"
#include "parquet/cursor.h"

namespace daliesque::parquet {

/// So many bytes behind the output may be written to.
constexpr size_t kSnappySlack = 32;

/// A block: the bytes that are in memory, and where those are that follow, if any.
struct SnappyInput {
  Bytes known;
  const files::ByteSource* source = nullptr;
  int64_t offset = 0, left = 0;
};

/// Decompresses a block of Snappy's format, which must hold exactly `size` bytes. What could not be
/// compressed is read directly into the output. Throws Undecoded or files::ReadFailure.
void decompress_snappy(const SnappyInput& block, uint8_t* out, size_t size);

}  // namespace daliesque::parquet
