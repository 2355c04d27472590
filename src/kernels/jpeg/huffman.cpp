// SPDX-License-Identifier: Apache-2.0
#include "jpeg/huffman.h"

#include <algorithm>
#include <cstring>

namespace daliesque::jpeg {
namespace {

constexpr int kMaxFirst = 31;  // six signed bits

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

/// An AC entry; the fields of two add up.
uint32_t pack(int length, int zeros, int first, int size, int advance) {
  return static_cast<uint32_t>(length) | static_cast<uint32_t>(zeros) << 6 |
         (static_cast<uint32_t>(first) & 63) << 10 | static_cast<uint32_t>(size) << 16 |
         static_cast<uint32_t>(advance) << 24;
}

uint32_t pack_symbol(int length, int symbol) {
  const int size = symbol & 15;
  if (size > kMaxValueBits) return pack(0, 0, 0, 0, kUnresolved);
  return pack(length + size, 0, 0, size, advance_of_symbol(symbol));
}

/// Tables for what follows a symbol: that for indices of n bits begins at 1 << n. Zero: no code.
using Tails = uint32_t[kAcEntries];

void build_tails(const HuffmanSpec& spec, Tails tails) {
  std::memset(tails, 0, sizeof(Tails));
  for (int bits = 1; bits < kAcIndexBits; ++bits) {
    for_each_short_code(spec, bits, [&](int start, int count, int length, int symbol) {
      if ((symbol & 15) > kMaxValueBits) return;
      std::fill_n(tails + (1 << bits) + start, count, pack_symbol(length, symbol));
    });
  }
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
  table->has_skips = false;
  Tails tails;
  build_tails(spec, tails);
  std::fill_n(table->entries, kAcEntries, pack(0, 0, 0, 0, kUnresolved));
  for_each_short_code(spec, kAcIndexBits, [&](int start, int count, int length, int symbol) {
    const int size = symbol & 15;
    const int advance = advance_of_symbol(symbol);
    const int rest = kAcIndexBits - length - size;
    const uint32_t single = pack_symbol(length, symbol);
    uint32_t* out = table->entries + start;
    if (advance == kEndOfBlock || rest <= 0 || (1 << size) - 1 > kMaxFirst) {
      std::fill_n(out, count, single);
      return;
    }
    const uint32_t* const tail = tails + (1 << rest);
    for (int bits = 0; bits < 1 << size; ++bits) {
      const uint32_t first = pack(length + size, advance - 1, extend(bits, size), 0, advance);
      for (int i = 0; i < 1 << rest; ++i) out[i] = tail[i] == 0 ? single : first + tail[i];
      out += 1 << rest;
    }
  });
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

void build_skips(const HuffmanSpec& spec, AcTable* table) {
  // A block's index stays below kEndOfBlock if an entry moves it no further than this.
  constexpr uint32_t kMaxAdvance = 64;
  // The table for indices of n bits begins at 1 << n. A symbol leaves fewer bits, whose table holds
  // what follows it.
  uint16_t tables[2 * kSkipEntries] = {};
  for (int index_bits = 1; index_bits <= kSkipIndexBits; ++index_bits) {
    for_each_short_code(spec, index_bits, [&](int start, int count, int length, int symbol) {
      const int size = symbol & 15;
      if (size > kMaxSkippedValueBits) return;
      const int advance = advance_of_symbol(symbol);
      const int rest = index_bits - length - size;
      const auto single = static_cast<uint16_t>((length + size) | advance << 8);
      uint16_t* const out = tables + (1 << index_bits) + start;
      if (advance == kEndOfBlock || rest <= 0) {
        std::fill_n(out, count, single);
        return;
      }
      const uint16_t* const tail = tables + (1 << rest);
      for (int i = 0; i < 1 << rest; ++i) {
        const auto both = static_cast<uint16_t>(tail[i] + single);
        const bool fits = tail[i] != 0 && (both >> 8 & (kEndOfBlock - 1)) <= kMaxAdvance;
        out[i] = fits ? both : single;
      }
      for (int i = 1; i < 1 << size; ++i) std::copy_n(out, 1 << rest, out + (i << rest));
    });
  }
  for (int i = 0; i < kSkipEntries; ++i) {
    const uint16_t entry = tables[kSkipEntries + i];
    table->skips[i] = entry == 0 ? kUnresolved << 8 : entry;
  }
  table->has_skips = true;
}

}  // namespace daliesque::jpeg
