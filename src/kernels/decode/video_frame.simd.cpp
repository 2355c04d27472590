// SPDX-License-Identifier: Apache-2.0
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "core/half.h"
#include "decode/video_frame_loops.h"

namespace daliesque::decode::DALIESQUE_ISA {

namespace {

// A chroma sum has weight 16 after both interpolations; luma is scaled to match. Weights are in
// units of 2^-13, so 17 bits are to be shifted out.
constexpr int kShift = 17;
constexpr int16_t kMiddle = 16 * 128;

DALIESQUE_INLINE uint8_t clamp_to_byte(int32_t value) {
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

/// `u` and `v` have weight 16 and are centered at 0.
DALIESQUE_INLINE void convert_pixel(uint8_t* out, uint8_t luma, int32_t u, int32_t v,
                                    const YuvWeights& weights) {
  constexpr int32_t kHalf = 1 << (kShift - 1);
  const int32_t gray = 16 * (luma - weights.luma_zero) * weights.luma + kHalf;
  out[0] = clamp_to_byte((gray + v * weights.red_of_v) >> kShift);
  out[1] = clamp_to_byte((gray + v * weights.green_of_v + u * weights.green_of_u) >> kShift);
  out[2] = clamp_to_byte((gray + u * weights.blue_of_u) >> kShift);
}

void blend_chroma(int16_t* __restrict out, const uint8_t* near, const uint8_t* far, int64_t count) {
  for (int64_t i = 0; i < count; i++) out[i] = static_cast<int16_t>(3 * near[i] + far[i]);
}

#ifdef __AVX2__
/// Converts 16 pixels at a time.
class PixelConverter {
 public:
  DALIESQUE_INLINE explicit PixelConverter(const YuvWeights& w)
      : luma_zero_(_mm256_set1_epi16(w.luma_zero)),
        red_(pair(w.luma, w.red_of_v)),
        green_(pair(w.luma, w.green_of_v)),
        blue_(pair(w.luma, w.blue_of_u)),
        // Times (u, 2^14) this adds one half.
        green_of_u_(pair(w.green_of_u, 1 << (kShift - 1 - 14))) {}

  /// `u` and `v` are 16 centered sums of weight 16.
  DALIESQUE_INLINE void run(uint8_t* out, const uint8_t* luma, __m256i u, __m256i v) const {
    const __m256i bytes =
        _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(luma)));
    const __m256i gray = _mm256_slli_epi16(_mm256_sub_epi16(bytes, luma_zero_), 4);
    const __m256i half = _mm256_set1_epi32(1 << (kShift - 1));
    const __m256i with_v[2] = {_mm256_unpacklo_epi16(gray, v), _mm256_unpackhi_epi16(gray, v)};
    const __m256i with_u[2] = {_mm256_unpacklo_epi16(gray, u), _mm256_unpackhi_epi16(gray, u)};
    const __m256i one = _mm256_set1_epi16(1 << 14);
    const __m256i only_u[2] = {_mm256_unpacklo_epi16(u, one), _mm256_unpackhi_epi16(u, one)};
    __m256i r[2], g[2], b[2];
    for (int k = 0; k < 2; k++) {
      r[k] = _mm256_add_epi32(_mm256_madd_epi16(with_v[k], red_), half);
      g[k] = _mm256_add_epi32(_mm256_madd_epi16(with_v[k], green_),
                              _mm256_madd_epi16(only_u[k], green_of_u_));
      b[k] = _mm256_add_epi32(_mm256_madd_epi16(with_u[k], blue_), half);
    }
    store(out, shifted(r), shifted(g), shifted(b));
  }

 private:
  DALIESQUE_INLINE static __m256i pair(int16_t first, int16_t second) {
    return _mm256_unpacklo_epi16(_mm256_set1_epi16(first), _mm256_set1_epi16(second));
  }

  DALIESQUE_INLINE static __m256i shifted(const __m256i value[2]) {
    return _mm256_packs_epi32(_mm256_srai_epi32(value[0], kShift),
                              _mm256_srai_epi32(value[1], kShift));
  }

