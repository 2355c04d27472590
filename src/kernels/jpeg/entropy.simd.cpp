// SPDX-License-Identifier: Apache-2.0
// Huffman decoding. Each look-up needs the bits that the one before leaves, so its latency (shift,
// load, shift) is what counts; everything else is arranged to stay off that path.
#include "jpeg/entropy.h"

#include <cstring>

#include "jpeg/bits.simd.h"
#include "jpeg/decoder_loops.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::jpeg::DALIESQUE_ISA {
namespace {

/// Natural order, continued so that every index an AC entry can produce stays inside the block.
struct Positions {
  uint8_t of[256];
  constexpr Positions() : of() {
    for (int i = 0; i < 256; ++i) of[i] = i < kBlockSize ? kNaturalOrder[i] : kBlockSize - 1;
  }
};
constexpr Positions kPosition;

/// The signed value of the `size` bits that end `length` bits below the top.
[[gnu::always_inline]] inline int32_t value_before(uint64_t top, uint32_t length, uint32_t size) {
  const auto low = static_cast<uint32_t>(top << length | top >> (-length & 63));
#ifdef __BMI2__
  const uint32_t mask = _bzhi_u32(~0u, size);
#else
  const uint32_t mask = (1u << size) - 1;
#endif
  const uint32_t bits = low & mask;
  return static_cast<int32_t>(bits - (2 * bits <= mask ? mask : 0));
}

/// Writes the coefficients of an entry and returns the index after them. `top` are its bits.
[[gnu::always_inline]] inline uint64_t apply(uint32_t entry, uint64_t index, uint64_t top,
                                             int16_t* block) {
  const uint64_t after = index + (entry >> 24);
  // Without a first coefficient its zero goes to an index that is still zero or overwritten next;
  // likewise the zero that an end of block has for its last coefficient.
  block[kPosition.of[index + (entry >> 6 & 15)]] =
      static_cast<int16_t>(static_cast<int16_t>(entry) >> 10);
  block[kPosition.of[after - 1]] =
      static_cast<int16_t>(value_before(top, entry & 63, entry >> 16 & 255));
  return after;
}

/// Reads one symbol at coefficient `*index`, after going back `length` bits. `block` may be null.
[[gnu::noinline]] Progress read_slowly(Bits& bits, uint32_t length, const CodeBook& book,
                                       uint64_t* index, int16_t* block) {
  bits.rewind(length);
  bits.refill();
  uint32_t code = 0;
  const int symbol = find_symbol(bits.top, book, &code);
  if (symbol < 0) return Progress::kBadCode;
  const int zeros = symbol >> 4;
  const int size = symbol & 15;
  if (size == 0 && zeros != 15) {
    bits.skip(code);
    return Progress::kDone;
  }
  const uint64_t at = *index + static_cast<uint64_t>(zeros);
  if (at >= kBlockSize) return Progress::kOverrun;
  if (block != nullptr && size != 0) {
    block[kPosition.of[at]] =
        static_cast<int16_t>(value_bits(bits.top, code, static_cast<uint32_t>(size)));
  }
  bits.skip(code + static_cast<uint32_t>(size));
  *index = at + 1;
  return at + 1 == kBlockSize ? Progress::kDone : Progress::kMore;
}

/// True if an end of block followed a coefficient inside the block. The subtraction wraps.
[[gnu::always_inline]] inline bool is_end_of_block(uint64_t index) {
  return index - (kEndOfBlock + 1) < kBlockSize - 1;
}

constexpr int kLookupsPerRefill = 2;
static_assert(Bits::kAfterRefill - kLookupsPerRefill * kMaxEntryLength >= kAcIndexBits);

/// Reads the AC coefficients of a block. `*last` becomes the index of the last one.
[[gnu::always_inline]] inline Progress read_ac(Bits& bits, const AcTable& table, int16_t* block,
                                               int* last) {
  uint64_t index = 1;
  Progress progress = Progress::kMore;
  while (progress == Progress::kMore) {
    // The refill falls into the latency of the first look-up.
    uint32_t entry = table.entries[bits.top >> (64 - kAcIndexBits)];
    bits.refill();
    uint64_t before = bits.top;
    bits.top <<= entry & 63;
    uint32_t used = entry;
    index = apply(entry, index, before, block);
    for (int i = 1; i < kLookupsPerRefill && __builtin_expect(index < kBlockSize, 1); ++i) {
      entry = table.entries[bits.top >> (64 - kAcIndexBits)];
      before = bits.top;
      bits.top <<= entry & 63;
      used += entry;
      index = apply(entry, index, before, block);
    }
    bits.count -= used & 63;
    if (__builtin_expect(index < kBlockSize, 1)) continue;
    if (is_end_of_block(index)) {
      *last = static_cast<int>(index) - kEndOfBlock - 1;
      return Progress::kDone;
    }
    if (index == kBlockSize) {
      *last = kBlockSize - 1;
      return Progress::kDone;
    }
    // The entry resolves nothing, or its second symbol lies beyond the block. Take back what it
    // wrote. Copies of the variables let the originals stay in registers.
    index -= entry >> 24;
    block[kPosition.of[index]] = 0;
    block[kBlockSize - 1] = 0;
    Bits slow_bits = bits;
    uint64_t slow_index = index;
    progress = read_slowly(slow_bits, entry & 63, table.book, &slow_index, block);
    bits = slow_bits;
    index = slow_index;
  }
  *last = static_cast<int>(index) - 1;
  return progress;
}

static_assert(Bits::kAfterRefill - kLookupsPerRefill * kMaxSkipLength >= kSkipIndexBits);

/// Reads over the AC coefficients of a block.
[[gnu::always_inline]] inline Progress skip_ac(Bits& bits, const AcTable& table) {
  uint64_t index = 1;
  Progress progress = Progress::kMore;
  while (progress == Progress::kMore) {
    uint32_t entry = table.skips[bits.top >> (64 - kSkipIndexBits)];
    bits.refill();
    bits.top <<= entry & 63;
    uint32_t used = entry;
    index += entry >> 8;
    for (int i = 1; i < kLookupsPerRefill && __builtin_expect(index < kBlockSize, 1); ++i) {
      entry = table.skips[bits.top >> (64 - kSkipIndexBits)];
      bits.top <<= entry & 63;
      used += entry;
      index += entry >> 8;
    }
    bits.count -= used & 63;
    if (__builtin_expect(index < kBlockSize, 1)) continue;
    if (is_end_of_block(index) || index == kBlockSize) return Progress::kDone;
    // The entry resolves nothing, or some of its symbols lie beyond the block.
    Bits slow_bits = bits;
    uint64_t slow_index = index - (entry >> 8);
    progress = read_slowly(slow_bits, entry & 63, table.book, &slow_index, nullptr);
    bits = slow_bits;
    index = slow_index;
  }
  return progress;
}

/// Reads a block, or skips it if `block` is null.
[[gnu::always_inline]] inline Progress read_block(Bits& bits, const BlockPlan& plan,
                                                  int32_t* prediction, int16_t* block,
                                                  uint8_t* last) {
  int32_t difference = 0;
  if (!read_dc(bits, *plan.dc, &difference)) return Progress::kBadCode;
  const auto dc = static_cast<uint32_t>(*prediction) + static_cast<uint32_t>(difference);
  *prediction = static_cast<int32_t>(dc);
  if (block == nullptr) return skip_ac(bits, *plan.ac);
  if (plan.only_dc) {
    block[0] = static_cast<int16_t>(dc);
    *last = 0;
    return skip_ac(bits, *plan.ac);
  }
  clear(block);
  block[0] = static_cast<int16_t>(dc);
  int last_index = 0;
  const Progress progress = read_ac(bits, *plan.ac, block, &last_index);
  *last = static_cast<uint8_t>(last_index);
  return progress;
}

/// Copies data bytes to `to` until a marker, the end of the file or, at least, `to_end`; may write
/// up to kCopyStep bytes beyond.
uint8_t* copy_unstuffed(ScanReader* reader, uint8_t* to, const uint8_t* to_end) {
  const uint8_t* from = reader->raw;
  const uint8_t* const end = reader->raw_end;
  while (to < to_end) {
    ptrdiff_t plain = 0;
#ifdef __AVX2__
    if (end - from >= ScanReader::kCopyStep) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
      const auto marks = static_cast<uint32_t>(
          _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(-1))));
      plain = marks == 0 ? ScanReader::kCopyStep : __builtin_ctz(marks);
      from += plain;
      to += plain;
      if (marks == 0) continue;
    }
