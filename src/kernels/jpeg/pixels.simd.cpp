// SPDX-License-Identifier: Apache-2.0
// Upsampling and color. All formulas round as libjpeg's do.
#include <cstring>

#include "jpeg/decoder_loops.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::jpeg::DALIESQUE_ISA {
namespace {

#ifdef __AVX2__

inline __m256i load(const uint8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

inline void store(uint8_t* p, __m256i value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), value);
}

/// 16 bytes as 16-bit values.
inline __m256i widen(const uint8_t* p) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

inline __m256i three_times(__m256i a) { return _mm256_add_epi16(a, _mm256_add_epi16(a, a)); }

/// Bytes a0 b0 a1 b1 ... of 16-bit values below 256.
inline __m256i zip(__m256i a, __m256i b) { return _mm256_or_si256(a, _mm256_slli_epi16(b, 8)); }

#endif

void upsample_h2v1(uint8_t* out, const uint8_t* in, int count) {
#ifdef __AVX2__
  const __m256i one = _mm256_set1_epi16(1);
  const __m256i two = _mm256_set1_epi16(2);
  for (int i = 0; i < count; i += 16) {
    const __m256i center = three_times(widen(in + i));
    const __m256i left = _mm256_add_epi16(widen(in + i - 1), one);
    const __m256i right = _mm256_add_epi16(widen(in + i + 1), two);
    store(out + 2 * i, zip(_mm256_srli_epi16(_mm256_add_epi16(center, left), 2),
                           _mm256_srli_epi16(_mm256_add_epi16(center, right), 2)));
  }
#else
  for (int i = 0; i < count; ++i) {
    out[2 * i] = static_cast<uint8_t>((3 * in[i] + in[i - 1] + 1) >> 2);
    out[2 * i + 1] = static_cast<uint8_t>((3 * in[i] + in[i + 1] + 2) >> 2);
  }
#endif
}

void upsample_h2v2(uint8_t* out, const uint8_t* near, const uint8_t* far, int count) {
#ifdef __AVX2__
  const __m256i seven = _mm256_set1_epi16(7);
  const __m256i eight = _mm256_set1_epi16(8);
  const auto column = [&](int i) {
    return _mm256_add_epi16(three_times(widen(near + i)), widen(far + i));
  };
  for (int i = 0; i < count; i += 16) {
    const __m256i center = three_times(column(i));
    const __m256i left = _mm256_add_epi16(column(i - 1), eight);
    const __m256i right = _mm256_add_epi16(column(i + 1), seven);
    store(out + 2 * i, zip(_mm256_srli_epi16(_mm256_add_epi16(center, left), 4),
                           _mm256_srli_epi16(_mm256_add_epi16(center, right), 4)));
  }
#else
  int left = 3 * near[-1] + far[-1];
  int center = 3 * near[0] + far[0];
  for (int i = 0; i < count; ++i) {
    const int right = 3 * near[i + 1] + far[i + 1];
    out[2 * i] = static_cast<uint8_t>((3 * center + left + 8) >> 4);
    out[2 * i + 1] = static_cast<uint8_t>((3 * center + right + 7) >> 4);
    left = center;
    center = right;
  }
#endif
}

void upsample_h1v2(uint8_t* out, const uint8_t* near, const uint8_t* far, int count, bool lower) {
  const int bias = lower ? 2 : 1;
  for (int i = 0; i < count; ++i) {
    out[i] = static_cast<uint8_t>((3 * near[i] + far[i] + bias) >> 2);
  }
}

void replicate(uint8_t* out, const uint8_t* in, int count, int factor) {
  if (factor == 2) {
    for (int i = 0; i < count; ++i) {
      out[2 * i] = in[i];
      out[2 * i + 1] = in[i];
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < factor; ++k) *out++ = in[i];
  }
}

