// SPDX-License-Identifier: Apache-2.0
// Huffman decoding of progressive scans. Which coefficients are not zero is kept in 64 bits for
// each block, so that a refinement finds those it has bits for without looking at the others.
#include "jpeg/bits.simd.h"
#include "jpeg/decoder_loops.h"

namespace daliesque::jpeg::DALIESQUE_ISA {
namespace {

/// Bits k of a set of coefficients, from `first` to `last`.
inline uint64_t coefficients_between(int first, int last) {
  return ~uint64_t{0} >> (kBlockSize - 1 - last) & ~uint64_t{0} << first;
}

/// The bit of a set that has `count` others below it; zero if there is none.
[[gnu::always_inline]] inline uint64_t bit_after(uint64_t set, int count) {
#ifdef __BMI2__
  return _pdep_u64(uint64_t{1} << count, set);
#else
  for (int i = 0; i < count; ++i) set &= set - 1;
  return set & -set;
#endif
}

/// One symbol of a band, in the fields that the entries of the table have.
struct BandSymbol {
  int zeros;
  int value;
  uint32_t length;
};

/// A symbol that the table does not resolve; false if the bits are no code.
[[gnu::noinline]] bool find_band_symbol(uint64_t top, const CodeBook& book, BandSymbol* out) {
  uint32_t code = 0;
  const int symbol = find_symbol(top, book, &code);
  if (symbol < 0) return false;
  const int zeros = symbol >> 4;
  const int size = symbol & 15;
  if (size == 0 && zeros != 15) {
    const auto extra = static_cast<int>(top << code >> 1 >> (63 - zeros));
    *out = {kEndOfBand, (1 << zeros) + extra, code + static_cast<uint32_t>(zeros)};
  } else {
    *out = {zeros, value_bits(top, code, static_cast<uint32_t>(size)),
            code + static_cast<uint32_t>(size)};
  }
  return true;
}

/// Leaves at least 25 valid bits.
[[gnu::always_inline]] inline bool read_band_symbol(Bits& bits, const BandTable& table,
                                                    BandSymbol* out) {
  // The refill falls into the latency of the look-up.
  const uint32_t entry = table.entries[bits.top >> (64 - kBandIndexBits)];
  bits.refill();
  BandSymbol symbol{static_cast<int>(entry >> 8 & 255), static_cast<int32_t>(entry) >> 16,
                    entry & 255};
  if (__builtin_expect(symbol.length == 0, 0)) {
    BandSymbol found;
    if (!find_band_symbol(bits.top, table.book, &found)) return false;
    symbol = found;
  }
  bits.skip(symbol.length);
  *out = symbol;
  return true;
}

/// Reads the first bits of a band; `*run` becomes the blocks whose bands have ended.
[[gnu::always_inline]] inline Progress read_band(Bits& bits, const BandScan& scan, int32_t* run,
                                                 int16_t* block, uint64_t* nonzero) {
  const int last = scan.band.last;
  const int low = scan.band.low;
  uint64_t found = *nonzero;
  for (int index = scan.band.first; index <= last; ++index) {
    BandSymbol symbol;
    if (!read_band_symbol(bits, *scan.table, &symbol)) return Progress::kBadCode;
    index += symbol.zeros;
    if (__builtin_expect(index > last, 0)) {
      if (symbol.zeros != kEndOfBand) return Progress::kOverrun;
      *run = symbol.value;
      break;
    }
    const auto value = static_cast<int16_t>(static_cast<uint32_t>(symbol.value) << low);
    block[kNaturalOrder[index]] = value;
    found |= static_cast<uint64_t>(value != 0) << index;
  }
  *nonzero = found;
  return Progress::kDone;
}

/// Reads one more bit of each coefficient in `which`, and moves those away from zero where it is
/// set. Leaves at least as many valid bits as it finds, or kAfterRefill.
[[gnu::always_inline]] inline void refine(Bits& bits, uint64_t which, int16_t* block, int step) {
  while (which != 0) {
    bits.refill();
    uint64_t top = bits.top;
    uint32_t used = 0;
    do {
      int16_t& coefficient = block[kNaturalOrder[__builtin_ctzll(which)]];
      which &= which - 1;
      const int sign = coefficient >> 15;
      const int bit = static_cast<int>(static_cast<int64_t>(top) >> 63);
      coefficient = static_cast<int16_t>(coefficient + (((step ^ sign) - sign) & bit));
      top <<= 1;
      ++used;
    } while (which != 0 && used < Bits::kAfterRefill);
    bits.top = top;
    bits.count -= used;
    bits.refill();
  }
}

/// Reads one more bit of a band: for each coefficient that is not zero, and the new ones.
[[gnu::always_inline]] inline Progress refine_band(Bits& bits, const BandScan& scan, int32_t* run,
                                                   int16_t* block, uint64_t* nonzero) {
  const int step = 1 << scan.band.low;
  const uint64_t known = *nonzero;
  uint64_t rest = coefficients_between(scan.band.first, scan.band.last);
  if (*run == 0) {
    while (rest != 0) {
      BandSymbol symbol;
      if (!read_band_symbol(bits, *scan.table, &symbol)) return Progress::kBadCode;
      if (symbol.zeros == kEndOfBand) {
        *run = symbol.value;
        break;
      }
      if (symbol.value < -1 || symbol.value > 1) return Progress::kBadCode;
      const uint64_t added = bit_after(rest & ~known, symbol.zeros);
      if (added == 0) return Progress::kOverrun;
      refine(bits, rest & known & (added - 1), block, step);
      if (symbol.value != 0) {
        block[kNaturalOrder[__builtin_ctzll(added)]] = static_cast<int16_t>(symbol.value * step);
        *nonzero |= added;
      }
      rest &= -(added << 1);
    }
    if (*run == 0) return Progress::kDone;
  }
  refine(bits, rest & known, block, step);
  --*run;
  return Progress::kDone;
}

}  // namespace

EntropyError decode_dc_first(ScanReader* reader, const McuPlan& plan, int32_t* predictions,
                             int begin, int end, const Blocks& blocks, int low) {
  return read_units(reader, begin, end, [&](Bits& bits, int mcu) {
    for (int i = 0; i < plan.blocks; ++i) {
      const BlockPlan& block = plan.block[i];
      int32_t difference = 0;
      if (!read_dc(bits, *block.dc, &difference)) return Progress::kBadCode;
      const auto dc =
          static_cast<uint32_t>(predictions[block.component]) + static_cast<uint32_t>(difference);
      predictions[block.component] = static_cast<int32_t>(dc);
      if (!block.wanted) continue;
      const ptrdiff_t index = block.first + static_cast<ptrdiff_t>(mcu) * block.step;
      int16_t* const coefficients = blocks.coefficients + index * kBlockSize;
      clear(coefficients);
      coefficients[0] = static_cast<int16_t>(dc << low);
      blocks.nonzero[index] = 0;
    }
    return Progress::kDone;
  });
}

EntropyError decode_dc_refinement(ScanReader* reader, const McuPlan& plan, int begin, int end,
                                  const Blocks& blocks, int low) {
  return read_units(reader, begin, end, [&](Bits& bits, int mcu) {
    bits.refill();
    for (int i = 0; i < plan.blocks; ++i) {
      const BlockPlan& block = plan.block[i];
      const auto bit = static_cast<int>(bits.top >> 63);
      bits.skip(1);
      if (!block.wanted) continue;
      const ptrdiff_t index = block.first + static_cast<ptrdiff_t>(mcu) * block.step;
      int16_t& dc = blocks.coefficients[index * kBlockSize];
      dc = static_cast<int16_t>(dc | bit << low);
    }
    return Progress::kDone;
  });
}

EntropyError decode_ac_first(ScanReader* reader, const BandScan& scan, int32_t* run, int begin,
                             int end, const Blocks& blocks) {
  return read_units(reader, begin, end, [&](Bits& bits, int& unit) {
    int32_t ended = *run;
    if (ended == 0) {
      const Progress progress =
          read_band(bits, scan, &ended, blocks.coefficients + ptrdiff_t{unit} * kBlockSize,
                    blocks.nonzero + unit);
      if (progress != Progress::kDone) return progress;
      if (ended == 0) return Progress::kDone;
    }
    const int32_t passed = ended < end - unit ? ended : end - unit;
    *run = ended - passed;
    unit += passed - 1;
    return Progress::kDone;
  });
}

EntropyError decode_ac_refinement(ScanReader* reader, const BandScan& scan, int32_t* run, int begin,
                                  int end, const Blocks& blocks) {
  const uint64_t band = coefficients_between(scan.band.first, scan.band.last);
  return read_units(reader, begin, end, [&](Bits& bits, int& unit) {
    // There are no bits for blocks whose bands have ended and are still zero.
    int next = unit;
    while (*run > 0 && next < end && (blocks.nonzero[next] & band) == 0) {
      --*run;
      ++next;
    }
    if (next > unit) {
      unit = next - 1;
      return Progress::kDone;
    }
    return refine_band(bits, scan, run, blocks.coefficients + ptrdiff_t{unit} * kBlockSize,
                       blocks.nonzero + unit);
  });
}

}  // namespace daliesque::jpeg::DALIESQUE_ISA
