// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "parquet/cursor.h"

namespace daliesque::parquet {

/// So many bytes behind the output may be written to.
constexpr size_t kSnappySlack = 32;

/// Decompresses a block of Snappy's format, which must hold exactly `size` bytes. Throws Undecoded.
void decompress_snappy(Bytes block, uint8_t* out, size_t size);

}  // namespace daliesque::parquet
