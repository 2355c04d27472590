// SPDX-License-Identifier: Apache-2.0
// Checksums of 32 bits by tables, for processors without an instruction for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace daliesque {

using CrcTables = std::array<std::array<uint32_t, 256>, 8>;

/// tables[k][b]: what byte b followed by k zero bytes does to the checksum. The polynomial has its
/// bits reversed.
constexpr CrcTables make_crc_tables(uint32_t polynomial) {
  CrcTables tables{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? polynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; k++) {
    for (size_t byte = 0; byte < 256; byte++) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

/// Goes on with a checksum.
inline uint32_t update_crc(const CrcTables& tables, uint32_t crc, const uint8_t* data,
                           size_t size) {
  for (; size >= 8; data += 8, size -= 8) {
    // Byte by byte, so that the order of bytes in a word does not matter.
    const uint32_t low = crc ^ (static_cast<uint32_t>(data[0]) | data[1] << 8 | data[2] << 16 |
                                static_cast<uint32_t>(data[3]) << 24);
    crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
          tables[4][low >> 24] ^ tables[3][data[4]] ^ tables[2][data[5]] ^ tables[1][data[6]] ^
          tables[0][data[7]];
  }
  for (; size > 0; data++, size--) crc = (crc >> 8) ^ tables[0][(crc ^ *data) & 0xff];
  return crc;
}

}  // namespace daliesque
