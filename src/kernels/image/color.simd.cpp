// SPDX-License-Identifier: Apache-2.0
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "core/half.h"
#include "image/color_loops.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

// Added to a number that is not negative before its fraction is cut off, this rounds to nearest,
// halves up, exactly: one half itself would lift the largest float below 0.5 to 1.
constexpr float kAlmostHalf = 0x1.fffffep-2f;

DALIESQUE_INLINE uint8_t round_to_byte(float value) {
  // NaN fails the comparison and becomes 0.
  const float positive = value > 0.0f ? value : 0.0f;
  const float inside = positive < 255.0f ? positive : 255.0f;
  return static_cast<uint8_t>(static_cast<int32_t>(inside + kAlmostHalf));
}

void multiply_add(float* __restrict out, const float* __restrict in, int64_t count,
                  float multiplier, float addend) {
  for (int64_t i = 0; i < count; i++) out[i] = in[i] * multiplier + addend;
}

#ifdef __AVX2__
DALIESQUE_INLINE float magnitude(float value) { return value < 0 ? -value : value; }

/// Whether 32-bit integers hold all values up to a bound, with a margin for rounding errors; NaN
/// fails.
DALIESQUE_INLINE bool in_range(float bound) { return bound < 1e9f; }

/// Rounds halves up; what is below 0 comes out below 1. Packing with saturation does the clamping
/// of everything else, but only what an integer can hold can be clamped.
DALIESQUE_INLINE __m256i round_to_integers(__m256 value) {
  return _mm256_cvttps_epi32(_mm256_add_ps(value, _mm256_set1_ps(kAlmostHalf)));
}

/// Eight pixels of three bytes: four in each half. Reads 28 bytes.
DALIESQUE_INLINE __m256i load_pixels(const uint8_t* in) {
  const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
  const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 12));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/// Inverse of load_pixels; writes 28 bytes, of which the last four are void.
DALIESQUE_INLINE void store_pixels(uint8_t* out, __m256i pixels) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(pixels));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 12), _mm256_extracti128_si256(pixels, 1));
}

// load_pixels and store_pixels touch this many pixels, the last of them in part.
constexpr int64_t kTouched = 10;

/// Bytes c, 3 + c, 6 + c, 9 + c of each half as 32-bit integers.
DALIESQUE_INLINE __m256i channel_mask(int c) {
  constexpr char z = -1;
  const auto byte = [c](int pixel) { return static_cast<char>(3 * pixel + c); };
  return _mm256_broadcastsi128_si256(
      _mm_setr_epi8(byte(0), z, z, z, byte(1), z, z, z, byte(2), z, z, z, byte(3), z, z, z));
}

/// Packs integers to bytes with saturation; each half gets four of a, of b, of c and of c again.
DALIESQUE_INLINE __m256i pack_channels(__m256i a, __m256i b, __m256i c) {
  return _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, c));
}

/// Puts what pack_channels returns into the order of pixels, at the front of each half.
DALIESQUE_INLINE __m256i interleaving_mask(bool reversed) {
  const char a = reversed ? 8 : 0, c = reversed ? 0 : 8;
  const auto at = [](int pixel, int channel) { return static_cast<char>(pixel + channel); };
  return _mm256_broadcastsi128_si256(_mm_setr_epi8(at(0, a), at(0, 4), at(0, c), at(1, a), at(1, 4),
                                                   at(1, c), at(2, a), at(2, 4), at(2, c), at(3, a),
                                                   at(3, 4), at(3, c), -1, -1, -1, -1));
}
#endif

#ifdef __AVX2__
/// Maps 32 bytes to `multiplier` times themselves plus `addend`, rounded and clamped.
class FloatLine {
 public:
  DALIESQUE_INLINE FloatLine(float multiplier, float addend)
      : multiplier_(_mm256_set1_ps(multiplier)), addend_(_mm256_set1_ps(addend)) {}

