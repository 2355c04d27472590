// SPDX-License-Identifier: Apache-2.0
// Resampling of uint8 pixels in 16-bit fixed point: rows first, into 16-bit intermediates, then
// columns. Weights come in pairs because the multiply-add instruction sums neighboring products.
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <cstring>

#include "resize/resize_loops.h"

namespace daliesque::resize::DALIESQUE_ISA {

namespace {

inline int32_t low_half(int32_t pair) { return static_cast<int16_t>(pair & 0xFFFF); }
inline int32_t high_half(int32_t pair) { return pair >> 16; }

inline void narrow(uint8_t* to, int32_t value) {
  *to = static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}
inline void narrow(int16_t* to, int32_t value) { *to = static_cast<int16_t>(value); }

using SignedTaps = FixedResizeLoops::SignedTaps;
using UnsignedTaps = FixedResizeLoops::UnsignedTaps;

/// Plain loops work on tiles of this many columns, tap by tap, so that compilers vectorize them.
constexpr int kTile = 64;

// Not inlined: compilers would fuse the loop with the one over taps instead of vectorizing it.
[[gnu::noinline]] void add_signed(int32_t* __restrict sums, const uint8_t* upper,
                                  const uint8_t* lower, int32_t weights, int count) {
  const auto first = static_cast<int16_t>(low_half(weights));
  const auto second = static_cast<int16_t>(high_half(weights));
  for (int i = 0; i < count; i++) {
    sums[i] += static_cast<int16_t>(upper[i]) * first + static_cast<int16_t>(lower[i]) * second;
  }
}

template <class Out>
void blend_signed_tile(Out* out, const SignedTaps& taps, int shift, int64_t begin, int count) {
  taps.fetch(begin);
  int32_t sums[kTile];
  for (int i = 0; i < count; i++) sums[i] = shift ? 1 << (shift - 1) : 0;
  for (int j = 0; j < taps.taps; j++) {
    add_signed(sums, taps.rows[2 * j] + begin, taps.rows[2 * j + 1] + begin, taps.weights[j],
               count);
  }
  for (int i = 0; i < count; i++) narrow(out + begin + i, sums[i] >> shift);
}

template <class Out>
void blend_signed_plain(Out* out, const SignedTaps& taps, int shift, int64_t count) {
  int64_t i = 0;
  for (; i + kTile <= count; i += kTile) blend_signed_tile(out, taps, shift, i, kTile);
  blend_signed_tile(out, taps, shift, i, static_cast<int>(count - i));
}

// Each product loses its low 16 bits; half a unit per tap makes up for it on average.
inline uint16_t unsigned_bias(int taps) { return static_cast<uint16_t>(taps / 2); }

inline void finish_unsigned(uint8_t* to, uint16_t sum) {
  *to = static_cast<uint8_t>(static_cast<uint16_t>(sum + (1 << (kWideFraction - 1))) >>
                             kWideFraction);
}
inline void finish_unsigned(int16_t* to, uint16_t sum) {
  *to = static_cast<int16_t>(sum - kWideOffset);
}

[[gnu::noinline]] void add_unsigned(uint16_t* __restrict sums, const uint8_t* row, uint16_t weight,
                                    int count) {
  for (int i = 0; i < count; i++) {
    const auto value = static_cast<uint16_t>(row[i] << 8);
    sums[i] = static_cast<uint16_t>(sums[i] + (static_cast<uint32_t>(value) * weight >> 16));
  }
}

template <class Out>
void blend_unsigned_tile(Out* out, const UnsignedTaps& taps, int64_t begin, int count) {
  taps.fetch(begin);
  uint16_t sums[kTile];
  for (int i = 0; i < count; i++) sums[i] = unsigned_bias(taps.taps);
  for (int k = 0; k < taps.taps; k++) {
    add_unsigned(sums, taps.rows[k] + begin, taps.weights[k], count);
  }
  for (int i = 0; i < count; i++) finish_unsigned(out + begin + i, sums[i]);
}

template <class Out>
void blend_unsigned_plain(Out* out, const UnsignedTaps& taps, int64_t count) {
  int64_t i = 0;
  for (; i + kTile <= count; i += kTile) blend_unsigned_tile(out, taps, i, kTile);
  blend_unsigned_tile(out, taps, i, static_cast<int>(count - i));
}

#ifdef __AVX2__

using Vector = __m256i;

inline Vector load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
inline Vector load_halves(const void* low, const void* high) {
  const __m128i first = _mm_loadu_si128(static_cast<const __m128i*>(low));
  const __m128i second = _mm_loadu_si128(static_cast<const __m128i*>(high));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}
inline void store(void* to, Vector v) { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }

#ifdef __AVX512VNNI__

/// The longest vectors there are, for rows.
using Long = __m512i;
inline Long load_long(const void* from) { return _mm512_loadu_si512(from); }
inline Long repeat16(int value) { return _mm512_set1_epi16(static_cast<int16_t>(value)); }
inline Long repeat32(int32_t value) { return _mm512_set1_epi32(value); }
inline Long low_bytes(Long a, Long b) { return _mm512_unpacklo_epi8(a, b); }
inline Long high_bytes(Long a, Long b) { return _mm512_unpackhi_epi8(a, b); }
inline Long exclusive_or(Long a, Long b) { return _mm512_xor_si512(a, b); }
inline Long add(Long a, Long b) { return _mm512_add_epi16(a, b); }
inline Long high_product(Long a, Long b) { return _mm512_mulhi_epu16(a, b); }
inline Long shift_right(Long a, int bits) { return _mm512_srl_epi16(a, _mm_cvtsi32_si128(bits)); }
inline Long narrow_sums(Long low, Long high, int bits) {
  const __m128i count = _mm_cvtsi32_si128(bits);
  return _mm512_packs_epi32(_mm512_sra_epi32(low, count), _mm512_sra_epi32(high, count));
}
inline Long add_pairs(Long sum, Long pairs, Long weights) {
  return _mm512_dpwssd_epi32(sum, pairs, weights);
}
inline Vector add_pairs(Vector sum, Vector pairs, Vector weights) {
  return _mm256_dpwssd_epi32(sum, pairs, weights);
}

/// Stores values that low_bytes() and high_bytes() had taken apart.
inline void store_values(uint8_t* to, Long low, Long high) {
  _mm512_storeu_si512(to, _mm512_packus_epi16(low, high));
}
inline void store_values(int16_t* to, Long low, Long high) {
  const Long first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const Long last = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  _mm512_storeu_si512(to, _mm512_permutex2var_epi64(low, first, high));
  _mm512_storeu_si512(to + 32, _mm512_permutex2var_epi64(low, last, high));
}

#else

/// The longest vectors there are, for rows.
using Long = __m256i;
inline Long load_long(const void* from) { return load(from); }
inline Long repeat16(int value) { return _mm256_set1_epi16(static_cast<int16_t>(value)); }
inline Long repeat32(int32_t value) { return _mm256_set1_epi32(value); }
inline Long low_bytes(Long a, Long b) { return _mm256_unpacklo_epi8(a, b); }
inline Long high_bytes(Long a, Long b) { return _mm256_unpackhi_epi8(a, b); }
inline Long exclusive_or(Long a, Long b) { return _mm256_xor_si256(a, b); }
inline Long add(Long a, Long b) { return _mm256_add_epi16(a, b); }
inline Long high_product(Long a, Long b) { return _mm256_mulhi_epu16(a, b); }
inline Long shift_right(Long a, int bits) { return _mm256_srl_epi16(a, _mm_cvtsi32_si128(bits)); }
inline Long narrow_sums(Long low, Long high, int bits) {
  const __m128i count = _mm_cvtsi32_si128(bits);
  return _mm256_packs_epi32(_mm256_sra_epi32(low, count), _mm256_sra_epi32(high, count));
}
inline Vector add_pairs(Vector sum, Vector pairs, Vector weights) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, weights));
}

