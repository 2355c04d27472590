// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "codecs/pixel_loops.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::codecs::DALIESQUE_ISA {

namespace {

#ifdef __AVX2__

using Vector = __m128i;

[[gnu::always_inline]] inline Vector load_vector(const uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const Vector*>(from));
}

[[gnu::always_inline]] inline void store_vector(uint8_t* to, Vector value) {
  _mm_storeu_si128(reinterpret_cast<Vector*>(to), value);
}

/// Whole vectors; each returns the number of pixels that are done.
[[gnu::always_inline]] inline int64_t spread_vectors(uint8_t* out, const uint8_t* in,
                                                     int64_t count) {
  const Vector first = _mm_setr_epi8(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5);
  const Vector second = _mm_setr_epi8(5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10);
  const Vector third =
      _mm_setr_epi8(10, 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15);
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const Vector values = load_vector(in + i);
    store_vector(out + 3 * i, _mm_shuffle_epi8(values, first));
    store_vector(out + 3 * i + 16, _mm_shuffle_epi8(values, second));
    store_vector(out + 3 * i + 32, _mm_shuffle_epi8(values, third));
  }
  return i;
}

/// The bytes after the last pixel of a vector are overwritten by the next one.
[[gnu::always_inline]] inline int64_t drop_fourth_vectors(uint8_t* out, const uint8_t* in,
                                                          int64_t count) {
  const Vector order = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  int64_t i = 0;
  for (; i + 6 <= count; i += 4) {
    store_vector(out + 3 * i, _mm_shuffle_epi8(load_vector(in + 4 * i), order));
  }
  return i;
}

[[gnu::always_inline]] inline int64_t reverse_vectors(uint8_t* out, const uint8_t* in,
                                                      int64_t count) {
  const Vector order = _mm_setr_epi8(2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 14, 13, 12, 15);
  int64_t i = 0;
  for (; i + 6 <= count; i += 5) {
    store_vector(out + 3 * i, _mm_shuffle_epi8(load_vector(in + 3 * i), order));
  }
  return i;
}

#else

[[gnu::always_inline]] inline int64_t spread_vectors(uint8_t*, const uint8_t*, int64_t) {
  return 0;
}
[[gnu::always_inline]] inline int64_t drop_fourth_vectors(uint8_t*, const uint8_t*, int64_t) {
  return 0;
}
[[gnu::always_inline]] inline int64_t reverse_vectors(uint8_t*, const uint8_t*, int64_t) {
  return 0;
}

#endif

void spread(uint8_t* __restrict out, const uint8_t* __restrict in, int64_t count) {
  for (int64_t i = spread_vectors(out, in, count); i < count; i++) {
    out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = in[i];
  }
}

void drop_fourth(uint8_t* __restrict out, const uint8_t* __restrict in, int64_t count) {
  for (int64_t i = drop_fourth_vectors(out, in, count); i < count; i++) {
    for (int64_t c = 0; c < 3; c++) out[3 * i + c] = in[4 * i + c];
  }
}

void reverse(uint8_t* __restrict out, const uint8_t* __restrict in, int64_t count) {
  for (int64_t i = reverse_vectors(out, in, count); i < count; i++) {
    for (int64_t c = 0; c < 3; c++) out[3 * i + c] = in[3 * i + 2 - c];
  }
}

template <int bits>
void unpack_bits(uint8_t* out, const uint8_t* in, int64_t count, uint8_t factor) {
  constexpr int64_t kInByte = 8 / bits;
  constexpr int kMask = (1 << bits) - 1;
  const int64_t whole = count / kInByte;
  for (int64_t k = 0; k < whole; k++) {
    for (int64_t part = 0; part < kInByte; part++) {
      const int value = in[k] >> (8 - bits * (static_cast<int>(part) + 1)) & kMask;
      out[k * kInByte + part] = static_cast<uint8_t>(value * factor);
    }
  }
  for (int64_t k = whole * kInByte; k < count; k++) {
    const int value = in[whole] >> (8 - bits * (static_cast<int>(k % kInByte) + 1)) & kMask;
    out[k] = static_cast<uint8_t>(value * factor);
  }
}

void unpack(uint8_t* __restrict out, const uint8_t* __restrict in, int64_t count, int bits,
            uint8_t factor) {
  if (bits == 1) return unpack_bits<1>(out, in, count, factor);
  if (bits == 2) return unpack_bits<2>(out, in, count, factor);
  unpack_bits<4>(out, in, count, factor);
}

void look_up(uint8_t* __restrict out, const uint8_t* __restrict indices, int64_t count,
             const PaletteEntry* __restrict palette) {
  if (count == 0) return;
  // The fourth byte is overwritten by the next pixel.
  for (int64_t k = 0; k + 1 < count; k++) std::memcpy(out + 3 * k, palette[indices[k]], 4);
  std::memcpy(out + 3 * (count - 1), palette[indices[count - 1]], 3);
}

void narrow(uint8_t* __restrict out, const uint16_t* __restrict in, int64_t count) {
  for (int64_t i = 0; i < count; i++) out[i] = static_cast<uint8_t>((in[i] * 255u + 32895u) >> 16);
}

}  // namespace

const PixelLoops pixel_loops{spread, drop_fourth, reverse, look_up, unpack, narrow};

}  // namespace daliesque::codecs::DALIESQUE_ISA