#endif
    while (plain < ScanReader::kCopyStep && from < end && *from != 0xFF) {
      *to++ = *from++;
      ++plain;
    }
    if (from == end) {
      reader->ended = true;
      break;
    }
    if (*from != 0xFF) continue;
    if (end - from < 2 || from[1] != 0) {
      reader->ended = true;
      break;
    }
    *to++ = 0xFF;
    from += 2;
  }
  reader->raw = from;
  return to;
}

}  // namespace

bool fill(ScanReader* reader) {
  if (!reader->ended) {
    const uint8_t* const keep = reader->next - ScanReader::kKept;
    const ptrdiff_t kept = reader->filled - keep;
    std::memmove(reader->buffer, keep, kept);
    reader->discarded += keep - reader->buffer;
    reader->next = reader->buffer + ScanReader::kKept;
    reader->filled =
        copy_unstuffed(reader, reader->buffer + kept, reader->buffer + ScanReader::kCapacity);
    if (reader->ended) std::memset(reader->filled, 0, ScanReader::kPadding);
  }
  return (reader->next - reader->filled) * 8 <= reader->count;
}

EntropyError decode_mcus(ScanReader* reader, const McuPlan& plan, int32_t* predictions, int begin,
                         int end, int16_t* coefficients, uint8_t* last) {
  return read_units(reader, begin, end, [&](Bits& bits, int mcu) {
    for (int i = 0; i < plan.blocks; ++i) {
      const BlockPlan& block = plan.block[i];
      const ptrdiff_t index = block.first + static_cast<ptrdiff_t>(mcu) * block.step;
      const bool wanted = coefficients != nullptr && block.wanted;
      const Progress progress =
          read_block(bits, block, predictions + block.component,
                     wanted ? coefficients + index * kBlockSize : nullptr, last + index);
      if (progress != Progress::kDone) return progress;
    }
    return Progress::kDone;
  });
}

}  // namespace daliesque::jpeg::DALIESQUE_ISA