/// Stores values that low_bytes() and high_bytes() had taken apart.
inline void store_values(uint8_t* to, Long low, Long high) {
  store(to, _mm256_packus_epi16(low, high));
}
inline void store_values(int16_t* to, Long low, Long high) {
  store(to, _mm256_permute2x128_si256(low, high, 0x20));
  store(to + 16, _mm256_permute2x128_si256(low, high, 0x31));
}

#endif

constexpr int64_t kLong = sizeof(Long);

template <class Out>
void blend_signed(Out* out, const SignedTaps& taps, int shift, int64_t count) {
  if (count < kLong) return blend_signed_plain(out, taps, shift, count);
  const Long rounding = repeat32(shift ? 1 << (shift - 1) : 0), none = repeat32(0);
  for (int64_t i = 0; i < count; i += kLong) {
    if (i > count - kLong) i = count - kLong;  // the last vector may overlap the one before
    taps.fetch(i);
    Long s0 = rounding, s1 = rounding, s2 = rounding, s3 = rounding;
    for (int j = 0; j < taps.taps; j++) {
      const Long upper = load_long(taps.rows[2 * j] + i);
      const Long lower = load_long(taps.rows[2 * j + 1] + i);
      const Long weights = repeat32(taps.weights[j]);
      const Long left = low_bytes(upper, lower), right = high_bytes(upper, lower);
      s0 = add_pairs(s0, low_bytes(left, none), weights);
      s1 = add_pairs(s1, high_bytes(left, none), weights);
      s2 = add_pairs(s2, low_bytes(right, none), weights);
      s3 = add_pairs(s3, high_bytes(right, none), weights);
    }
    store_values(out + i, narrow_sums(s0, s1, shift), narrow_sums(s2, s3, shift));
  }
}