  DALIESQUE_INLINE __m256i operator()(__m256i bytes) const {
    const __m256i low = _mm256_set1_epi32(255);
    const __m256i first = map(_mm256_and_si256(bytes, low));
    const __m256i second = map(_mm256_and_si256(_mm256_srli_epi32(bytes, 8), low));
    const __m256i third = map(_mm256_and_si256(_mm256_srli_epi32(bytes, 16), low));
    const __m256i fourth = map(_mm256_srli_epi32(bytes, 24));
    const __m256i packed =
        _mm256_packus_epi16(_mm256_packs_epi32(first, second), _mm256_packs_epi32(third, fourth));
    // Packing left every fourth byte together.
    const __m256i order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return _mm256_shuffle_epi8(packed, order);
  }

 private:
  DALIESQUE_INLINE __m256i map(__m256i values) const {
    const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(values), multiplier_);
    return round_to_integers(_mm256_add_ps(product, addend_));
  }

  __m256 multiplier_, addend_;
};

/// The same in words, twice as fast. Words have space for a few fraction bits only, so that about
/// one byte of the 256 comes out differently; such bytes are found beforehand and corrected.
class WordLine {
 public:
  static constexpr int kMostCorrected = 3;

  /// The multiplier is at least 0 and at most kSteepest.
  static constexpr float kSteepest = 127;
  DALIESQUE_INLINE WordLine(float multiplier, float addend) {
    // The upper word of (256 * byte) * factor is to hold byte * multiplier with its fraction bits.
    int bits = 8;
    while (multiplier * static_cast<float>(256 << bits) > 65535.0f) bits--;
    const auto one = static_cast<float>(1 << bits);
    // Half of a byte's unit rounds the sum, half of the last bit makes up for the cut of the rest.
    const float shift = addend * one + one / 2 + 0.5f;
    factor_ = broadcast_word(multiplier * 256 * one);
    added_ = broadcast_word(shift);
    subtracted_ = broadcast_word(-shift);
    bits_ = _mm_cvtsi32_si128(bits);
  }

  /// Finds the bytes for which the other line has another result; returns how many.
  DALIESQUE_INLINE int compare(const FloatLine& exact) {
    int corrected = 0;
    __m256i bytes = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
                                     18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    for (int first = 0; first < 256; first += 32) {
      alignas(32) uint8_t wanted[32];
      const __m256i result = exact(bytes);
      _mm256_store_si256(reinterpret_cast<__m256i*>(wanted), result);
      const __m256i same = _mm256_cmpeq_epi8(result, run<0>(bytes));
      for (auto left = ~static_cast<uint32_t>(_mm256_movemask_epi8(same)); left; left &= left - 1) {
        const int k = __builtin_ctz(left);
        if (corrected < kMostCorrected) {
          corrected_[corrected] = _mm256_set1_epi8(static_cast<char>(first + k));
          wanted_[corrected] = _mm256_set1_epi8(static_cast<char>(wanted[k]));
        }
        corrected++;
      }
      bytes = _mm256_add_epi8(bytes, _mm256_set1_epi8(32));
    }
    return corrected;
  }

  /// With the first `corrected` of the differing bytes corrected.
  template <int corrected>
  DALIESQUE_INLINE __m256i run(__m256i bytes) const {
    const __m256i zero = _mm256_setzero_si256();
    __m256i results = _mm256_packus_epi16(map(_mm256_unpacklo_epi8(zero, bytes)),
                                          map(_mm256_unpackhi_epi8(zero, bytes)));
    for (int k = 0; k < corrected; k++) {
      results = _mm256_blendv_epi8(results, wanted_[k], _mm256_cmpeq_epi8(bytes, corrected_[k]));
    }
    return results;
  }

 private:
  DALIESQUE_INLINE static __m256i broadcast_word(float value) {
    const float positive = value > 0.0f ? value : 0.0f;
    const float inside = positive < 65535.0f ? positive : 65535.0f;
    return _mm256_set1_epi16(static_cast<int16_t>(static_cast<int32_t>(inside + kAlmostHalf)));
  }

