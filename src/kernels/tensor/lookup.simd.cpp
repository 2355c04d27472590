// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::tensor::DALIESQUE_ISA {

namespace {

#if defined(__AVX512VBMI__)

using Bytes = __m512i;

/// The values for all bytes, in registers.
struct Table {
  Bytes parts[4];

  explicit Table(const uint8_t* values) {
    for (int k = 0; k < 4; k++) parts[k] = _mm512_loadu_si512(values + 64 * k);
  }

  Bytes find(Bytes bytes) const {
    const Bytes low = _mm512_permutex2var_epi8(parts[0], bytes, parts[1]);
    const Bytes high = _mm512_permutex2var_epi8(parts[2], bytes, parts[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high);
  }
};

Bytes load(const uint8_t* from) { return _mm512_loadu_si512(from); }

void store_found(uint8_t* to, Bytes bytes, bool streamed) {
  if (streamed) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), bytes);
  } else {
    _mm512_storeu_si512(to, bytes);
  }
}

#elif defined(__AVX2__)

using Bytes = __m256i;

/// The values for all bytes. A shuffle looks up bytes below 16, and gives 0 for those from 128 on.
/// Four shuffles, or-ed, look up bytes below 64; the two highest bits choose one of four such
/// results.
struct Table {
  Bytes parts[16];

  explicit Table(const uint8_t* values) {
    for (int k = 0; k < 16; k++) {
      parts[k] = _mm256_broadcastsi128_si256(
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(values + 16 * k)));
    }
  }

  Bytes find(Bytes bytes) const {
    const Bytes below_64 = _mm256_and_si256(bytes, _mm256_set1_epi8(63));
    Bytes indices[4];
    for (int k = 0; k < 4; k++) {
      // What is negative or above 15 ends at 128 or more.
      const Bytes index = _mm256_sub_epi8(below_64, _mm256_set1_epi8(static_cast<char>(16 * k)));
      indices[k] = _mm256_adds_epu8(index, _mm256_set1_epi8(112));
    }
    Bytes found[4];
    for (int k = 0; k < 4; k++) {
      const Bytes* part = parts + 4 * k;
      found[k] = _mm256_or_si256(_mm256_or_si256(_mm256_shuffle_epi8(part[0], indices[0]),
                                                 _mm256_shuffle_epi8(part[1], indices[1])),
                                 _mm256_or_si256(_mm256_shuffle_epi8(part[2], indices[2]),
                                                 _mm256_shuffle_epi8(part[3], indices[3])));
    }
    // Bit 6 as the sign of a byte; what moves in from its neighbor lies below it.
    const Bytes bit_6 = _mm256_slli_epi16(bytes, 1);
    const Bytes low = _mm256_blendv_epi8(found[0], found[1], bit_6);
    const Bytes high = _mm256_blendv_epi8(found[2], found[3], bit_6);
    return _mm256_blendv_epi8(low, high, bytes);
  }
};

Bytes load(const uint8_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

void store_found(uint8_t* to, Bytes bytes, bool streamed) {
  if (streamed) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), bytes);
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
  }
}

#endif

#ifdef __AVX2__
constexpr int64_t kWidth = sizeof(Bytes);

bool is_aligned(const uint8_t* address) {
  return reinterpret_cast<uintptr_t>(address) % kWidth == 0;
}
#endif

void look_up_one(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t* table,
                 [[maybe_unused]] bool streamed) {
  int64_t i = 0;
#ifdef __AVX2__
  for (; streamed && i < count && !is_aligned(out + i); i++) out[i] = table[in[i]];
  const Table values(table);
  for (; i + kWidth <= count; i += kWidth)
    store_found(out + i, values.find(load(in + i)), streamed);
#endif
  for (; i < count; i++) out[i] = table[in[i]];
}

void look_up_three(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t (*tables)[256],
                   [[maybe_unused]] bool streamed) {
  int64_t i = 0;
#ifdef __AVX512VBMI__
  // Whole pixels up to an aligned address: at most 63 of them.
  for (; streamed && i + 3 <= count && !is_aligned(out + i); i += 3) {
    for (int c = 0; c < 3; c++) out[i + c] = tables[c][in[i + c]];
  }
  const Table values[3] = {Table(tables[0]), Table(tables[1]), Table(tables[2])};
  // Bytes whose index is a multiple of three. A register begins one channel later than the last.
  constexpr __mmask64 kEveryThird = 0x9249249249249249;
  for (; i + 3 * kWidth <= count; i += 3 * kWidth) {
    for (int k = 0; k < 3; k++) {
      const Bytes bytes = load(in + i + k * kWidth);
      Bytes found = values[k].find(bytes);
      found = _mm512_mask_blend_epi8(kEveryThird << 1, found, values[(k + 1) % 3].find(bytes));
      found = _mm512_mask_blend_epi8(kEveryThird << 2, found, values[(k + 2) % 3].find(bytes));
      store_found(out + i + k * kWidth, found, streamed);
    }
  }
#endif
  const uint8_t *first = tables[0], *second = tables[1], *third = tables[2];
  for (; i < count; i += 3) {
    out[i] = first[in[i]];
    out[i + 1] = second[in[i + 1]];
    out[i + 2] = third[in[i + 2]];
  }
}

}  // namespace

void look_up_bytes(uint8_t* out, const uint8_t* in, int64_t pixels, int64_t channels,
                   const uint8_t (*tables)[256], bool streamed) {
  if (channels == 1) return look_up_one(out, in, pixels, tables[0], streamed);
  if (channels == 3) return look_up_three(out, in, 3 * pixels, tables, streamed);
  for (int64_t i = 0; i < pixels; i++) {
    for (int64_t c = 0; c < channels; c++) {
      out[i * channels + c] = tables[c][in[i * channels + c]];
    }
  }
}

}  // namespace daliesque::tensor::DALIESQUE_ISA