inline Long finish_unsigned(const uint8_t*, Long sum) {
  return shift_right(add(sum, repeat16(1 << (kWideFraction - 1))), kWideFraction);
}
inline Long finish_unsigned(const int16_t*, Long sum) {
  return exclusive_or(sum, repeat16(kWideOffset));
}

/// Takes `vectors` of them in a step; there must be that many.
template <int vectors, class Out>
void blend_unsigned_steps(Out* out, const UnsignedTaps& taps, int64_t count) {
  constexpr int64_t kStep = vectors * kLong;
  const Long none = repeat16(0), bias = repeat16(unsigned_bias(taps.taps));
  for (int64_t i = 0; i < count; i += kStep) {
    if (i > count - kStep) i = count - kStep;
    for (int64_t line = 0; line < kStep; line += 64) taps.fetch(i + line);
    Long low[vectors], high[vectors];
    for (int v = 0; v < vectors; v++) low[v] = high[v] = bias;
    for (int k = 0; k < taps.taps; k++) {
      const Long weight = repeat16(taps.weights[k]);
      for (int v = 0; v < vectors; v++) {
        const Long values = load_long(taps.rows[k] + i + v * kLong);
        // A byte in the upper half of a word is the value times 256.
        low[v] = add(low[v], high_product(low_bytes(none, values), weight));
        high[v] = add(high[v], high_product(high_bytes(none, values), weight));
      }
    }
    for (int v = 0; v < vectors; v++) {
      store_values(out + i + v * kLong, finish_unsigned(out, low[v]),
                   finish_unsigned(out, high[v]));
    }
  }
}

template <class Out>
void blend_unsigned(Out* out, const UnsignedTaps& taps, int64_t count) {
  if (count < kLong) return blend_unsigned_plain(out, taps, count);
  if (count < 2 * kLong) return blend_unsigned_steps<1>(out, taps, count);
  blend_unsigned_steps<2>(out, taps, count);
}

/// Transposes both 4 x 4 blocks of four vectors of four 32-bit values per half.
inline void transpose(Vector (&v)[4]) {
  const Vector a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpackhi_epi32(v[0], v[1]);
  const Vector c = _mm256_unpacklo_epi32(v[2], v[3]), d = _mm256_unpackhi_epi32(v[2], v[3]);
  v[0] = _mm256_unpacklo_epi64(a, c);
  v[1] = _mm256_unpackhi_epi64(a, c);
  v[2] = _mm256_unpacklo_epi64(b, d);
  v[3] = _mm256_unpackhi_epi64(b, d);
}

