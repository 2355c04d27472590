// SPDX-License-Identifier: Apache-2.0
// The checksum of the chunks of a PNG.
#pragma once

#include <cstdint>
#include <span>

namespace daliesque::codecs {

/// CRC-32 of some bytes, by carry-less multiplication where the processor has it.
uint32_t crc32(std::span<const uint8_t> data);

}  // namespace daliesque::codecs
