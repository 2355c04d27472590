// SPDX-License-Identifier: Apache-2.0
// Colors as the JPEG reference software converts them.
#include "jpeg/distortion.h"

#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::jpeg::DALIESQUE_ISA {

namespace {

// 16-bit fractions of ITU-R BT.601; those of each row sum up to 65536 or 0.
constexpr int kRedY = 19595, kGreenY = 38470, kBlueY = 7471;
constexpr int kRedCb = -11059, kGreenCb = -21709;
constexpr int kGreenCr = -27439, kBlueCr = -5329;
constexpr int32_t kHalf = 1 << 15, kMiddle = (128 << 16) + kHalf - 1;

#ifdef __AVX2__

/// So many are converted at a time.
constexpr int kPixelsPerStep = 32;

struct Channels {
  __m256i r, g, b;
};

/// Byte shuffles that gather the values of a channel from three registers of pixels.
struct Gather {
  alignas(16) int8_t mask[3][3][16];  // register, channel
  constexpr Gather() : mask() {
    for (int part = 0; part < 3; part++) {
      for (int channel = 0; channel < 3; channel++) {
        for (int i = 0; i < 16; i++) {
          const int byte = 3 * i + channel;
          mask[part][channel][i] = static_cast<int8_t>(byte / 16 == part ? byte % 16 : -128);
        }
      }
    }
  }
};
constexpr Gather kGather;

DALIESQUE_INLINE Channels load_pixels(const uint8_t* from) {
  __m256i parts[3];
  for (int k = 0; k < 3; k++) {
    const auto* at = reinterpret_cast<const __m128i*>(from + 16 * k);
    parts[k] = _mm256_set_m128i(_mm_loadu_si128(at + 3), _mm_loadu_si128(at));
  }
  const auto channel = [&](int c) {
    __m256i values = _mm256_setzero_si256();
    for (int k = 0; k < 3; k++) {
      const auto* mask = reinterpret_cast<const __m128i*>(kGather.mask[k][c]);
      const __m256i order = _mm256_broadcastsi128_si256(_mm_load_si128(mask));
      values = _mm256_or_si256(values, _mm256_shuffle_epi8(parts[k], order));
    }
    return values;
  };
  return {channel(0), channel(1), channel(2)};
}

/// Two 16-bit factors, for values that stand beside each other.
DALIESQUE_INLINE __m256i factors(int even, int odd) {
  return _mm256_set1_epi32(static_cast<int32_t>(static_cast<uint32_t>(odd) << 16 |
                                                (static_cast<uint32_t>(even) & 0xFFFF)));
}

struct Ycbcr {
  __m256i y, cb, cr;
};

/// Of 8 pixels, as pairs of 16-bit values.
DALIESQUE_INLINE Ycbcr convert(__m256i red_green, __m256i blue_green) {
  const __m256i half = _mm256_set1_epi32(kHalf), middle = _mm256_set1_epi32(kMiddle);
  // The factor of green exceeds 16 bits, and so does one half; its negative does not.
  constexpr int part = 1 << 14;
  const __m256i y = _mm256_madd_epi16(red_green, factors(kRedY, kGreenY - part));
  const __m256i more_y = _mm256_madd_epi16(blue_green, factors(kBlueY, part));
  const __m256i cb = _mm256_madd_epi16(red_green, factors(kRedCb, kGreenCb));
  const __m256i cr = _mm256_madd_epi16(blue_green, factors(kBlueCr, kGreenCr));
  const __m256i less_cb = _mm256_madd_epi16(blue_green, factors(-kHalf, 0));
  const __m256i less_cr = _mm256_madd_epi16(red_green, factors(-kHalf, 0));
  const __m256i sums[3] = {_mm256_add_epi32(_mm256_add_epi32(y, half), more_y),
                           _mm256_sub_epi32(_mm256_add_epi32(cb, middle), less_cb),
                           _mm256_sub_epi32(_mm256_add_epi32(cr, middle), less_cr)};
  return {_mm256_srli_epi32(sums[0], 16), _mm256_srli_epi32(sums[1], 16),
          _mm256_srli_epi32(sums[2], 16)};
}

DALIESQUE_INLINE void to_ycbcr_step(uint8_t* y, uint8_t* cb, uint8_t* cr, const uint8_t* pixels) {
  const Channels in = load_pixels(pixels);
  const __m256i none = _mm256_setzero_si256();
  const __m256i red_green[2] = {_mm256_unpacklo_epi8(in.r, in.g), _mm256_unpackhi_epi8(in.r, in.g)};
  const __m256i blue_green[2] = {_mm256_unpacklo_epi8(in.b, in.g),
                                 _mm256_unpackhi_epi8(in.b, in.g)};
  Ycbcr half[2];
  for (int k = 0; k < 2; k++) {
    const Ycbcr low = convert(_mm256_unpacklo_epi8(red_green[k], none),
                              _mm256_unpacklo_epi8(blue_green[k], none));
    const Ycbcr high = convert(_mm256_unpackhi_epi8(red_green[k], none),
                               _mm256_unpackhi_epi8(blue_green[k], none));
    half[k] = {_mm256_packus_epi32(low.y, high.y), _mm256_packus_epi32(low.cb, high.cb),
               _mm256_packus_epi32(low.cr, high.cr)};
  }
  const auto store = [](uint8_t* to, __m256i low, __m256i high) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_packus_epi16(low, high));
  };
  store(y, half[0].y, half[1].y);
  store(cb, half[0].cb, half[1].cb);
  store(cr, half[0].cr, half[1].cr);
}

