// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "jpeg/header.h"

namespace daliesque::jpeg {

/// Canonical code: codes of each length are consecutive, and left-aligned they grow with length.
struct CodeBook {
  uint32_t limit[17];  ///< first 16-bit prefix beyond the codes of up to this length
  int32_t offset[17];  ///< symbol index = (prefix >> (16 - length)) + offset
  uint8_t symbols[256];
};

/// Differences of DC values. An entry says how to read one difference; zero: not resolved here.
///   bits 0-5  length of code and value together
///   bits 6-9  length of the code
///   bits 10-13  length of the value
constexpr int kDcIndexBits = 9;
struct DcTable {
  CodeBook book;
  uint16_t entries[1 << kDcIndexBits];
};

/// AC coefficients. An entry holds up to two, so that most look-ups resolve two symbols: the
/// latency of a look-up bounds the speed of the whole decoder. It has the value of the first; that
/// of the last is taken from the bits, which takes time that nothing waits for, so that an index of
/// few bits resolves nearly everything and the tables stay in the first-level cache.
///   bits 0-5  length of codes and values together; zero: not resolved here
///   bits 6-9  if there are two coefficients: zeros before the first
///   bits 10-15  if there are two coefficients (an end-of-block counts as one): the first, else 0
///   bits 16-23  length of the last value, whose bits are the last of the entry
///   bits 24-31  how far it moves the coefficient index: the last coefficient belongs at the index
///     before the new one. An end-of-block adds kEndOfBlock; kUnresolved: nothing is resolved
constexpr int kAcIndexBits = 10;
constexpr int kAcEntries = 1 << kAcIndexBits;
constexpr int kEndOfBlock = 128;
constexpr int kUnresolved = 192;

/// Longer values are not resolved by these tables, which bounds the bits that an entry takes.
constexpr int kMaxValueBits = 13;
constexpr int kMaxEntryLength = kAcIndexBits + kMaxValueBits;

/// For blocks that are read over, an entry covers as many symbols as the index holds codes of.
///   bits 0-7  length of codes and values together; zero: not resolved here
///   bits 8-15  as bits 24-31 above
constexpr int kSkipIndexBits = 11;
constexpr int kSkipEntries = 1 << kSkipIndexBits;
constexpr int kMaxSkippedValueBits = 11;
constexpr int kMaxSkipLength = kSkipIndexBits + kMaxSkippedValueBits;

struct AcTable {
  CodeBook book;
  uint32_t entries[kAcEntries];
  bool has_skips;
  uint16_t skips[kSkipEntries];
};

/// Symbols of a band of AC coefficients in a progressive scan. An entry holds one, with its value:
///   bits 0-7  length of code and value together; zero: not resolved here
///   bits 8-15  zeros before the coefficient; kEndOfBand: the band of this block ends here
///   bits 16-31  the coefficient, or the number of blocks whose bands end, this one included
/// Progressive files bring tables of their own for each scan, so building them must be cheap.
constexpr int kBandIndexBits = 10;
constexpr int kEndOfBand = 128;
struct BandTable {
  CodeBook book;
  uint32_t entries[1 << kBandIndexBits];
};

/// False if the counts do not describe a prefix code or a symbol is out of range.
bool build_dc_table(const HuffmanSpec& spec, DcTable* table);
bool build_ac_table(const HuffmanSpec& spec, AcTable* table);
bool build_band_table(const HuffmanSpec& spec, BandTable* table);

/// Adds what `build_ac_table` leaves out, for a valid `spec`.
void build_skips(const HuffmanSpec& spec, AcTable* table);

}  // namespace daliesque::jpeg