/// Brings the channels of the two pixels of a pair together: r0 g0 b0 r1 g1 b1 -> r0 r1 g0 g1 ...
inline Vector pairing_shuffle(int64_t channels) {
  alignas(32) int8_t bytes[32];
  for (int lane = 0; lane < 16; lane += 2) {
    const int element = lane / 2;
    const auto pair_size = static_cast<int>(2 * channels);
    const int pair = element / pair_size, inside = element % pair_size;
    int source = pair * pair_size + inside / 2 + (inside % 2) * static_cast<int>(channels);
    if (source > 7) source = 7;
    bytes[lane] = bytes[lane + 16] = static_cast<int8_t>(2 * source);
    bytes[lane + 1] = bytes[lane + 17] = static_cast<int8_t>(2 * source + 1);
  }
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes));
}

/// Pair p of channel c of the eight rows becomes vector p * channels + c. May write three vectors
/// too many.
void transpose_in(int32_t* to, const int16_t* const* rows, InputRange pairs, int64_t channels) {
  const Vector shuffle = pairing_shuffle(channels);
  const int64_t step = channels == 3 ? 1 : 4 / channels;
  for (int64_t p = pairs.begin; p < pairs.end; p += step, to += step * channels * 8) {
    const int64_t offset = p * 2 * channels;
    Vector v[4];
    for (int r = 0; r < 4; r++) {
      v[r] = _mm256_shuffle_epi8(load_halves(rows[r] + offset, rows[r + 4] + offset), shuffle);
    }
    transpose(v);
    for (int k = 0; k < 4; k++) store(to + k * 8, v[k]);
  }
}

template <int Channels>
void sum_block(int32_t* sums, const int32_t* from, const Columns<int32_t>& columns, int64_t begin,
               int64_t end, int64_t first) {
  const Vector rounding = _mm256_set1_epi32(columns.rounding);
  const __m128i bits = _mm_cvtsi32_si128(columns.shift);
  for (int64_t x = begin; x < end; x++, sums += Channels * 8) {
    const int32_t* pair = from + (columns.start[x] - first) * Channels * 8;
    const int32_t* weights = columns.weights + x * columns.taps;
    Vector s[Channels];
    for (auto& sum : s) sum = rounding;
    for (int k = 0; k < columns.taps; k++, pair += Channels * 8) {
      const Vector weight = _mm256_set1_epi32(weights[k]);
      for (int c = 0; c < Channels; c++) {
        s[c] = add_pairs(s[c], load(pair + c * 8), weight);
      }
    }
    for (int c = 0; c < Channels; c++) store(sums + c * 8, _mm256_sra_epi32(s[c], bits));
  }
}

/// Column j of `sums` holds element j of the eight rows. May read 15 columns too many.
void transpose_out(uint8_t* const* out, const int32_t* sums, int64_t begin, int64_t count,
                   int rows) {
  const Vector order = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15,  //
                                        0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  for (int64_t j = 0; j < count; j += 16, sums += 16 * 8) {
    Vector v[4];
    for (int q = 0; q < 4; q++) {
      const int32_t* from = sums + q * 4 * 8;
      const Vector low = _mm256_packs_epi32(load(from), load(from + 8));
      const Vector high = _mm256_packs_epi32(load(from + 16), load(from + 24));
      v[q] = _mm256_shuffle_epi8(_mm256_packus_epi16(low, high), order);
    }
    transpose(v);
    alignas(32) uint8_t bytes[kRowGroup][16];
    for (int r = 0; r < 4; r++) {
      _mm_store_si128(reinterpret_cast<__m128i*>(bytes[r]), _mm256_castsi256_si128(v[r]));
      _mm_store_si128(reinterpret_cast<__m128i*>(bytes[r + 4]), _mm256_extracti128_si256(v[r], 1));
    }
    if (count - j >= 16) {
      for (int r = 0; r < rows; r++) std::memcpy(out[r] + begin + j, bytes[r], 16);
    } else {
      for (int r = 0; r < rows; r++) {
        std::memcpy(out[r] + begin + j, bytes[r], static_cast<size_t>(count - j));
      }
    }
  }
}