  DALIESQUE_INLINE __m256i map(__m256i words) const {
    const __m256i sum = _mm256_adds_epu16(_mm256_mulhi_epu16(words, factor_), added_);
    return _mm256_srl_epi16(_mm256_subs_epu16(sum, subtracted_), bits_);
  }

  __m256i factor_, added_, subtracted_;
  __m128i bits_;
  __m256i corrected_[kMostCorrected], wanted_[kMostCorrected];
};

template <int corrected>
struct CorrectedLine {
  const WordLine& line;
  DALIESQUE_INLINE __m256i operator()(__m256i bytes) const { return line.run<corrected>(bytes); }
};

/// Maps as many bytes as there are whole vectors; returns how many.
template <class Function>
DALIESQUE_INLINE int64_t map_bytes(uint8_t* __restrict out, const uint8_t* __restrict in,
                                   int64_t count, bool streamed, const Function& function) {
  int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
    auto* to = reinterpret_cast<__m256i*>(out + i);
    if (streamed) {
      _mm256_stream_si256(to, function(bytes));
    } else {
      _mm256_storeu_si256(to, function(bytes));
    }
  }
  return i;
}

/// `streamed` needs an aligned output.
DALIESQUE_INLINE int64_t map_line(uint8_t* __restrict out, const uint8_t* __restrict in,
                                  int64_t count, float multiplier, float addend, bool streamed) {
  const FloatLine exact(multiplier, addend);
  constexpr int64_t kWorthComparing = 2048;
  if (count >= kWorthComparing && multiplier >= 0 && multiplier <= WordLine::kSteepest) {
    WordLine line(multiplier, addend);
    switch (line.compare(exact)) {
      case 0:
        return map_bytes(out, in, count, streamed, CorrectedLine<0>{line});
      case 1:
        return map_bytes(out, in, count, streamed, CorrectedLine<1>{line});
      case 2:
        return map_bytes(out, in, count, streamed, CorrectedLine<2>{line});
      case 3:
        return map_bytes(out, in, count, streamed, CorrectedLine<3>{line});
    }
  }
  return map_bytes(out, in, count, streamed, exact);
}
#endif

void multiply_add_bytes(uint8_t* __restrict out, const uint8_t* __restrict in, int64_t count,
                        float multiplier, float addend, [[maybe_unused]] bool streamed) {
  const auto map_one = [&](int64_t i) {
    out[i] = round_to_byte(static_cast<float>(in[i]) * multiplier + addend);
  };
  int64_t i = 0;
#ifdef __AVX2__
  if (in_range(255 * magnitude(multiplier) + magnitude(addend))) {
    for (; streamed && i < count && reinterpret_cast<uintptr_t>(out + i) % 32 != 0; i++) map_one(i);
    i += map_line(out + i, in + i, count - i, multiplier, addend, streamed);
  }
#endif
  for (; i < count; i++) map_one(i);
}

