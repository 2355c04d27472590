// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>

#include "codecs/inflate_loops.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::codecs::DALIESQUE_ISA {

namespace {

using namespace inflate_entry;

[[gnu::always_inline]] inline uint64_t load_little_endian(const uint8_t* data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof(word));
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

/// The bits in registers.
struct Reader {
  uint64_t bits;
  uint32_t count;
  const uint8_t* next;

  /// Leaves at least 56 bits.
  [[gnu::always_inline]] inline void refill(InflateBits* state) {
    if (__builtin_expect(state->end - next >= 8, 1)) {
      bits |= load_little_endian(next) << count;
      next += (63 - count) >> 3;
      count |= 56;
    } else {
      refill_at_end(state);
    }
  }

  [[gnu::noinline]] void refill_at_end(InflateBits* state) {
    for (; count < 56; count += 8) {
      if (next < state->end) {
        bits |= uint64_t{*next++} << count;
      } else {
        state->surplus += 8;
      }
    }
  }

  [[gnu::always_inline]] inline void skip(uint32_t entry) {
    bits >>= entry & kBitsMask;
    count -= entry & kBitsMask;
  }
};

[[gnu::always_inline]] inline uint64_t low_bits(uint64_t bits, uint32_t count) {
  return bits & ((uint64_t{1} << count) - 1);
}

/// Base and extra bits of a length or distance; `bits` begin with its code.
[[gnu::always_inline]] inline uint32_t value_of(uint32_t entry, uint64_t bits) {
  const auto extra =
      static_cast<uint32_t>(low_bits(bits, entry & kBitsMask) >> (entry >> 8 & kLengthMask));
  return (entry >> 16) + extra;
}

/// One or two bytes.
[[gnu::always_inline]] inline uint8_t* put_literals(uint8_t* out, uint32_t entry) {
  out[0] = static_cast<uint8_t>(entry >> 16);
  out[1] = static_cast<uint8_t>(entry >> 24);
  return out + 1 + (entry & kPair) / kPair;
}

[[gnu::always_inline]] inline void copy_word(uint8_t* out, const uint8_t* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  std::memcpy(out, &word, sizeof(word));
}

/// Copies a match, up to 63 bytes more than its length.
[[gnu::always_inline]] inline uint8_t* copy_match(uint8_t* out, uint32_t distance,
                                                  uint32_t length) {
  const uint8_t* from = out - distance;
  uint8_t* const end = out + length;
  if (__builtin_expect(distance >= 16, 1)) {
    do {
      copy_word(out, from);
      copy_word(out + 8, from + 8);
      out += 16;
      from += 16;
    } while (out < end);
  } else if (distance == 1) {
    const uint64_t word = uint64_t{*from} * 0x0101010101010101u;
    do {
      std::memcpy(out, &word, sizeof(word));
      std::memcpy(out + 8, &word, sizeof(word));
      out += 16;
    } while (out < end);
  } else if (distance >= 8) {
    do {
      copy_word(out, from);
      out += 8;
      from += 8;
    } while (out < end);
  } else {
    // Each word repeats what the one before has written.
    do {
      copy_word(out, from);
      out += distance;
      from += distance;
    } while (out < end);
  }
  return end;
}

/// A table, and the number of bits that index it.
struct Table {
  const uint32_t* entries;
  uint32_t bits;

  [[gnu::always_inline]] inline uint32_t first(const Reader& in) const {
    return entries[low_bits(in.bits, bits)];
  }

