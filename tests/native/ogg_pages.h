// SPDX-License-Identifier: Apache-2.0
// Pages of Ogg files, for tests of what reads them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mutations.h"

namespace daliesque::testing {

/// The checksum of a page, bit by bit.
template <class Bytes>
uint32_t ogg_checksum(const Bytes& bytes, size_t begin, size_t end) {
  uint32_t crc = 0;
  for (size_t k = begin; k < end; k++) {
    crc ^= static_cast<uint32_t>(static_cast<uint8_t>(bytes[k])) << 24;
    for (int bit = 0; bit < 8; bit++) crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7 : 0);
  }
  return crc;
}

template <class Bytes>
void put_checksum(Bytes& bytes, size_t begin, size_t end) {
  for (size_t k = 0; k < 4; k++) bytes[begin + 22 + k] = 0;
  const uint32_t crc = ogg_checksum(bytes, begin, end);
  for (size_t k = 0; k < 4; k++) {
    bytes[begin + 22 + k] = static_cast<typename Bytes::value_type>(crc >> (8 * k));
  }
}

/// Makes the checksums of pages fit again, so that changes get past the first check.
inline void repair_checksums(std::vector<uint8_t>& file) {
  for (size_t at = 0; at + 27 <= file.size() && file[at] == 'O';) {
    size_t end = at + 27 + file[at + 26];
    if (end > file.size()) return;
    for (size_t k = at + 27; k < at + 27 + file[at + 26]; k++) end += file[k];
    if (end > file.size()) return;
    put_checksum(file, at, end);
    at = end;
  }
}

/// A page of whole packets.
inline std::string ogg_page(int flags, int64_t granule, uint32_t number,
                            const std::vector<std::string>& packets) {
  std::string lacing, body;
  for (const std::string& packet : packets) {
    lacing += std::string(packet.size() / 255, '\xff') + static_cast<char>(packet.size() % 255);
    body += packet;
  }
  std::string page = std::string("OggS") + '\0' + static_cast<char>(flags);
  page += little(static_cast<uint64_t>(granule), 8) + little(7, 4) + little(number, 4);
  page += little(0, 4) + static_cast<char>(lacing.size()) + lacing + body;
  put_checksum(page, 0, page.size());
  return page;
}

}  // namespace daliesque::testing