inline uint8_t clamp(int value) {
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

/// Pixels that go through buffers on the stack at a time.
constexpr int kChunk = 256;

/// Three rows of a chunk.
struct ChunkPlanes {
  uint8_t row[3][kChunk + kRowPadding];
};

/// Full-range YCbCr to RGB with libjpeg's 16-bit factors 1.402, 1.772, 0.34414 and 0.71414, less
/// whole parts where they exceed 16 bits.
void ycbcr_to_rgb(uint8_t* __restrict r, uint8_t* __restrict g, uint8_t* __restrict b,
                  const uint8_t* __restrict in_y, const uint8_t* __restrict in_cb,
                  const uint8_t* __restrict in_cr, int count) {
  for (int i = 0; i < count; ++i) {
    const int y = in_y[i];
    const auto cb = static_cast<int16_t>(in_cb[i] - 128);
    const auto cr = static_cast<int16_t>(in_cr[i] - 128);
    const auto red = static_cast<int16_t>(cr + ((26345 * cr + 32768) >> 16));
    const auto green = static_cast<int16_t>(((18734 * cr - 22554 * cb + 32768) >> 16) - cr);
    const auto blue = static_cast<int16_t>(2 * cb + ((-14942 * cb + 32768) >> 16));
    r[i] = clamp(y + red);
    g[i] = clamp(y + green);
    b[i] = clamp(y + blue);
  }
}

/// Limited-range ITU-R BT.601. Single precision and this order of operations decide the ties;
/// results need no clamping.
void rgb_to_limited(uint8_t* __restrict out_y, uint8_t* __restrict out_cb,
                    uint8_t* __restrict out_cr, const uint8_t* __restrict in_r,
                    const uint8_t* __restrict in_g, const uint8_t* __restrict in_b, int count) {
  for (int i = 0; i < count; ++i) {
    const float r = in_r[i];
    const float g = in_g[i];
    const float b = in_b[i];
    const float y = 0.25678823529f * r + 0.50412941176f * g + 0.09790588235f * b + 16.0f;
    const float cb = -0.14822289945f * r + -0.29099278682f * g + 0.43921568627f * b + 128.0f;
    const float cr = 0.43921568627f * r + -0.36778831435f * g + -0.07142737192f * b + 128.0f;
    out_y[i] = static_cast<uint8_t>(static_cast<int>(y + 0.5f));
    out_cb[i] = static_cast<uint8_t>(static_cast<int>(cb + 0.5f));
    out_cr[i] = static_cast<uint8_t>(static_cast<int>(cr + 0.5f));
  }
}

/// 0.299, 0.587 and 0.114 in 16-bit fixed point.
void rgb_to_gray(uint8_t* __restrict out, const uint8_t* __restrict r, const uint8_t* __restrict g,
                 const uint8_t* __restrict b, int count) {
  for (int i = 0; i < count; ++i) {
    out[i] = static_cast<uint8_t>((19595 * r[i] + 38470 * g[i] + 7471 * b[i] + 32768) >> 16);
  }
}

#ifdef __AVX2__

constexpr int kStep = 32;

struct RgbVector {
  __m256i r, g, b;
};

/// Half of the pixels: signed 16-bit cb and cr around zero, y.
inline RgbVector ycbcr_to_rgb(__m256i y, __m256i cb, __m256i cr) {
  // Rounding multiplications by 0.402 and -0.228; exact for the 256 possible arguments.
  const __m256i red = _mm256_add_epi16(cr, _mm256_mulhrs_epi16(cr, _mm256_set1_epi16(13175)));
  const __m256i blue =
      _mm256_add_epi16(_mm256_add_epi16(cb, cb), _mm256_mulhrs_epi16(cb, _mm256_set1_epi16(-7471)));
  // -0.71414 does not fit 16 bits, hence 0.28586 - 1.
  const __m256i factors = _mm256_set1_epi32(18734 << 16 | (-22554 & 0xFFFF));
  const __m256i half = _mm256_set1_epi32(1 << 15);
  const __m256i lo = _mm256_madd_epi16(_mm256_unpacklo_epi16(cb, cr), factors);
  const __m256i hi = _mm256_madd_epi16(_mm256_unpackhi_epi16(cb, cr), factors);
  const __m256i green = _mm256_packs_epi32(_mm256_srai_epi32(_mm256_add_epi32(lo, half), 16),
                                           _mm256_srai_epi32(_mm256_add_epi32(hi, half), 16));
  return {_mm256_add_epi16(y, red), _mm256_add_epi16(y, _mm256_sub_epi16(green, cr)),
          _mm256_add_epi16(y, blue)};
}

inline RgbVector ycbcr_to_rgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i center = _mm256_set1_epi16(128);
  const __m256i y8 = load(y);
  const __m256i cb8 = load(cb);
  const __m256i cr8 = load(cr);
  const RgbVector lo = ycbcr_to_rgb(_mm256_unpacklo_epi8(y8, zero),
                                    _mm256_sub_epi16(_mm256_unpacklo_epi8(cb8, zero), center),
                                    _mm256_sub_epi16(_mm256_unpacklo_epi8(cr8, zero), center));
  const RgbVector hi = ycbcr_to_rgb(_mm256_unpackhi_epi8(y8, zero),
                                    _mm256_sub_epi16(_mm256_unpackhi_epi8(cb8, zero), center),
                                    _mm256_sub_epi16(_mm256_unpackhi_epi8(cr8, zero), center));
  return {_mm256_packus_epi16(lo.r, hi.r), _mm256_packus_epi16(lo.g, hi.g),
          _mm256_packus_epi16(lo.b, hi.b)};
}

