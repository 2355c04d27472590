// SPDX-License-Identifier: Apache-2.0
#include "jpeg/huffman.h"

#include <algorithm>
#include <cstring>

namespace daliesque::jpeg {
namespace {

constexpr int kMaxPackedValue = 127;  // eight signed bits
constexpr int kIndexMask = kAcEntries - 1;

bool build_code_book(const HuffmanSpec& spec, CodeBook* book) {
  const uint8_t* const counts = spec.bytes;
  std::memset(book->symbols, 0, sizeof book->symbols);
  std::memcpy(book->symbols, spec.bytes + 16, spec.symbols);
  uint32_t code = 0;
  int symbol = 0;
  book->limit[0] = 0;
  book->offset[0] = 0;
  for (int length = 1; length <= 16; ++length) {
    book->offset[length] = symbol - static_cast<int32_t>(code);
    code += counts[length - 1];
    symbol += counts[length - 1];
    if (code > (1u << length)) return false;
    book->limit[length] = code << (16 - length);
    code <<= 1;
  }
  return true;
}

/// Calls `fill(first, count, length, symbol)` for each code of up to `index_bits` bits,
/// where the table indices [first, first + count) start with the code.
template <typename Fill>
void for_each_short_code(const HuffmanSpec& spec, int index_bits, const Fill& fill) {
  const uint8_t* symbol = spec.bytes + 16;
  int first = 0;
  for (int length = 1; length <= index_bits; ++length) {
    const int count = 1 << (index_bits - length);
    for (int i = 0; i < spec.bytes[length - 1]; ++i) {
      fill(first, count, length, *symbol++);
      first += count;
    }
  }
}

/// The signed value that `size` bits stand for (ITU-T T.81, table F.1).
int extend(int bits, int size) {
  return size > 0 && bits < 1 << (size - 1) ? bits - (1 << size) + 1 : bits;
}

/// How far a symbol moves the coefficient index.
int advance_of_symbol(int symbol) {
  const bool end_of_block = (symbol & 15) == 0 && symbol >> 4 != 15;
  return end_of_block ? kEndOfBlock : (symbol >> 4) + 1;
}

uint32_t pack(int zeros, int advance, int first, int last) {
  return static_cast<uint32_t>(zeros) | static_cast<uint32_t>(advance) << 8 |
         (static_cast<uint32_t>(first) & 255) << 16 | static_cast<uint32_t>(last) << 24;
}

int advance_of(uint32_t entry) { return entry >> 8 & 255; }
int last_of(uint32_t entry) { return static_cast<int32_t>(entry) >> 24; }

struct Singles {
  uint8_t lengths[kAcEntries];
  uint32_t entries[kAcEntries];
};

/// Entries of one symbol each.
void fill_singles(const HuffmanSpec& spec, Singles* out) {
  std::memset(out->lengths, 0, sizeof out->lengths);
  for (uint32_t& entry : out->entries) entry = pack(0, kUnresolved, 0, 0);
  for_each_short_code(spec, kAcIndexBits, [&](int start, int count, int length, int symbol) {
    const int size = symbol & 15;
    const int value_shift = kAcIndexBits - length - size;
    if (value_shift < 0 || (1 << size) - 1 > kMaxPackedValue) {
      std::fill_n(out->entries + start, count, pack(0, kUnresolved, symbol, length));
      return;
    }
    std::fill_n(out->lengths + start, count, static_cast<uint8_t>(length + size));
    for (int bits = 0; bits < 1 << size; ++bits) {
      std::fill_n(out->entries + start + (bits << value_shift), 1 << value_shift,
                  pack(0, advance_of_symbol(symbol), 0, extend(bits, size)));
    }
  });
}

}  // namespace

bool build_dc_table(const HuffmanSpec& spec, DcTable* table) {
  if (!build_code_book(spec, &table->book)) return false;
  for (int i = 0; i < spec.symbols; ++i) {
    if (spec.bytes[16 + i] > 15) return false;
  }
  std::memset(table->entries, 0, sizeof table->entries);
  for_each_short_code(spec, kDcIndexBits, [&](int start, int count, int length, int size) {
    const int entry = (length + size) | length << 6 | size << 10;
    for (int i = 0; i < count; ++i) table->entries[start + i] = static_cast<uint16_t>(entry);
  });
  return true;
}

bool build_ac_table(const HuffmanSpec& spec, AcTable* table) {
  if (!build_code_book(spec, &table->book)) return false;
  table->skip.built = false;
  Singles single;
  fill_singles(spec, &single);
  for (int i = 0; i < kAcEntries; ++i) {
    const uint32_t first = single.entries[i];
    const int length = single.lengths[i];
    const int next = i << length & kIndexMask;
    const uint32_t second = single.entries[next];
    const int both = length + single.lengths[next];
    const bool join = length != 0 && single.lengths[next] != 0 && both <= kAcIndexBits &&
                      advance_of(first) < kEndOfBlock;
    table->entries[i] = join ? pack(advance_of(first) - 1, advance_of(first) + advance_of(second),
                                    last_of(first), last_of(second))
                             : first;
    table->lengths[i] = static_cast<uint8_t>(join ? both : length);
  }
  return true;
}

bool build_band_table(const HuffmanSpec& spec, BandTable* table) {
  if (!build_code_book(spec, &table->book)) return false;
  std::memset(table->entries, 0, sizeof table->entries);
  for_each_short_code(spec, kBandIndexBits, [&](int start, int, int length, int symbol) {
    const int zeros = symbol >> 4;
    const bool ends = (symbol & 15) == 0 && zeros != 15;
    const int size = ends ? zeros : symbol & 15;
    const int value_shift = kBandIndexBits - length - size;
    if (value_shift < 0) return;
    for (int bits = 0; bits < 1 << size; ++bits) {
      const int value = ends ? (1 << size) + bits : extend(bits, size);
      const auto entry = static_cast<uint32_t>((ends ? kEndOfBand : zeros) << 8 | (length + size)) |
                         static_cast<uint32_t>(value) << 16;
      std::fill_n(table->entries + start + (bits << value_shift), 1 << value_shift, entry);
    }
  });
  return true;
}

void build_skip_table(const HuffmanSpec& spec, SkipTable* table) {
  // A block's index stays below kEndOfBlock if an entry moves it no further than this.
  constexpr int kMaxAdvance = 64;
  uint8_t code_lengths[kAcEntries] = {};
  uint8_t symbols[kAcEntries] = {};
  for_each_short_code(spec, kAcIndexBits, [&](int start, int count, int length, int symbol) {
    std::fill_n(code_lengths + start, count, static_cast<uint8_t>(length));
    std::fill_n(symbols + start, count, static_cast<uint8_t>(symbol));
  });
  for (int i = 0; i < kAcEntries; ++i) {
    int length = 0;
    int advance = 0;
    while (length < kAcIndexBits && advance < kMaxAdvance) {
      const int rest = i << length & kIndexMask;
      const int code = code_lengths[rest];
      const int next_length = length + code + (symbols[rest] & 15);
      const int next_advance = advance + advance_of_symbol(symbols[rest]);
      if (code == 0 || length + code > kAcIndexBits || next_length > kMaxSkipLength) break;
      if (next_advance > kMaxAdvance && next_advance < kEndOfBlock) break;
      length = next_length;
      advance = next_advance;
    }
    table->lengths[i] = static_cast<uint8_t>(length);
    table->advances[i] = static_cast<uint8_t>(length != 0 ? advance : kUnresolved);
  }
  table->built = true;
}

}  // namespace daliesque::jpeg
