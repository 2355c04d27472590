// SPDX-License-Identifier: Apache-2.0
// Expands streams of the format that zlib writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace daliesque::codecs {

using Bytes = std::span<const uint8_t>;

/// How far matches reach back.
constexpr size_t kInflateWindow = 32768;

/// What a code says: an entry of a table that is indexed with the next bits. Its lowest six bits
/// are the number of bits that it takes in all. Literals stand from bit 16 on, one or two of them.
/// There, lengths and distances have their base; the length of their code, after which come the
/// extra bits, is from bit 8 on.
namespace inflate_entry {
constexpr uint32_t kBitsMask = 63, kLengthMask = 31;
constexpr uint32_t kPair = 1u << 6;  ///< two literals
constexpr uint32_t kLiteral = 1u << 7;
constexpr uint32_t kInvalid = 1u << 13;
constexpr uint32_t kSubtable = 1u << 14;  ///< from bit 16 on its offset, from bit 8 on its bits
constexpr uint32_t kSpecial = 1u << 15;   ///< one of the last two, or the end of the block
}  // namespace inflate_entry

/// The tables of a block: indexed with `bits` bits, or by way of a subtable with more.
struct InflateTables {
  static constexpr int kMostLiteralBits = 11, kMostDistanceBits = 8;
  // No code for 288 or 32 symbols of up to 15 bits needs more; it is checked.
  static constexpr size_t kLiteralEntries = 2400, kDistanceEntries = 416;
  uint32_t literals[kLiteralEntries];
  uint32_t distances[kDistanceEntries];
  int literal_bits = 0, distance_bits = 0;
};

/// The next bits of a stream, the lowest first. Beyond its end come zeros, which are counted.
struct InflateBits {
  uint64_t bits = 0;
  uint32_t count = 0;    ///< valid bits
  uint32_t surplus = 0;  ///< of them, bits beyond the end; more than `count` if some were used
  const uint8_t* next = nullptr;
  const uint8_t* end = nullptr;
};

enum class InflateFault {
  kNone,
  kTruncated,
  kHeader,  ///< not a stream of this format, or one with a preset dictionary
  kBlockType,
  kStoredLength,
  kCodeLengths,  ///< they make no code
  kCode,         ///< bits that no code begins with
  kDistance,     ///< a match that begins before the data
  kChecksum,
};

/// What is wrong, as a clause.
const char* describe(InflateFault fault);

/// Expands one stream piece by piece.
class Inflater {
 public:
  /// `run` may write so many bytes more than it was asked for.
  static constexpr size_t kOvershoot = 258 + 64;

  /// Begins with a stream, which must stay where it is.
  InflateFault start(Bytes stream);
  /// The same for blocks without a header in front of them.
  void start_raw(Bytes blocks);

  /// Expands until at least `target` is reached or the stream ends. What was written before must
  /// be in [history, *out): at least its last `kInflateWindow` bytes. Moves `*out` on.
  InflateFault run(const uint8_t* history, uint8_t** out, uint8_t* target);

  /// Whether all data are out.
  bool ended() const { return state_ == State::kEnded; }

  /// The checksum that follows the data; `kTruncated` if it is missing.
  InflateFault read_checksum(uint32_t* checksum);

  /// How many bytes of the stream were used.
  size_t consumed() const;

 private:
  enum class State { kBlock, kStored, kCodes, kEnded };

  InflateFault begin_block();
  InflateFault read_code_lengths();
  InflateFault build_tables(const uint8_t* lengths, size_t literals, size_t distances);
  void copy_stored(uint8_t** out, uint8_t* target);
  bool overrun() const { return bits_.surplus > bits_.count; }

  InflateBits bits_;
  const uint8_t* begin_ = nullptr;
  State state_ = State::kEnded;
  bool last_block_ = false;
  size_t stored_left_ = 0;
  const InflateTables* tables_ = nullptr;
  InflateTables own_;
};

/// The checksum of zlib streams: continues from `adler`, which is 1 at first.
uint32_t adler32(uint32_t adler, const uint8_t* data, size_t size);

}  // namespace daliesque::codecs
