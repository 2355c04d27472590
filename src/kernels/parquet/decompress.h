// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "parquet/cursor.h"

namespace daliesque::parquet {

enum class Codec { none, snappy, gzip };

/// So many bytes behind the output may be written to.
constexpr size_t kDecompressSlack = 384;

/// Decompresses a page of exactly `size` bytes. Throws Undecoded.
void decompress(Codec codec, Bytes packed, uint8_t* out, size_t size);

}  // namespace daliesque::parquet
