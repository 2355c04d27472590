// SPDX-License-Identifier: Apache-2.0
#include "codecs/inflate.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "codecs/inflate_loops.h"
#include "core/simd.h"

namespace daliesque::codecs {

namespace {

using namespace inflate_entry;

constexpr int kLongestCode = 15;
constexpr size_t kMostLiterals = 286, kMostDistances = 30, kLengthCodes = 19;
constexpr size_t kEndOfBlock = 256;
/// Streams with fewer bytes left are expanded faster than a large table is filled.
constexpr ptrdiff_t kSmallStream = 2048;
constexpr int kSmallTableBits = 9;

constexpr uint16_t kLengthBases[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                     15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                     67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr uint8_t kLengthExtra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                    2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

uint32_t literal_entry(size_t symbol) {
  if (symbol < kEndOfBlock) return kLiteral | static_cast<uint32_t>(symbol) << 16;
  if (symbol == kEndOfBlock) return kSpecial;
  if (symbol >= kMostLiterals) return kSpecial | kInvalid;
  const size_t k = symbol - kEndOfBlock - 1;
  return uint32_t{kLengthBases[k]} << 16 | kLengthExtra[k];
}

uint32_t distance_entry(size_t symbol) {
  if (symbol >= kMostDistances) return kSpecial | kInvalid;
  if (symbol < 2) return static_cast<uint32_t>(symbol + 1) << 16;
  const auto extra = static_cast<uint32_t>(symbol / 2 - 1);
  const uint32_t base = ((2 + static_cast<uint32_t>(symbol % 2)) << extra) + 1;
  return base << 16 | extra;
}

uint32_t plain_entry(size_t symbol) { return static_cast<uint32_t>(symbol) << 16; }

/// What entries are made of: those without the length of their code.
template <size_t N>
struct EntryParts {
  uint32_t entry[N];
  explicit EntryParts(uint32_t (*make)(size_t)) {
    for (size_t symbol = 0; symbol < N; symbol++) entry[symbol] = make(symbol);
  }
};

const uint32_t* literal_parts() {
  static const EntryParts<288> parts(literal_entry);
  return parts.entry;
}

const uint32_t* distance_parts() {
  static const EntryParts<32> parts(distance_entry);
  return parts.entry;
}

const uint32_t* plain_parts() {
  static const EntryParts<kLengthCodes> parts(plain_entry);
  return parts.entry;
}

/// The entry for a code of `length` bits, or for what is left of it in a subtable.
uint32_t with_length(uint32_t part, uint32_t length) { return part + (length << 8 | length); }

/// Fills a table for the codes of given lengths, 0 for symbols without one.
class TableBuilder {
 public:
  template <size_t N>
  TableBuilder(uint32_t (&table)[N], const uint32_t* parts)
      : table_(table), capacity_(N), parts_(parts) {}

  /// Returns the number of bits that index the table, at most `most_bits`, or 0 if the lengths
  /// make no code. A code with one symbol, or none, may leave bits unused if `may_be_incomplete`.
  int build(const uint8_t* lengths, size_t count, int most_bits, bool may_be_incomplete) {
    sort_symbols(lengths, count);
    int longest = kLongestCode;
    while (longest > 0 && counts_[longest] == 0) longest--;
    int32_t unused = 1;
    for (int length = 1; length <= kLongestCode; length++) {
      unused = 2 * unused - counts_[length];
      if (unused < 0) return 0;
    }
    if (unused > 0) {
      if (!may_be_incomplete || longest > 1) return 0;
      table_[0] = table_[1] = with_length(kSpecial | kInvalid, 1);
      if (longest == 1) table_[0] = with_length(parts_[symbols_[0]], 1);
      return 1;
    }
    bits_ = std::min(longest, most_bits);
    fill_table();
    return longest > bits_ && !fill_subtables() ? 0 : bits_;
  }

  /// Lets each index that holds two literals give both.
  void join_pairs() {
    constexpr uint32_t kByte = 0xff0000;
    for (uint32_t k = 1u << bits_; k-- > 0;) {
      // An index with the first code shifted out is lower, so its entry is still a single one.
      const uint32_t first = table_[k], second = table_[k >> (first & kBitsMask)];
      const uint32_t total = (first & kBitsMask) + (second & kBitsMask);
      const bool both = (first & second & kLiteral) != 0 && total <= static_cast<uint32_t>(bits_);
      table_[k] = both ? (first & kByte) | (second & kByte) << 8 | kLiteral | kPair | total : first;
    }
  }

 private:
  /// By the lengths of their codes.
  void sort_symbols(const uint8_t* lengths, size_t count) {
    for (size_t symbol = 0; symbol < count; symbol++) counts_[lengths[symbol]]++;
    counts_[0] = 0;
    int offsets[kLongestCode + 2] = {};
    for (int length = 1; length <= kLongestCode; length++) {
      offsets[length + 1] = offsets[length] + counts_[length];
    }
    for (size_t symbol = 0; symbol < count; symbol++) {
      if (lengths[symbol]) symbols_[offsets[lengths[symbol]]++] = static_cast<uint16_t>(symbol);
    }
  }

  /// The code after `code_`, of `length` bits, the first bit lowest.
  void advance(int length) {
    const uint32_t zeros = code_ ^ ((1u << length) - 1);
    if (zeros == 0) return;
    const uint32_t bit = std::bit_floor(zeros);
    code_ = (code_ & (bit - 1)) | bit;
  }

  /// Codes of up to `bits_` bits. A table for shorter ones, written twice, is one for longer ones.
  void fill_table() {
    size_t filled = 1;
    table_[0] = 0;
    for (int length = 1; length <= bits_; length++) {
      std::copy_n(table_, filled, table_ + filled);
      filled *= 2;
      for (int k = 0; k < counts_[length]; k++) {
        table_[code_] = with_length(parts_[symbols_[next_++]], static_cast<uint32_t>(length));
        advance(length);
      }
    }
  }

  /// Longer ones, grouped by their first bits.
  bool fill_subtables() {
    const uint32_t first_bits = (1u << bits_) - 1;
    size_t begin = size_t{1} << bits_;
    uint32_t group = ~0u;
    size_t size = 0;
    for (int length = bits_ + 1; length <= kLongestCode; length++) {
      for (int left = counts_[length]; left > 0; left--) {
        if ((code_ & first_bits) != group) {
          group = code_ & first_bits;
          begin += size;
          const int bits = subtable_bits(length, left);
          size = size_t{1} << bits;
          if (begin + size > capacity_) return false;
          table_[group] = static_cast<uint32_t>(begin) << 16 | kSpecial | kSubtable |
                          static_cast<uint32_t>(bits) << 8 | static_cast<uint32_t>(bits_);
        }
        const auto rest = static_cast<uint32_t>(length - bits_);
        const uint32_t entry = with_length(parts_[symbols_[next_++]], rest);
        for (size_t k = code_ >> bits_; k < size; k += size_t{1} << rest) table_[begin + k] = entry;
        advance(length);
      }
    }
    return true;
  }

  /// How many bits index a subtable that begins with one of `left` codes of `length` bits.
  int subtable_bits(int length, int left) const {
    int bits = length - bits_, used = left;
    while (used < 1 << bits) used = 2 * used + counts_[bits_ + ++bits];
    return bits;
  }

  uint32_t* table_;
  size_t capacity_;
  const uint32_t* parts_;
  int bits_ = 0;
  int counts_[kLongestCode + 1] = {};
  uint16_t symbols_[288];
  size_t next_ = 0;
  uint32_t code_ = 0;
};

/// The tables of blocks that do not bring their own.
const InflateTables& fixed_tables() {
  static const InflateTables tables = [] {
    InflateTables made;
    uint8_t lengths[288];
    std::fill_n(lengths, 144, uint8_t{8});
    std::fill_n(lengths + 144, 112, uint8_t{9});
    std::fill_n(lengths + 256, 24, uint8_t{7});
    std::fill_n(lengths + 280, 8, uint8_t{8});
    made.literal_bits =
        TableBuilder(made.literals, literal_parts()).build(lengths, 288, kSmallTableBits, false);
    std::fill_n(lengths, 32, uint8_t{5});
    made.distance_bits = TableBuilder(made.distances, distance_parts())
                             .build(lengths, 32, InflateTables::kMostDistanceBits, false);
    return made;
  }();
  return tables;
}

/// Makes sure that there are at least 48 bits.
void refill(InflateBits* state) {
  for (; state->count < 48; state->count += 8) {
    if (state->next < state->end) {
      state->bits |= uint64_t{*state->next++} << state->count;
    } else {
      state->surplus += 8;
    }
  }
}

uint32_t take(InflateBits* state, uint32_t count) {
  const auto value = static_cast<uint32_t>(state->bits & ((uint64_t{1} << count) - 1));
  state->bits >>= count;
  state->count -= count;
  return value;
}

const InflateLoops& loops() { return DALIESQUE_CHOOSE(inflate_loops); }

}  // namespace

const char* describe(InflateFault fault) {
  switch (fault) {
    case InflateFault::kTruncated:
      return "the compressed data end too early";
    case InflateFault::kHeader:
      return "the compressed data do not begin like a zlib stream";
    case InflateFault::kBlockType:
      return "the compressed data have a block of an unknown kind";
    case InflateFault::kStoredLength:
      return "the compressed data have a stored block of contradictory length";
    case InflateFault::kCodeLengths:
      return "the compressed data have lengths that make no code";
    case InflateFault::kCode:
      return "the compressed data have bits that are no code";
    case InflateFault::kDistance:
      return "the compressed data refer to what comes before their beginning";
    case InflateFault::kChecksum:
      return "the checksum of the compressed data is wrong";
    default:
      return "";
  }
}

void Inflater::start_raw(Bytes blocks) {
  bits_ = {};
  begin_ = bits_.next = blocks.data();
  bits_.end = blocks.data() + blocks.size();
  state_ = State::kBlock;
  last_block_ = false;
}

InflateFault Inflater::start(Bytes stream) {
  start_raw(stream);
  if (stream.size() < 2) return InflateFault::kTruncated;
  refill(&bits_);
  const uint32_t first = take(&bits_, 8), second = take(&bits_, 8);
  // Compression of kind 8, a window of up to 32 KiB, a sum that fits, no dictionary.
  const bool known = (first & 15) == 8 && first >> 4 <= 7;
  if (!known || (first * 256 + second) % 31 != 0 || (second & 32) != 0) {
    return InflateFault::kHeader;
  }
  return InflateFault::kNone;
}

InflateFault Inflater::begin_block() {
  refill(&bits_);
  last_block_ = take(&bits_, 1) != 0;
  const uint32_t kind = take(&bits_, 2);
  if (kind == 0) {
    take(&bits_, bits_.count & 7);
    refill(&bits_);
    const uint32_t length = take(&bits_, 16), complement = take(&bits_, 16);
    if (overrun()) return InflateFault::kTruncated;
    if (length != (complement ^ 0xffff)) return InflateFault::kStoredLength;
    // Bytes that were taken too early go back.
    bits_.next -= (bits_.count - bits_.surplus) / 8;
    bits_.bits = bits_.count = bits_.surplus = 0;
    stored_left_ = length;
    state_ = State::kStored;
    return InflateFault::kNone;
  }
  if (kind == 3) return overrun() ? InflateFault::kTruncated : InflateFault::kBlockType;
  state_ = State::kCodes;
  if (kind == 1) {
    tables_ = &fixed_tables();
    return InflateFault::kNone;
  }
  tables_ = &own_;
  const InflateFault fault = read_code_lengths();
  return overrun() ? InflateFault::kTruncated : fault;
}

InflateFault Inflater::read_code_lengths() {
  constexpr uint8_t kOrder[kLengthCodes] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
  constexpr int kLengthTableBits = 7;
  const size_t literals = 257 + take(&bits_, 5), distances = 1 + take(&bits_, 5);
  const size_t length_codes = 4 + take(&bits_, 4);
  if (literals > kMostLiterals || distances > kMostDistances) return InflateFault::kCodeLengths;
  uint8_t lengths[320] = {};
  for (size_t k = 0; k < length_codes; k++) {
    refill(&bits_);
    lengths[kOrder[k]] = static_cast<uint8_t>(take(&bits_, 3));
  }
  uint32_t table[1 << kLengthTableBits];
  const int table_bits =
      TableBuilder(table, plain_parts()).build(lengths, kLengthCodes, kLengthTableBits, false);
  if (table_bits == 0) return InflateFault::kCodeLengths;
  std::fill_n(lengths, kLengthCodes, uint8_t{0});
  for (size_t k = 0; k < literals + distances;) {
    refill(&bits_);
    const uint32_t entry = table[bits_.bits & ((1u << table_bits) - 1)];
    take(&bits_, entry & kBitsMask);
    const uint32_t symbol = entry >> 16;
    if (symbol < 16) {
      lengths[k++] = static_cast<uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && k == 0) return InflateFault::kCodeLengths;
    const size_t count = symbol == 16   ? 3 + take(&bits_, 2)
                         : symbol == 17 ? 3 + take(&bits_, 3)
                                        : 11 + take(&bits_, 7);
    if (k + count > literals + distances) return InflateFault::kCodeLengths;
    std::fill_n(lengths + k, count, symbol == 16 ? lengths[k - 1] : uint8_t{0});
    k += count;
  }
  if (lengths[kEndOfBlock] == 0) return InflateFault::kCodeLengths;
  return build_tables(lengths, literals, distances);
}

InflateFault Inflater::build_tables(const uint8_t* lengths, size_t literals, size_t distances) {
  const bool small = bits_.end - bits_.next < kSmallStream;
  TableBuilder literal_builder(own_.literals, literal_parts());
  own_.literal_bits = literal_builder.build(
      lengths, literals, small ? kSmallTableBits : InflateTables::kMostLiteralBits, true);
  own_.distance_bits =
      TableBuilder(own_.distances, distance_parts())
          .build(lengths + literals, distances, InflateTables::kMostDistanceBits, true);
  if (own_.literal_bits == 0 || own_.distance_bits == 0) return InflateFault::kCodeLengths;
  if (!small && own_.literal_bits > 1) literal_builder.join_pairs();
  return InflateFault::kNone;
}

void Inflater::copy_stored(uint8_t** out, uint8_t* target) {
  const size_t count = std::min({stored_left_, static_cast<size_t>(target - *out),
                                 static_cast<size_t>(bits_.end - bits_.next)});
  std::memcpy(*out, bits_.next, count);
  *out += count;
  bits_.next += count;
  stored_left_ -= count;
}

InflateFault Inflater::run(const uint8_t* history, uint8_t** out, uint8_t* target) {
  while (*out < target && state_ != State::kEnded) {
    bool ended = false;
    InflateFault fault = InflateFault::kNone;
    if (state_ == State::kBlock) {
      fault = begin_block();
    } else if (state_ == State::kStored) {
      copy_stored(out, target);
      ended = stored_left_ == 0;
      if (!ended && bits_.next == bits_.end) fault = InflateFault::kTruncated;
    } else {
      fault = loops().expand(&bits_, *tables_, history, out, target, &ended);
      if (overrun()) fault = InflateFault::kTruncated;
    }
    if (fault != InflateFault::kNone) return fault;
    if (ended) state_ = last_block_ ? State::kEnded : State::kBlock;
  }
  return InflateFault::kNone;
}

InflateFault Inflater::read_checksum(uint32_t* checksum) {
  take(&bits_, bits_.count & 7);
  refill(&bits_);
  *checksum = 0;
  for (int k = 0; k < 4; k++) *checksum = *checksum << 8 | take(&bits_, 8);
  return overrun() ? InflateFault::kTruncated : InflateFault::kNone;
}

size_t Inflater::consumed() const {
  const auto taken = static_cast<size_t>(bits_.next - begin_);
  return taken - (bits_.count - std::min(bits_.count, bits_.surplus)) / 8;
}

uint32_t adler32(uint32_t adler, const uint8_t* data, size_t size) {
  constexpr uint32_t kModulus = 65521;
  uint32_t low = adler & 0xffff, high = adler >> 16;
  while (size > 0) {
    const size_t part = std::min(size, kAdlerBytes);
    loops().add_adler(&low, &high, data, part);
    low %= kModulus;
    high %= kModulus;
    data += part;
    size -= part;
  }
  return high << 16 | low;
}

}  // namespace daliesque::codecs