  /// Each half holds eight pixels: 24 bytes.
  DALIESQUE_INLINE static void store(uint8_t* out, __m256i r, __m256i g, __m256i b) {
    constexpr char z = -1;
    const __m256i rg = _mm256_packus_epi16(r, g), bb = _mm256_packus_epi16(b, b);
    const __m256i rg_first = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 8, z, 1, 9, z, 2, 10, z, 3, 11, z, 4, 12, z, 5));
    const __m256i b_first =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(z, z, 0, z, z, 1, z, z, 2, z, z, 3, z, z, 4, z));
    const __m256i rg_rest = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(13, z, 6, 14, z, 7, 15, z, z, z, z, z, z, z, z, z));
    const __m256i b_rest =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(z, 5, z, z, 6, z, z, 7, z, z, z, z, z, z, z, z));
    const __m256i first =
        _mm256_or_si256(_mm256_shuffle_epi8(rg, rg_first), _mm256_shuffle_epi8(bb, b_first));
    const __m256i rest =
        _mm256_or_si256(_mm256_shuffle_epi8(rg, rg_rest), _mm256_shuffle_epi8(bb, b_rest));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(first));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_castsi256_si128(rest));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 24), _mm256_extracti128_si256(first, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 40), _mm256_extracti128_si256(rest, 1));
  }

  __m256i luma_zero_, red_, green_, blue_, green_of_u_;
};

/// 16 chroma values between the 8 sums at `sums`, of weight 16 and centered.
DALIESQUE_INLINE __m256i interpolate(const int16_t* sums) {
  const auto load = [](const int16_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  };
  const __m128i own = load(sums);
  const __m128i triple = _mm_add_epi16(_mm_add_epi16(own, own), own);
  const __m128i even = _mm_add_epi16(triple, load(sums - 1));
  const __m128i odd = _mm_add_epi16(triple, load(sums + 1));
  const __m256i all = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi16(even, odd)),
                                              _mm_unpackhi_epi16(even, odd), 1);
  return _mm256_sub_epi16(all, _mm256_set1_epi16(kMiddle));
}

DALIESQUE_INLINE __m256i scale(const int16_t* sums) {
  const __m256i own = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums));
  return _mm256_sub_epi16(_mm256_slli_epi16(own, 2), _mm256_set1_epi16(kMiddle));
}
#endif

void convert_row(uint8_t* __restrict out, const uint8_t* __restrict luma, const int16_t* u,
                 const int16_t* v, int64_t width, const YuvWeights& weights) {
  int64_t x = 0;
#ifdef __AVX2__
  const PixelConverter converter(weights);
  for (; x + 16 <= width; x += 16) {
    converter.run(out + 3 * x, luma + x, scale(u + x), scale(v + x));
  }
#endif
  for (; x < width; x++) {
    convert_pixel(out + 3 * x, luma[x], 4 * u[x] - kMiddle, 4 * v[x] - kMiddle, weights);
  }
}

void convert_row_halved(uint8_t* __restrict out, const uint8_t* __restrict luma, const int16_t* u,
                        const int16_t* v, int64_t width, const YuvWeights& weights) {
  int64_t x = 0;
#ifdef __AVX2__
  const PixelConverter converter(weights);
  for (; x + 16 <= width; x += 16) {
    converter.run(out + 3 * x, luma + x, interpolate(u + x / 2), interpolate(v + x / 2));
  }
#endif
  for (; x < width; x++) {
    const int64_t near = x / 2, far = near + (x % 2 ? 1 : -1);
    convert_pixel(out + 3 * x, luma[x], 3 * u[near] + u[far] - kMiddle,
                  3 * v[near] + v[far] - kMiddle, weights);
  }
}

}  // namespace

const VideoLoops video_loops = {blend_chroma, convert_row, convert_row_halved};

}  // namespace daliesque::decode::DALIESQUE_ISA