void transform(float* __restrict out, const float* __restrict in, int64_t pixels,
               const ColorTransform& t) {
  int64_t i = 0;
#ifdef __AVX2__
  // 8 and 3 have no common divisor: among items k, k + 8 and k + 16 there is one of each channel.
  // So blending three vectors gives all items of a channel, to be put in order, and vice versa.
  const __m256i gather[3] = {_mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5),
                             _mm256_setr_epi32(1, 4, 7, 2, 5, 0, 3, 6),
                             _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7)};
  const __m256i scatter[3] = {_mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5),
                              _mm256_setr_epi32(5, 0, 3, 6, 1, 4, 7, 2),
                              _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7)};
  for (; i + 8 <= pixels; i += 8) {
    const __m256 a = _mm256_loadu_ps(in + 3 * i), b = _mm256_loadu_ps(in + 3 * i + 8);
    const __m256 c = _mm256_loadu_ps(in + 3 * i + 16);
    const __m256 channels[3] = {
        _mm256_permutevar8x32_ps(_mm256_blend_ps(_mm256_blend_ps(a, b, 0x92), c, 0x24), gather[0]),
        _mm256_permutevar8x32_ps(_mm256_blend_ps(_mm256_blend_ps(a, b, 0x24), c, 0x49), gather[1]),
        _mm256_permutevar8x32_ps(_mm256_blend_ps(_mm256_blend_ps(a, b, 0x49), c, 0x92), gather[2])};
    __m256 results[3];
    for (int k = 0; k < 3; k++) {
      __m256 sum = _mm256_mul_ps(_mm256_set1_ps(t.matrix[k][0]), channels[0]);
      sum = _mm256_add_ps(sum, _mm256_mul_ps(_mm256_set1_ps(t.matrix[k][1]), channels[1]));
      sum = _mm256_add_ps(sum, _mm256_mul_ps(_mm256_set1_ps(t.matrix[k][2]), channels[2]));
      sum = _mm256_add_ps(sum, _mm256_set1_ps(t.offset[k]));
      results[k] = _mm256_permutevar8x32_ps(sum, scatter[k]);
    }
    const __m256 x = results[0], y = results[1], z = results[2];
    _mm256_storeu_ps(out + 3 * i, _mm256_blend_ps(_mm256_blend_ps(x, y, 0x92), z, 0x24));
    _mm256_storeu_ps(out + 3 * i + 8, _mm256_blend_ps(_mm256_blend_ps(x, y, 0x24), z, 0x49));
    _mm256_storeu_ps(out + 3 * i + 16, _mm256_blend_ps(_mm256_blend_ps(x, y, 0x49), z, 0x92));
  }
#endif
  for (; i < pixels; i++) {
    const float a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    for (int k = 0; k < 3; k++) {
      const float sum = t.matrix[k][0] * a + t.matrix[k][1] * b + t.matrix[k][2] * c;
      out[3 * i + k] = sum + t.offset[k];
    }
  }
}

#ifdef __AVX2__
/// Whether integers hold all that a transformation makes of bytes.
DALIESQUE_INLINE bool results_fit(const ColorTransform& t) {
  bool fits = true;
  for (int k = 0; k < 3; k++) {
    const float* row = t.matrix[k];
    const float steepest = magnitude(row[0]) + magnitude(row[1]) + magnitude(row[2]);
    fits = fits && in_range(255 * steepest + magnitude(t.offset[k]));
  }
  return fits;
}
#endif

