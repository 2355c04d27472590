// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "jpeg/huffman.h"

namespace daliesque::jpeg {

constexpr int kMaxBlocksPerMcu = 10;

/// No MCU is longer: 31 bits (code and value) for each coefficient.
constexpr ptrdiff_t kMaxMcuBytes = kMaxBlocksPerMcu * kBlockSize * 31 / 8 + 1;

/// Entropy-coded data between two markers, freed of byte stuffing piece by piece.
///
/// Bits are taken from `bits`, most significant first; its top `count` bits are valid and the
/// following ones, if set, repeat what comes next. `next` is the byte after the valid bits, so
/// that a refill is one unaligned load.
struct ScanReader {
  static constexpr ptrdiff_t kCapacity = 8192;
  static constexpr ptrdiff_t kCopyStep = 32;  ///< bytes that copying may overshoot the capacity
  static constexpr ptrdiff_t kPadding = kMaxMcuBytes + 64;  ///< zeros at the end of the segment
  static constexpr ptrdiff_t kKept = 8;  ///< bytes before `next` that a fill preserves

  const uint8_t* segment = nullptr;  ///< first byte after the last marker
  const uint8_t* raw = nullptr;      ///< first byte not yet copied
  const uint8_t* raw_end = nullptr;  ///< end of the file
  bool ended = false;                ///< a marker or the end of the file is at `raw`

  uint64_t bits = 0;
  int count = 0;
  const uint8_t* next = nullptr;
  uint8_t* filled = nullptr;  ///< end of the copied bytes; zeros follow
  int64_t discarded = 0;      ///< copied bytes of this segment that left the buffer
  uint8_t buffer[kCapacity + kCopyStep + kPadding];

  /// Starts a new segment.
  void start(const uint8_t* segment_begin, const uint8_t* end);

  /// Whole bytes of the segment, without stuffing, that were used or begun.
  int64_t used_bytes() const { return discarded + (next - buffer) - kKept - (count >> 3); }

  /// Where in the file the reading stands.
  const uint8_t* raw_position() const;
};

enum class EntropyError : uint8_t {
  kNone,
  kBadCode,    ///< bits that are no code of the table
  kOverrun,    ///< more coefficients than a block has
  kExhausted,  ///< the segment ends inside an MCU
};

/// One block of an MCU.
struct BlockPlan {
  const DcTable* dc;
  const AcTable* ac;
  int component;  ///< index of the DC prediction
  int first;      ///< where the block of the first MCU goes, in blocks
  int step;       ///< distance to the same block of the next MCU, in blocks
  bool wanted;    ///< false: read over it
  bool only_dc;   ///< of a wanted block: read over the other coefficients
};

struct McuPlan {
  int blocks = 0;
  BlockPlan block[kMaxBlocksPerMcu];
};

}  // namespace daliesque::jpeg
