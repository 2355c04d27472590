// SPDX-License-Identifier: Apache-2.0
// Bits of Vorbis packets, for all builds.
#pragma once

#include "audio/vorbis_loops.h"

namespace daliesque::audio {

/// Fills the cache: then it has at least 56 bits, or all that are left. Bits that do not count may
/// be in it already; they are those that come next.
[[gnu::always_inline]] static inline void vorbis_refill(VorbisBits& bits) {
  if (bits.end - bits.at >= 8) {
    uint64_t word = 0;
    for (int k = 0; k < 8; k++) word |= static_cast<uint64_t>(bits.at[k]) << (8 * k);
    bits.cache |= word << bits.left;
    bits.at += (63 - bits.left) >> 3;
    bits.left |= 56;
    return;
  }
  while (bits.left <= 56 && bits.at < bits.end) {
    bits.cache |= static_cast<uint64_t>(*bits.at++) << bits.left;
    bits.left += 8;
  }
}

/// Drops bits, fewer than 64.
[[gnu::always_inline]] static inline void vorbis_skip(VorbisBits& bits, uint32_t count) {
  bits.cache >>= count;
  bits.left -= static_cast<int>(count);
}

/// Up to 32 bits; zeros after the end.
[[gnu::always_inline]] static inline uint32_t vorbis_number(VorbisBits& bits, uint32_t count) {
  vorbis_refill(bits);
  const auto value = static_cast<uint32_t>(bits.cache & ((uint64_t{1} << count) - 1));
  vorbis_skip(bits, count);
  return value;
}

/// The first bit last.
[[gnu::always_inline]] static inline uint32_t vorbis_reversed(uint32_t value) {
  value = (value & 0x55555555u) << 1 | (value >> 1 & 0x55555555u);
  value = (value & 0x33333333u) << 2 | (value >> 2 & 0x33333333u);
  value = (value & 0x0f0f0f0fu) << 4 | (value >> 4 & 0x0f0f0f0fu);
  return __builtin_bswap32(value);
}

/// The number of the entry whose word comes next, and drops that word. The cache must be full.
[[gnu::always_inline]] static inline uint32_t vorbis_entry(VorbisBits& bits,
                                                           const VorbisBook& book) {
  const uint32_t slot = book.table[bits.cache & ((uint64_t{1} << book.index_bits) - 1)];
  uint32_t number = slot >> 8, length = slot & 0xff;
  if (__builtin_expect(length == 0, 0)) {
    const uint32_t word = vorbis_reversed(static_cast<uint32_t>(bits.cache));
    const VorbisLongSpan span = book.spans[number];
    uint32_t low = span.begin, high = span.end;
    while (high - low > 1) {
      const uint32_t middle = (low + high) / 2;
      (book.long_codes[middle].bits <= word ? low : high) = middle;
    }
    number = book.long_codes[low].number;
    length = book.long_codes[low].length;
  }
  vorbis_skip(bits, length);
  return number;
}

}  // namespace daliesque::audio