#ifdef __AVX512VBMI__
/// Transforms 16 pixels at a time; returns how many.
///
/// Without a center, bytes need no conversion: as the last bits of 2^23, they are the sum of both,
/// and a fused product with that, less the product with 2^23, is rounded as that with the byte.
template <bool centered>
DALIESQUE_INLINE int64_t transform_groups(uint8_t* __restrict out, const uint8_t* __restrict in,
                                          int64_t pixels, const ColorTransform& t) {
  constexpr __mmask64 kGroup = (__mmask64{1} << 48) - 1, kFirstOfFour = 0x1111111111111111;
  const __m512i first_bytes =
      _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45);
  constexpr float kBase = 0x1p23f;
  __m512 matrix[3][3], base[3][3], offset[3];
  __m512i order[3], center[3];
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < 3; j++) {
      matrix[k][j] = _mm512_set1_ps(t.matrix[k][j]);
      base[k][j] = _mm512_set1_ps(t.matrix[k][j] * -kBase);
    }
    offset[k] = _mm512_set1_ps(t.offset[k]);
    center[k] = _mm512_set1_epi32(t.center[k]);
    order[k] = _mm512_add_epi32(first_bytes, _mm512_set1_epi32(t.reversed_in ? 2 - k : k));
  }
  // Packing leaves four of each channel together, as interleaving_mask knows.
  alignas(64) uint8_t interleaving[64] = {};
  for (int pixel = 0; pixel < 16; pixel++) {
    for (int k = 0; k < 3; k++) {
      const int channel = t.reversed_out ? 2 - k : k;
      interleaving[3 * pixel + k] = static_cast<uint8_t>(pixel / 4 * 16 + 4 * channel + pixel % 4);
    }
  }
  const __m512i into_pixels = _mm512_load_si512(interleaving);
  int64_t i = 0;
  for (; i + 16 <= pixels; i += 16) {
    const __m512i source = _mm512_maskz_loadu_epi8(kGroup, in + 3 * i);
    __m512 channels[3];
    for (int k = 0; k < 3; k++) {
      if constexpr (centered) {
        const __m512i whole = _mm512_maskz_permutexvar_epi8(kFirstOfFour, order[k], source);
        channels[k] = _mm512_cvtepi32_ps(_mm512_sub_epi32(whole, center[k]));
      } else {
        const __m512i bits = _mm512_castps_si512(_mm512_set1_ps(kBase));
        channels[k] =
            _mm512_castsi512_ps(_mm512_mask_permutexvar_epi8(bits, kFirstOfFour, order[k], source));
      }
    }
    const auto product = [&](int k, int j) {
      return centered ? _mm512_mul_ps(matrix[k][j], channels[j])
                      : _mm512_fmadd_ps(matrix[k][j], channels[j], base[k][j]);
    };
    __m512i results[3];
    for (int k = 0; k < 3; k++) {
      __m512 sum = _mm512_add_ps(product(k, 0), product(k, 1));
      sum = _mm512_add_ps(_mm512_add_ps(sum, product(k, 2)), offset[k]);
      // A sum by the units that multiply, which have less to do.
      sum = _mm512_fmadd_ps(sum, _mm512_set1_ps(1), _mm512_set1_ps(kAlmostHalf));
      results[k] = _mm512_cvttps_epi32(sum);
    }
    const __m512i packed = _mm512_packus_epi16(_mm512_packs_epi32(results[0], results[1]),
                                               _mm512_packs_epi32(results[2], results[2]));
    _mm512_mask_storeu_epi8(out + 3 * i, kGroup, _mm512_permutexvar_epi8(into_pixels, packed));
  }
  return i;
}
#endif

void transform_bytes(uint8_t* __restrict out, const uint8_t* __restrict in, int64_t pixels,
                     const ColorTransform& t) {
  const int first_in = t.reversed_in ? 2 : 0, first_out = t.reversed_out ? 2 : 0;
  int64_t i = 0;
#ifdef __AVX2__
  const bool fits = results_fit(t);
#ifdef __AVX512VBMI__
  const bool centered = (t.center[0] | t.center[1] | t.center[2]) != 0;
  if (fits) {
    i = centered ? transform_groups<true>(out, in, pixels, t)
                 : transform_groups<false>(out, in, pixels, t);
  }
#endif
  const __m256i mask[3] = {channel_mask(first_in), channel_mask(1), channel_mask(2 - first_in)};
  const __m256i interleaving = interleaving_mask(t.reversed_out);
  __m256 matrix[3][3], offset[3];
  __m256i center[3];
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < 3; j++) matrix[k][j] = _mm256_set1_ps(t.matrix[k][j]);
    offset[k] = _mm256_set1_ps(t.offset[k]);
    center[k] = _mm256_set1_epi32(t.center[k]);
  }
  for (; fits && i + kTouched <= pixels; i += 8) {
    const __m256i source = load_pixels(in + 3 * i);
    __m256 channels[3];
    for (int k = 0; k < 3; k++) {
      const __m256i whole = _mm256_shuffle_epi8(source, mask[k]);
      channels[k] = _mm256_cvtepi32_ps(_mm256_sub_epi32(whole, center[k]));
    }
    __m256i results[3];
    for (int k = 0; k < 3; k++) {
      __m256 sum = _mm256_mul_ps(matrix[k][0], channels[0]);
      sum = _mm256_add_ps(sum, _mm256_mul_ps(matrix[k][1], channels[1]));
      sum = _mm256_add_ps(sum, _mm256_mul_ps(matrix[k][2], channels[2]));
      results[k] = round_to_integers(_mm256_add_ps(sum, offset[k]));
    }
    const __m256i packed = pack_channels(results[0], results[1], results[2]);
    store_pixels(out + 3 * i, _mm256_shuffle_epi8(packed, interleaving));
  }
