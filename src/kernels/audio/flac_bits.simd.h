// SPDX-License-Identifier: Apache-2.0
// Bits of FLAC files, for all builds.
#pragma once

#include "audio/flac_loops.h"

namespace daliesque::audio {

/// Fills the cache: then it has at least 56 bits. Bits that do not count may be in it already;
/// they are those that come next.
[[gnu::always_inline]] static inline void flac_refill(FlacBits& bits) {
  if (bits.end - bits.at >= 8) {
    uint64_t word;
    __builtin_memcpy(&word, bits.at, 8);
    bits.cache |= __builtin_bswap64(word) >> bits.left;
    bits.at += (63 - bits.left) >> 3;
    bits.left |= 56;
    return;
  }
  while (bits.left <= 56) {
    if (bits.at < bits.end) {
      bits.cache |= static_cast<uint64_t>(*bits.at++) << (56 - bits.left);
    } else {
      bits.beyond++;
    }
    bits.left += 8;
  }
}

/// Drops bits, fewer than 64.
[[gnu::always_inline]] static inline void flac_skip(FlacBits& bits, int count) {
  bits.cache <<= count;
  bits.left -= count;
}

}  // namespace daliesque::audio
