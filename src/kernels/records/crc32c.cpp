// SPDX-License-Identifier: Apache-2.0
#include "records/crc32c.h"

#include <array>
#include <cstring>

#include "core/crc.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
#define DALIESQUE_CRC_INSTRUCTION 1
#endif

namespace daliesque::records {

namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // bits reversed

using Table = CrcTables::value_type;

constexpr CrcTables kTables = make_crc_tables(kPolynomial);

uint64_t load(const uint8_t* data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof(word));
  return word;
}

uint32_t update_portable(uint32_t crc, const uint8_t* data, size_t size) {
  return update_crc(kTables, crc, data, size);
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
