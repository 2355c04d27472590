// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "codecs/png_loops.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::codecs::DALIESQUE_ISA {

namespace {

enum Filter { kNone, kSub, kUp, kAverage, kPaeth };

/// Of the left, the upper and the upper left byte the one next to left + up - upper left.
[[gnu::always_inline]] inline int paeth(int left, int up, int corner) {
  const int by_left = up - corner, by_up = left - corner;
  const int distance_left = by_left < 0 ? -by_left : by_left;
  const int distance_up = by_up < 0 ? -by_up : by_up;
  const int by_corner = by_left + by_up;
  const int distance_corner = by_corner < 0 ? -by_corner : by_corner;
  const int upper = distance_up <= distance_corner ? up : corner;
  return distance_left <= distance_up && distance_left <= distance_corner ? left : upper;
}

template <int filter>
[[gnu::always_inline]] inline int predict(int left, int up, int corner) {
  if constexpr (filter == kSub) return left;
  if constexpr (filter == kAverage) return (left + up) >> 1;
  return paeth(left, up, corner);
}

#ifdef __AVX2__

/// The eight bytes from `data` on, each in 16 bits.
[[gnu::always_inline]] inline __m128i load_wide(const uint8_t* data) {
  return _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(data)));
}

/// A pixel, and up to 8 - N bytes more.
template <size_t N>
[[gnu::always_inline]] inline void store_wide(uint8_t* data, __m128i pixel) {
  const __m128i bytes = _mm_packus_epi16(pixel, pixel);
  if constexpr (N <= 4) {
    const int32_t word = _mm_cvtsi128_si32(bytes);
    std::memcpy(data, &word, sizeof(word));
  } else {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(data), bytes);
  }
}

template <int filter>
[[gnu::always_inline]] inline __m128i predict(__m128i left, __m128i up, __m128i corner) {
  if constexpr (filter == kSub) return left;
  if constexpr (filter == kAverage) return _mm_srli_epi16(_mm_add_epi16(left, up), 1);
  // Each pixel waits for the one at its left, so what depends on that comes last.
  const __m128i rise = _mm_sub_epi16(up, corner);
  const __m128i distance_left = _mm_abs_epi16(rise);
  const __m128i distance_up = _mm_abs_epi16(_mm_sub_epi16(left, corner));
  const __m128i distance_corner = _mm_abs_epi16(_mm_add_epi16(left, _mm_sub_epi16(rise, corner)));
  const __m128i nearest = _mm_min_epi16(_mm_min_epi16(distance_corner, distance_up), distance_left);
  const __m128i upper = _mm_blendv_epi8(corner, up, _mm_cmpeq_epi16(nearest, distance_up));
  return _mm_blendv_epi8(upper, left, _mm_cmpeq_epi16(nearest, distance_left));
}

/// Pixel by pixel. All but the last are read and written a few bytes too far.
template <int filter, size_t N>
void unfilter_pixels(uint8_t* out, const uint8_t* in, const uint8_t* previous, size_t bytes) {
  __m128i left = _mm_setzero_si128(), corner = left, up = left;
  size_t k = 0;
  for (; k + 8 <= bytes; k += N) {
    if constexpr (filter != kSub) up = load_wide(previous + k);
    // The upper halves are zeros and stay so: sums of bytes wrap around.
    left = _mm_add_epi8(load_wide(in + k), predict<filter>(left, up, corner));
    corner = up;
    store_wide<N>(out + k, left);
  }
  uint8_t before[8], above[8];
  _mm_storel_epi64(reinterpret_cast<__m128i*>(before), _mm_packus_epi16(left, left));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(above), _mm_packus_epi16(corner, corner));
  for (; k < bytes; k += N) {
    for (size_t c = 0; c < N; c++) {
      const int over = filter == kSub ? 0 : previous[k + c];
      before[c] = static_cast<uint8_t>(in[k + c] + predict<filter>(before[c], over, above[c]));
      above[c] = static_cast<uint8_t>(over);
      out[k + c] = before[c];
    }
  }
}

#else

/// Byte by byte; the chains of different channels run side by side.
template <int filter, size_t N>
void unfilter_pixels(uint8_t* out, const uint8_t* in, const uint8_t* previous, size_t bytes) {
  int left[N] = {}, corner[N] = {};
  for (size_t k = 0; k + N <= bytes; k += N) {
    for (size_t c = 0; c < N; c++) {
      const int up = filter == kSub ? 0 : previous[k + c];
      left[c] = (in[k + c] + predict<filter>(left[c], up, corner[c])) & 255;
      corner[c] = up;
      out[k + c] = static_cast<uint8_t>(left[c]);
    }
  }
}

#endif

template <int filter>
void unfilter_by_left(uint8_t* out, const uint8_t* in, const uint8_t* previous, size_t bytes,
                      size_t pixel_bytes) {
  switch (pixel_bytes) {
    case 1:
      return unfilter_pixels<filter, 1>(out, in, previous, bytes);
    case 2:
      return unfilter_pixels<filter, 2>(out, in, previous, bytes);
    case 3:
      return unfilter_pixels<filter, 3>(out, in, previous, bytes);
    case 4:
      return unfilter_pixels<filter, 4>(out, in, previous, bytes);
    case 6:
      return unfilter_pixels<filter, 6>(out, in, previous, bytes);
    default:
      return unfilter_pixels<filter, 8>(out, in, previous, bytes);
  }
}

void unfilter(int filter, uint8_t* __restrict out, const uint8_t* __restrict in,
              const uint8_t* __restrict previous, size_t bytes, size_t pixel_bytes) {
  switch (filter) {
    case kSub:
      return unfilter_by_left<kSub>(out, in, previous, bytes, pixel_bytes);
    case kUp:
      for (size_t k = 0; k < bytes; k++) out[k] = static_cast<uint8_t>(in[k] + previous[k]);
      return;
    case kAverage:
      return unfilter_by_left<kAverage>(out, in, previous, bytes, pixel_bytes);
    case kPaeth:
      return unfilter_by_left<kPaeth>(out, in, previous, bytes, pixel_bytes);
    default:
      std::memcpy(out, in, bytes);
  }
}

}  // namespace

const PngLoops png_loops{unfilter};

}  // namespace daliesque::codecs::DALIESQUE_ISA
