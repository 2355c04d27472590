// SPDX-License-Identifier: Apache-2.0
// Bits and Huffman codes of a scan, for the `.simd.cpp` files, which alone may include this.
#pragma once

#include <bit>
#include <cstring>

#include "jpeg/entropy.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::jpeg::DALIESQUE_ISA {

/// Tops up the buffer when less than one MCU is left. False if bits beyond the end were used.
bool fill(ScanReader* reader);

namespace {

using namespace daliesque::jpeg;

inline uint64_t load_big_endian(const uint8_t* p) {
  uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return std::endian::native == std::endian::little ? __builtin_bswap64(value) : value;
}

/// The part of a ScanReader that changes with every symbol, kept in registers.
struct Bits {
  uint64_t top;
  const uint8_t* next;
  uint32_t count;

  static constexpr int kAfterRefill = 56;

  /// Leaves at least kAfterRefill valid bits.
  [[gnu::always_inline]] inline void refill() {
    top |= load_big_endian(next) >> count;
    next += (63 - count) >> 3;
    count |= kAfterRefill;
  }

  [[gnu::always_inline]] inline void skip(uint32_t length) {
    top <<= length;
    count -= length;
  }

  /// Goes back `length` bits that were already shifted out.
  inline void rewind(uint32_t length) {
    const uint32_t behind = count + length;
    next -= (behind + 7) >> 3;
    const uint32_t skipped = -behind & 7;
    top = load_big_endian(next) << skipped;
    next += 7;
    count = 56 - skipped;
  }
};

/// Reads `size` bits (0 to 15) that follow the first `offset` bits as a signed value.
[[gnu::always_inline]] inline int32_t value_bits(uint64_t top, uint32_t offset, uint32_t size) {
  const uint64_t bits = top << offset;
  const int64_t negative = ~(static_cast<int64_t>(bits) >> 63);
  const auto magnitude = static_cast<int64_t>((bits ^ negative) >> 1 >> (63 - size));
  return static_cast<int32_t>((magnitude ^ negative) - negative);
}

/// Symbol of the code at the top of the bits, or -1; needs 16 valid bits.
[[gnu::noinline]] int find_symbol(uint64_t top, const CodeBook& book, uint32_t* length) {
  const auto prefix = static_cast<uint32_t>(top >> 48);
  // Limits grow with the length: the code has one bit more than the lengths whose limit is reached.
  uint32_t n = 1;
#ifdef __AVX2__
  const __m256i value = _mm256_set1_epi32(static_cast<int>(prefix));
  uint32_t beyond = 0;
  for (int half = 0; half < 2; ++half) {
    const auto* const limits = reinterpret_cast<const __m256i*>(book.limit + 1 + 8 * half);
    const __m256i is_beyond = _mm256_cmpgt_epi32(_mm256_loadu_si256(limits), value);
    const int lanes = _mm256_movemask_ps(_mm256_castsi256_ps(is_beyond));
    beyond |= static_cast<uint32_t>(lanes) << (8 * half);
  }
  n += static_cast<uint32_t>(std::countr_zero(beyond | 1u << 16));
#else
  while (n <= 16 && prefix >= book.limit[n]) ++n;
#endif
  if (n > 16) return -1;
  *length = n;
  return book.symbols[(prefix >> (16 - n)) + static_cast<uint32_t>(book.offset[n])];
}

/// How far a block has come: more to read, complete, or broken.
enum class Progress { kMore, kDone, kBadCode, kOverrun };

[[gnu::always_inline]] inline bool read_dc(Bits& bits, const DcTable& table, int32_t* difference) {
  const uint32_t entry = table.entries[bits.top >> (64 - kDcIndexBits)];
  bits.refill();
  uint32_t length = entry & 63;
  uint32_t code = entry >> 6 & 15;
  uint32_t size = entry >> 10;
  if (__builtin_expect(entry == 0, 0)) {
    uint32_t found = 0;
    const int symbol = find_symbol(bits.top, table.book, &found);
    if (symbol < 0) return false;
    code = found;
    size = symbol;
    length = code + size;
  }
  *difference = value_bits(bits.top, code, size);
  bits.skip(length);
  return true;
}

/// Unlike memset, never a call or a string instruction.
[[gnu::always_inline]] inline void clear(int16_t* block) {
#ifdef __AVX2__
  for (int i = 0; i < kBlockSize; i += 16) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(block + i), _mm256_setzero_si256());
  }
#else
  for (int i = 0; i < kBlockSize; ++i) block[i] = 0;
#endif
}

inline EntropyError failure(ScanReader* reader, Progress progress) {
  // A code that the end of the segment cuts off looks like a bad one.
  const bool cut_off = reader->ended && (reader->filled - reader->next) * 8 + reader->count < 16;
  if (cut_off || !fill(reader)) return EntropyError::kExhausted;
  return progress == Progress::kBadCode ? EntropyError::kBadCode : EntropyError::kOverrun;
}

/// Calls `read(bits, unit)` for the units from `begin` to `end` until one is broken. None may take
/// more than kMaxMcuBytes. `read` gets a reference to the number of the unit, and may move it on to
/// the last one that needs no more bits.
template <typename Read>
[[gnu::always_inline]] inline EntropyError read_units(ScanReader* reader, int begin, int end,
                                                      const Read& read) {
  Bits bits{reader->bits, reader->next, static_cast<uint32_t>(reader->count)};
  const auto save = [&] {
    reader->bits = bits.top;
    reader->next = bits.next;
    reader->count = static_cast<int>(bits.count);
  };
  for (int unit = begin; unit <= end; ++unit) {
    if (reader->filled - bits.next < kMaxMcuBytes) {
      save();
      if (!fill(reader)) return EntropyError::kExhausted;
      bits.next = reader->next;
      bits.refill();
    }
    if (unit == end) break;
    const Progress progress = read(bits, unit);
    if (progress != Progress::kDone) {
      save();
      return failure(reader, progress);
    }
  }
  save();
  return EntropyError::kNone;
}

}  // namespace
}  // namespace daliesque::jpeg::DALIESQUE_ISA