#else

template <class Out>
void blend_signed(Out* out, const SignedTaps& taps, int shift, int64_t count) {
  blend_signed_plain(out, taps, shift, count);
}

template <class Out>
void blend_unsigned(Out* out, const UnsignedTaps& taps, int64_t count) {
  blend_unsigned_plain(out, taps, count);
}

/// As above, but of each pair the first taps of all channels stand before the second ones.
void transpose_in(int32_t* to, const int16_t* const* rows, InputRange pairs, int64_t channels) {
  auto* halves = reinterpret_cast<int16_t*>(to);
  for (int64_t p = 2 * pairs.begin; p < 2 * pairs.end; p++) {
    for (int64_t c = 0; c < channels; c++, halves += 8) {
      for (int r = 0; r < 8; r++) halves[r] = rows[r][p * channels + c];
    }
  }
}

template <int Count>
[[gnu::noinline]] void add_pair(int32_t* __restrict sums, const int16_t* pair, int32_t weights) {
  const auto first = static_cast<int16_t>(low_half(weights));
  const auto second = static_cast<int16_t>(high_half(weights));
  for (int i = 0; i < Count; i++) sums[i] += pair[i] * first + pair[i + Count] * second;
}

template <int Channels>
void sum_block(int32_t* sums, const int32_t* from, const Columns<int32_t>& columns, int64_t begin,
               int64_t end, int64_t first) {
  constexpr int count = Channels * 8;
  const auto* halves = reinterpret_cast<const int16_t*>(from);
  for (int64_t x = begin; x < end; x++, sums += count) {
    const int16_t* pair = halves + (columns.start[x] - first) * count * 2;
    const int32_t* weights = columns.weights + x * columns.taps;
    for (int i = 0; i < count; i++) sums[i] = columns.rounding;
    for (int k = 0; k < columns.taps; k++) {
      add_pair<count>(sums, pair + k * count * 2, weights[k]);
    }
    for (int i = 0; i < count; i++) sums[i] >>= columns.shift;
  }
}

void transpose_out(uint8_t* const* out, const int32_t* sums, int64_t begin, int64_t count,
                   int rows) {
  for (int r = 0; r < rows; r++) {
    for (int64_t j = 0; j < count; j++) narrow(out[r] + begin + j, sums[j * 8 + r]);
  }
}

#endif

template <int Channels>
void resample_blocks(uint8_t* const* out, const int16_t* const* rows, int count,
                     const Columns<int32_t>& columns, int32_t* scratch) {
  int32_t* sums = scratch;
  int32_t* transposed = sums + (kColumnBlock * Channels + 16) * 8;
  for (int64_t x0 = 0, b = 0; x0 < columns.out_size; x0 += kColumnBlock, b++) {
    const int64_t x1 = x0 + kColumnBlock < columns.out_size ? x0 + kColumnBlock : columns.out_size;
    const InputRange pairs = columns.blocks[b];
    transpose_in(transposed, rows, pairs, Channels);
    sum_block<Channels>(sums, transposed, columns, x0, x1, pairs.begin);
    transpose_out(out, sums, x0 * Channels, (x1 - x0) * Channels, count);
  }
}

void resample_columns(uint8_t* const* out, const int16_t* const* rows, int count,
                      const Columns<int32_t>& columns, void* scratch) {
  auto* memory = static_cast<int32_t*>(scratch);
  switch (columns.channels) {
    case 1:
      return resample_blocks<1>(out, rows, count, columns, memory);
    case 2:
      return resample_blocks<2>(out, rows, count, columns, memory);
    case 3:
      return resample_blocks<3>(out, rows, count, columns, memory);
    default:
      return resample_blocks<4>(out, rows, count, columns, memory);
  }
}

}  // namespace

const FixedResizeLoops fixed_resize_loops = {blend_signed<uint8_t>, blend_signed<int16_t>,
                                             blend_unsigned<uint8_t>, blend_unsigned<int16_t>,
                                             resample_columns};

}  // namespace daliesque::resize::DALIESQUE_ISA
