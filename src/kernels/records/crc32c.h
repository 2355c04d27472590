// SPDX-License-Identifier: Apache-2.0
// The checksum of TFRecord files.
#pragma once

#include <cstddef>
#include <cstdint>

namespace daliesque::records {

/// CRC-32C (Castagnoli) of some bytes, by the processor's instruction where it has one.
uint32_t crc32c(const void* data, size_t size);

/// The same by tables alone; for tests.
uint32_t crc32c_portable(const void* data, size_t size);

/// The form in which TFRecord files store checksums.
constexpr uint32_t masked_crc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace daliesque::records
