// SPDX-License-Identifier: Apache-2.0
#include "records/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
#define DALIESQUE_CRC_INSTRUCTION 1
#endif

namespace daliesque::records {

namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // bits reversed

using Table = std::array<uint32_t, 256>;

/// tables[k][b]: what byte b followed by k zero bytes does to the checksum.
constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? kPolynomial : 0);
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

constexpr std::array<Table, 8> kTables = make_tables();

uint64_t load(const uint8_t* data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof(word));
  return word;
}

uint32_t update_portable(uint32_t crc, const uint8_t* data, size_t size) {
  for (; size >= 8; data += 8, size -= 8) {
    // Byte by byte, so that the order of bytes in a word does not matter.
    const uint32_t low = crc ^ (static_cast<uint32_t>(data[0]) | data[1] << 8 | data[2] << 16 |
                                static_cast<uint32_t>(data[3]) << 24);
    crc = kTables[7][low & 0xff] ^ kTables[6][low >> 8 & 0xff] ^ kTables[5][low >> 16 & 0xff] ^
          kTables[4][low >> 24] ^ kTables[3][data[4]] ^ kTables[2][data[5]] ^ kTables[1][data[6]] ^
          kTables[0][data[7]];
  }
  for (; size > 0; data++, size--) crc = (crc >> 8) ^ kTables[0][(crc ^ *data) & 0xff];
  return crc;
}

#ifdef DALIESQUE_CRC_INSTRUCTION

// The instruction takes three cycles but one can begin in each, so three lanes run side by side.
constexpr size_t kLane = 1024;

/// What kLane zero bytes do to a checksum, by its four bytes.
constexpr std::array<Table, 4> make_lane_tables() {
  std::array<Table, 4> tables{};
  std::array<uint32_t, 32> bits{};
  for (size_t bit = 0; bit < 32; bit++) {
    uint32_t crc = 1u << bit;
    for (size_t k = 0; k < kLane; k++) crc = (crc >> 8) ^ kTables[0][crc & 0xff];
    bits[bit] = crc;
  }
  for (size_t part = 0; part < 4; part++) {
    for (size_t byte = 0; byte < 256; byte++) {
      for (size_t bit = 0; bit < 8; bit++) {
        if (byte >> bit & 1) tables[part][byte] ^= bits[8 * part + bit];
      }
    }
  }
  return tables;
}

const std::array<Table, 4>& lane_tables() {
  static const std::array<Table, 4> tables = make_lane_tables();
  return tables;
}

__attribute__((target("sse4.2"))) uint32_t update_fast(uint32_t crc, const uint8_t* data,
                                                       size_t size) {
  uint64_t first = crc;
  const auto& tables = lane_tables();
  const auto skip_lane = [&](uint64_t value) {
    return tables[0][value & 0xff] ^ tables[1][value >> 8 & 0xff] ^ tables[2][value >> 16 & 0xff] ^
           tables[3][value >> 24 & 0xff];
  };
  for (; size >= 3 * kLane; data += 3 * kLane, size -= 3 * kLane) {
    uint64_t second = 0, third = 0;
    for (size_t k = 0; k < kLane; k += 8) {
      first = _mm_crc32_u64(first, load(data + k));
      second = _mm_crc32_u64(second, load(data + kLane + k));
      third = _mm_crc32_u64(third, load(data + 2 * kLane + k));
    }
    first = skip_lane(skip_lane(first) ^ second) ^ third;
  }
  for (; size >= 8; data += 8, size -= 8) first = _mm_crc32_u64(first, load(data));
  auto last = static_cast<uint32_t>(first);
  for (; size > 0; data++, size--) last = _mm_crc32_u8(last, *data);
  return last;
}

bool has_instruction() {
  static const bool present = [] {
    __builtin_cpu_init();
    return static_cast<bool>(__builtin_cpu_supports("sse4.2"));
  }();
  return present;
}

#endif

}  // namespace

uint32_t crc32c_portable(const void* data, size_t size) {
  return ~update_portable(~0u, static_cast<const uint8_t*>(data), size);
}

uint32_t crc32c(const void* data, size_t size) {
#ifdef DALIESQUE_CRC_INSTRUCTION
  if (has_instruction()) return ~update_fast(~0u, static_cast<const uint8_t*>(data), size);
#endif
  return crc32c_portable(data, size);
}

}  // namespace daliesque::records