  /// The entry of a code that is too long for the table itself, instead of that of its beginning.
  [[gnu::always_inline]] inline uint32_t second(Reader& in, uint32_t entry) const {
    in.skip(entry);
    return entries[(entry >> 16) + low_bits(in.bits, entry >> 8 & kLengthMask)];
  }
};

/// Writes literals as long as they come, up to three entries of up to 11 bits, and reads on. There
/// must be 56 bits, so that enough are left for the last look.
[[gnu::always_inline]] inline uint8_t* put_run(uint8_t* out, Reader& in, const Table& table,
                                               uint32_t& entry) {
  in.skip(entry);
  out = put_literals(out, entry);
  entry = table.first(in);
  if (entry & kLiteral) {
    in.skip(entry);
    out = put_literals(out, entry);
    entry = table.first(in);
    if (entry & kLiteral) {
      in.skip(entry);
      out = put_literals(out, entry);
      entry = table.first(in);
    }
  }
  return out;
}

InflateFault expand(InflateBits* state, const InflateTables& tables, const uint8_t* history,
                    uint8_t** position, uint8_t* target, bool* ended) {
  const Table literals{tables.literals, static_cast<uint32_t>(tables.literal_bits)};
  const Table distances{tables.distances, static_cast<uint32_t>(tables.distance_bits)};
  Reader in{state->bits, state->count, state->next};
  uint8_t* out = *position;
  InflateFault fault = InflateFault::kNone;
  in.refill(state);
  uint32_t entry = literals.first(in);
  while (out < target) {
    if (entry & kLiteral) {
      out = put_run(out, in, literals, entry);
      in.refill(state);
      continue;
    }
    if (entry & kSpecial) {
      if (entry & kSubtable) entry = literals.second(in, entry);
      if (entry & kLiteral) {
        in.skip(entry);
        out = put_literals(out, entry);
        in.refill(state);
        entry = literals.first(in);
        continue;
      }
      if (entry & kSpecial) {
        in.skip(entry);
        *ended = (entry & kInvalid) == 0;
        if (!*ended) fault = InflateFault::kCode;
        break;
      }
    }
    // A length of up to 20 bits and a distance of up to 28.
    const uint32_t length = value_of(entry, in.bits);
    in.skip(entry);
    entry = distances.first(in);
    if (__builtin_expect(entry & kSubtable, 0)) entry = distances.second(in, entry);
    const uint32_t distance = value_of(entry, in.bits);
    in.skip(entry);
    if (__builtin_expect(distance > static_cast<size_t>(out - history) || entry & kInvalid, 0)) {
      fault = entry & kInvalid ? InflateFault::kCode : InflateFault::kDistance;
      break;
    }
    in.refill(state);
    entry = literals.first(in);
    out = copy_match(out, distance, length);
  }
  state->bits = in.bits;
  state->count = in.count;
  state->next = in.next;
  *position = out;
  return fault;
}

constexpr size_t kAdlerBlock = 32;

#ifdef __AVX2__

/// The sum of the bytes and their sum weighted with 32 to 1, for each block; and of the first the
/// sums over all blocks before.
struct AdlerSums {
  __m256i sum, weighted, before;
};

[[gnu::always_inline]] inline void add_block(AdlerSums* sums, __m256i bytes) {
  const __m256i weights =
      _mm256_setr_epi8(32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14,
                       13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1);
  sums->before = _mm256_add_epi32(sums->before, sums->sum);
  sums->sum = _mm256_add_epi32(sums->sum, _mm256_sad_epu8(bytes, _mm256_setzero_si256()));
  const __m256i pairs = _mm256_maddubs_epi16(bytes, weights);
  const __m256i quads = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  sums->weighted = _mm256_add_epi32(sums->weighted, quads);
}

[[gnu::always_inline]] inline uint32_t total(__m256i lanes) {
  __m128i half = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(half));
}

/// The part that is whole blocks; returns its size.
[[gnu::always_inline]] inline size_t add_blocks(uint32_t* low, uint32_t* high, const uint8_t* data,
                                                size_t size) {
  const __m256i zero = _mm256_setzero_si256();
  AdlerSums sums{zero, zero, zero};
  const size_t blocks = size / kAdlerBlock;
  for (size_t k = 0; k < blocks; k++) {
    const auto* block = reinterpret_cast<const __m256i*>(data + k * kAdlerBlock);
    add_block(&sums, _mm256_loadu_si256(block));
  }
  *high += static_cast<uint32_t>(blocks * kAdlerBlock) * *low + total(sums.weighted) +
           static_cast<uint32_t>(kAdlerBlock) * total(sums.before);
  *low += total(sums.sum);
  return blocks * kAdlerBlock;
}

#else

[[gnu::always_inline]] inline size_t add_blocks(uint32_t* low, uint32_t* high, const uint8_t* data,
                                                size_t size) {
  size_t done = 0;
  for (; done + kAdlerBlock <= size; done += kAdlerBlock) {
    uint32_t sum = 0, weighted = 0;
    for (size_t k = 0; k < kAdlerBlock; k++) {
      sum += data[done + k];
      weighted += static_cast<uint32_t>(kAdlerBlock - k) * data[done + k];
    }
    *high += static_cast<uint32_t>(kAdlerBlock) * *low + weighted;
    *low += sum;
  }
  return done;
}

#endif

void add_adler(uint32_t* low, uint32_t* high, const uint8_t* data, size_t size) {
  for (size_t k = add_blocks(low, high, data, size); k < size; k++) {
    *low += data[k];
    *high += *low;
  }
}

}  // namespace

const InflateLoops inflate_loops{expand, add_adler};

}  // namespace daliesque::codecs::DALIESQUE_ISA