/// Byte shuffles that spread 16 values of a channel over three registers of pixels.
struct Spread {
  alignas(32) int8_t mask[3][3][32];  // register, channel
  constexpr Spread() : mask() {
    for (int part = 0; part < 3; ++part) {
      for (int channel = 0; channel < 3; ++channel) {
        for (int i = 0; i < 32; ++i) {
          const int byte = 16 * part + i % 16;
          mask[part][channel][i] = static_cast<int8_t>(byte % 3 == channel ? byte / 3 : -128);
        }
      }
    }
  }
};
constexpr Spread kSpread;

inline __m256i spread(int part, __m256i c0, __m256i c1, __m256i c2) {
  const auto mask = [&](int channel) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(kSpread.mask[part][channel]));
  };
  return _mm256_or_si256(
      _mm256_shuffle_epi8(c0, mask(0)),
      _mm256_or_si256(_mm256_shuffle_epi8(c1, mask(1)), _mm256_shuffle_epi8(c2, mask(2))));
}

/// Stores 32 pixels.
inline void store_pixels(uint8_t* out, __m256i c0, __m256i c1, __m256i c2) {
  const __m256i part0 = spread(0, c0, c1, c2);
  const __m256i part1 = spread(1, c0, c1, c2);
  const __m256i part2 = spread(2, c0, c1, c2);
  store(out, _mm256_permute2x128_si256(part0, part1, 0x20));
  store(out + 32, _mm256_permute2x128_si256(part2, part0, 0x30));
  store(out + 64, _mm256_permute2x128_si256(part1, part2, 0x31));
}

/// Calls `make(i, to)` for each 32 pixels; the last ones go through a buffer, so that nothing is
/// written beyond them.
template <class Make>
inline void for_pixels(uint8_t* out, int count, const Make& make) {
  int i = 0;
  for (; i + kStep <= count; i += kStep) make(i, out + 3 * static_cast<ptrdiff_t>(i));
  if (i < count) {
    uint8_t rest[3 * kStep];
    make(i, rest);
    std::memcpy(out + 3 * static_cast<ptrdiff_t>(i), rest, 3 * static_cast<size_t>(count - i));
  }
}

#endif