#endif
  for (; i < pixels; i++) {
    const auto a = static_cast<float>(in[3 * i + first_in] - t.center[0]);
    const auto b = static_cast<float>(in[3 * i + 1] - t.center[1]);
    const auto c = static_cast<float>(in[3 * i + 2 - first_in] - t.center[2]);
    uint8_t bytes[3];
    for (int k = 0; k < 3; k++) {
      const float sum = t.matrix[k][0] * a + t.matrix[k][1] * b + t.matrix[k][2] * c;
      bytes[k] = round_to_byte(sum + t.offset[k]);
    }
    out[3 * i] = bytes[first_out];
    out[3 * i + 1] = bytes[1];
    out[3 * i + 2] = bytes[2 - first_out];
  }
}

void weigh_bytes(uint8_t* __restrict out, const uint8_t* __restrict in, int64_t pixels,
                 const int16_t weights[3]) {
  int64_t i = 0;
#ifdef __AVX2__
  // The first two channels side by side as 16-bit integers, and the third by itself.
  constexpr char z = -1;
  const __m256i pair =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, z, 1, z, 3, z, 4, z, 6, z, 7, z, 9, z, 10, z));
  const __m256i third = channel_mask(2);
  const __m256i pair_weights = _mm256_set1_epi32(
      static_cast<int32_t>(static_cast<uint16_t>(weights[0]) |
                           static_cast<uint32_t>(static_cast<uint16_t>(weights[1])) << 16));
  const __m256i third_weight = _mm256_set1_epi32(static_cast<uint16_t>(weights[2]));
  const __m256i half = _mm256_set1_epi32(1 << 14);
  const __m256i low_bytes =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, z, z, z, z, z, z, z, z, z, z, z, z));
  const __m256i lanes = _mm256_setr_epi32(0, 4, 1, 1, 1, 1, 1, 1);
  for (; i + kTouched <= pixels; i += 8) {
    const __m256i source = load_pixels(in + 3 * i);
    const __m256i two = _mm256_madd_epi16(_mm256_shuffle_epi8(source, pair), pair_weights);
    const __m256i one = _mm256_madd_epi16(_mm256_shuffle_epi8(source, third), third_weight);
    const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(two, one), half);
    const __m256i packed = _mm256_shuffle_epi8(_mm256_srli_epi32(sum, 15), low_bytes);
    const __m256i joined = _mm256_permutevar8x32_epi32(packed, lanes);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i), _mm256_castsi256_si128(joined));
  }
#endif
  for (; i < pixels; i++) {
    const int32_t sum =
        in[3 * i] * weights[0] + in[3 * i + 1] * weights[1] + in[3 * i + 2] * weights[2];
    out[i] = static_cast<uint8_t>((sum + (1 << 14)) >> 15);
  }
}

void repeat_bytes(uint8_t* __restrict out, const uint8_t* __restrict in, int64_t pixels) {
  int64_t i = 0;
#ifdef __AVX2__
  const __m128i first = _mm_setr_epi8(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5);
  const __m128i second = _mm_setr_epi8(5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10);
  const __m128i third =
      _mm_setr_epi8(10, 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15);
  for (; i + 16 <= pixels; i += 16) {
    const __m128i gray = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    auto* to = reinterpret_cast<__m128i*>(out + 3 * i);
    _mm_storeu_si128(to, _mm_shuffle_epi8(gray, first));
    _mm_storeu_si128(to + 1, _mm_shuffle_epi8(gray, second));
    _mm_storeu_si128(to + 2, _mm_shuffle_epi8(gray, third));
  }
#endif
  for (; i < pixels; i++) out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = in[i];
}

