// SPDX-License-Identifier: Apache-2.0
#include "jpeg_huffman.h"

#include <cstring>

namespace daliesque::jpeg {
namespace {

constexpr int kMaxPackedValue = 127;  // eight signed bits
constexpr int kMaxPackedZeros = 3;    // two bits

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

/// Calls `fill(first, count, bits, length, symbol)` for each code of up to `index_bits` bits,
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

uint32_t pack(int length, int zeros, int advance, int first, int last) {
  return static_cast<uint32_t>(length) | static_cast<uint32_t>(zeros) << 6 |
         static_cast<uint32_t>(advance) << 8 | (static_cast<uint32_t>(first) & 255) << 16 |
         static_cast<uint32_t>(last) << 24;
}

int length_of(uint32_t entry) { return entry & 63; }
int advance_of(uint32_t entry) { return entry >> 8 & 255; }
int last_of(uint32_t entry) { return static_cast<int32_t>(entry) >> 24; }

/// Entries of one symbol each.
void fill_single_symbols(const HuffmanSpec& spec, uint32_t* entries) {
  for (int i = 0; i < 1 << kAcIndexBits; ++i) entries[i] = pack(0, 0, kUnresolved, 0, 0);
  for_each_short_code(spec, kAcIndexBits, [&](int start, int count, int length, int symbol) {
    const int zeros = symbol >> 4;
    const int size = symbol & 15;
    const int value_shift = kAcIndexBits - length - size;
    if (value_shift < 0 || (1 << size) - 1 > kMaxPackedValue) {
      const uint32_t entry = pack(0, 0, kUnresolved, symbol, length);
      for (int i = 0; i < count; ++i) entries[start + i] = entry;
      return;
    }
    const bool end_of_block = size == 0 && zeros != 15;
    const int advance = end_of_block ? kEndOfBlock : zeros + 1;
    for (int bits = 0; bits < 1 << size; ++bits) {
      const uint32_t entry = pack(length + size, 0, advance, 0, extend(bits, size));
      uint32_t* const run = entries + start + (bits << value_shift);
      for (int i = 0; i < 1 << value_shift; ++i) run[i] = entry;
    }
  });
}

/// True if `second` can follow `first` in the same entry.
bool can_join(uint32_t first, uint32_t second) {
  return length_of(first) != 0 && length_of(second) != 0 &&
         length_of(first) + length_of(second) <= kAcIndexBits &&
         advance_of(first) <= kMaxPackedZeros + 1;
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
  uint32_t single[1 << kAcIndexBits];
  fill_single_symbols(spec, single);
  constexpr int kMask = (1 << kAcIndexBits) - 1;
  for (int i = 0; i <= kMask; ++i) {
    const uint32_t first = single[i];
    const uint32_t second = single[i << length_of(first) & kMask];
    table->entries[i] =
        can_join(first, second)
            ? pack(length_of(first) + length_of(second), advance_of(first) - 1,
                   advance_of(first) + advance_of(second), last_of(first), last_of(second))
            : first;
  }
  return true;
}

}  // namespace daliesque::jpeg