void ycbcr_to_pixels(uint8_t* out, const PlaneRow& in, int count, bool reversed) {
  const uint8_t* const y = in.plane[0];
  const uint8_t* const cb = in.plane[1];
  const uint8_t* const cr = in.plane[2];
#ifdef __AVX2__
  if (reversed) {
    for_pixels(out, count, [&](int i, uint8_t* to) {
      const RgbVector pixels = ycbcr_to_rgb(y + i, cb + i, cr + i);
      store_pixels(to, pixels.b, pixels.g, pixels.r);
    });
  } else {
    for_pixels(out, count, [&](int i, uint8_t* to) {
      const RgbVector pixels = ycbcr_to_rgb(y + i, cb + i, cr + i);
      store_pixels(to, pixels.r, pixels.g, pixels.b);
    });
  }
#else
  ChunkPlanes rgb;
  for (int i = 0; i < count; i += kChunk) {
    const int n = count - i < kChunk ? count - i : kChunk;
    ycbcr_to_rgb(rgb.row[0], rgb.row[1], rgb.row[2], y + i, cb + i, cr + i, n);
    for (int k = 0; k < n; ++k) {
      *out++ = rgb.row[reversed ? 2 : 0][k];
      *out++ = rgb.row[1][k];
      *out++ = rgb.row[reversed ? 0 : 2][k];
    }
  }
#endif
}

void planes_to_pixels(uint8_t* out, const PlaneRow& in, int count) {
#ifdef __AVX2__
  for_pixels(out, count, [&](int i, uint8_t* to) {
    store_pixels(to, load(in.plane[0] + i), load(in.plane[1] + i), load(in.plane[2] + i));
  });
#else
  for (int i = 0; i < count; ++i) {
    for (int channel = 0; channel < 3; ++channel) out[3 * i + channel] = in.plane[channel][i];
  }
#endif
}

void limited_ycbcr_to_pixels(uint8_t* out, const PlaneRow& in, int count, bool in_ycbcr) {
  ChunkPlanes rgb;
  ChunkPlanes limited;
  for (int i = 0; i < count; i += kChunk) {
    const int n = count - i < kChunk ? count - i : kChunk;
    const uint8_t* source[3] = {in.plane[0] + i, in.plane[1] + i, in.plane[2] + i};
    if (in_ycbcr) {
      ycbcr_to_rgb(rgb.row[0], rgb.row[1], rgb.row[2], source[0], source[1], source[2], n);
      for (int k = 0; k < 3; ++k) source[k] = rgb.row[k];
    }
    rgb_to_limited(limited.row[0], limited.row[1], limited.row[2], source[0], source[1], source[2],
                   n);
    planes_to_pixels(out, {{limited.row[0], limited.row[1], limited.row[2]}}, n);
    out += 3 * n;
  }
}

void planes_to_gray(uint8_t* out, const PlaneRow& in, int count) {
  rgb_to_gray(out, in.plane[0], in.plane[1], in.plane[2], count);
}

void cmyk_to_pixels(uint8_t* out, const PlaneRow& in, int count, bool in_ycck) {
  ChunkPlanes rgb;
  for (int i = 0; i < count; i += kChunk) {
    const int n = count - i < kChunk ? count - i : kChunk;
    const uint8_t* source[3] = {in.plane[0] + i, in.plane[1] + i, in.plane[2] + i};
    if (in_ycck) {
      ycbcr_to_rgb(rgb.row[0], rgb.row[1], rgb.row[2], source[0], source[1], source[2], n);
      for (int k = 0; k < 3; ++k) source[k] = rgb.row[k];
    }
    // YCCK is YCbCr of the complements of cyan, magenta and yellow.
    const uint8_t flip = in_ycck ? 255 : 0;
    const uint8_t* const black = in.plane[3] + i;
    for (int k = 0; k < n; ++k) {
      *out++ = source[0][k] ^ flip;
      *out++ = source[1][k] ^ flip;
      *out++ = source[2][k] ^ flip;
      *out++ = black[k];
    }
  }
}

}  // namespace

const DecoderLoops decoder_loops = {
    decode_mcus,          decode_dc_first,
    decode_dc_refinement, decode_ac_first,
    decode_ac_refinement, inverse_dct,
    fast_inverse_dct,     {inverse_dct_1x1, inverse_dct_2x2, inverse_dct_4x4},
    upsample_h2v1,        upsample_h2v2,
    upsample_h1v2,        replicate,
    ycbcr_to_pixels,      planes_to_pixels,
    planes_to_gray,       limited_ycbcr_to_pixels,
    cmyk_to_pixels,
};

}  // namespace daliesque::jpeg::DALIESQUE_ISA