#ifdef __AVX512VBMI__
/// Where the bytes of a line of 64 come from in two lines of pixels, the first of which begins
/// `first` bytes into the pixels; the line of results begins `at` bytes into them.
struct ReversedLine {
  alignas(64) uint8_t from[64];

  constexpr ReversedLine(int at, int first) : from() {
    for (int k = 0; k < 64; k++) {
      const int byte = at + k;
      from[k] = static_cast<uint8_t>(byte / 3 * 3 + 2 - byte % 3 - first);
    }
  }
};
constexpr ReversedLine kReversedLines[] = {{0, 0}, {64, 48}, {128, 64}};

/// Three lines of pixels at a time, as far as they go; returns how many pixels that were.
template <bool streamed>
DALIESQUE_INLINE int64_t reverse_lines(uint8_t* out, const uint8_t* in, int64_t pixels) {
  const auto load = [&](int64_t at) { return _mm512_loadu_si512(in + at); };
  const auto store = [&](int64_t at, __m512i line) {
    if constexpr (streamed) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(out + at), line);
    } else {
      _mm512_storeu_si512(out + at, line);
    }
  };
  const __m512i first = _mm512_load_si512(kReversedLines[0].from);
  const __m512i second = _mm512_load_si512(kReversedLines[1].from);
  const __m512i third = _mm512_load_si512(kReversedLines[2].from);
  int64_t i = 0;
  for (; i + 64 <= pixels; i += 64) {
    const int64_t at = 3 * i;
    const __m512i middle = load(at + 64);
    store(at, _mm512_permutex2var_epi8(load(at), first, middle));
    store(at + 64, _mm512_permutex2var_epi8(load(at + 48), second, load(at + 112)));
    store(at + 128, _mm512_permutex2var_epi8(middle, third, load(at + 128)));
  }
  return i;
}
#endif

void reverse_pixels(uint8_t* __restrict out, const uint8_t* __restrict in, int64_t pixels) {
  for (int64_t i = 0; i < pixels; i++) {
    const uint8_t first = in[3 * i], last = in[3 * i + 2];
    out[3 * i] = last;
    out[3 * i + 1] = in[3 * i + 1];
    out[3 * i + 2] = first;
  }
}

void reverse_bytes(uint8_t* out, const uint8_t* in, int64_t pixels,
                   [[maybe_unused]] bool streamed) {
  int64_t i = 0;
#if defined(__AVX512VBMI__)
  if (streamed) {
    // After less than a line of pixels the result is at the beginning of one.
    while (i < pixels && reinterpret_cast<uintptr_t>(out + 3 * i) % 64 != 0) i++;
    reverse_pixels(out, in, i);
    i += reverse_lines<true>(out + 3 * i, in + 3 * i, pixels - i);
  } else {
    i = reverse_lines<false>(out, in, pixels);
  }
#elif defined(__AVX2__)
  const __m256i reversal = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, -1, -1, -1, -1));
  for (; i + kTouched <= pixels; i += 8) {
    store_pixels(out + 3 * i, _mm256_shuffle_epi8(load_pixels(in + 3 * i), reversal));
  }
#endif
  reverse_pixels(out + 3 * i, in + 3 * i, pixels - i);
}

}  // namespace

const ColorLoops color_loops = {
    multiply_add, multiply_add_bytes, transform,     transform_bytes,
    weigh_bytes,  repeat_bytes,       reverse_bytes,
};

}  // namespace daliesque::image::DALIESQUE_ISA