void to_ycbcr(uint8_t* y, uint8_t* cb, uint8_t* cr, const uint8_t* pixels, int count) {
  int i = 0;
  for (; i + kPixelsPerStep <= count; i += kPixelsPerStep)
    to_ycbcr_step(y + i, cb + i, cr + i, pixels + 3 * i);
  if (i == count) return;
  uint8_t rest[3 * kPixelsPerStep] = {};
  std::memcpy(rest, pixels + 3 * i, 3 * static_cast<size_t>(count - i));
  to_ycbcr_step(y + i, cb + i, cr + i, rest);
}

void downsample(uint8_t* out, const uint8_t* upper, const uint8_t* lower, int count) {
  const __m256i bias = factors(1, 2);
  const auto sums = [](const uint8_t* row) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
    return _mm256_maddubs_epi16(values, _mm256_set1_epi8(1));
  };
  for (int i = 0; i < count; i += 16) {
    const __m256i sum = _mm256_add_epi16(sums(upper + 2 * i), sums(lower + 2 * i));
    const __m256i mean = _mm256_srli_epi16(_mm256_add_epi16(sum, bias), 2);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(mean, mean), 0xD8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_castsi256_si128(packed));
  }
}

#else

void to_ycbcr(uint8_t* __restrict y, uint8_t* __restrict cb, uint8_t* __restrict cr,
              const uint8_t* __restrict pixels, int count) {
  for (int i = 0; i < count; i++) {
    const int32_t r = pixels[3 * i], g = pixels[3 * i + 1], b = pixels[3 * i + 2];
    y[i] = static_cast<uint8_t>((kRedY * r + kGreenY * g + kBlueY * b + kHalf) >> 16);
    cb[i] = static_cast<uint8_t>((kRedCb * r + kGreenCb * g + kHalf * b + kMiddle) >> 16);
    cr[i] = static_cast<uint8_t>((kHalf * r + kGreenCr * g + kBlueCr * b + kMiddle) >> 16);
  }
}

void downsample(uint8_t* __restrict out, const uint8_t* __restrict upper,
                const uint8_t* __restrict lower, int count) {
  for (int i = 0; i < count; i++) {
    const int sum = upper[2 * i] + upper[2 * i + 1] + lower[2 * i] + lower[2 * i + 1];
    // Alternating 1 and 2 keeps the average brightness.
    out[i] = static_cast<uint8_t>((sum + 1 + (i & 1)) >> 2);
  }
}

#endif

}  // namespace

const EncoderLoops encoder_loops = {to_ycbcr, downsample, forward_dct};

}  // namespace daliesque::jpeg::DALIESQUE_ISA
