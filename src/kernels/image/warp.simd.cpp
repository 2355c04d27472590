// SPDX-License-Identifier: Apache-2.0
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <type_traits>

#include "image/warp_pixels.simd.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

#ifdef __AVX2__

/// Transposes 8x8.
DALIESQUE_INLINE void transpose(__m256* v) {
  __m256 pairs[8], quads[8];
  for (int k = 0; k < 4; k++) {
    pairs[2 * k] = _mm256_unpacklo_ps(v[2 * k], v[2 * k + 1]);
    pairs[2 * k + 1] = _mm256_unpackhi_ps(v[2 * k], v[2 * k + 1]);
  }
  for (int k = 0; k < 2; k++) {
    for (int j = 0; j < 2; j++) {
      const __m256 low = pairs[4 * k + j], high = pairs[4 * k + 2 + j];
      quads[4 * k + 2 * j] = _mm256_shuffle_ps(low, high, 0x44);
      quads[4 * k + 2 * j + 1] = _mm256_shuffle_ps(low, high, 0xee);
    }
  }
  for (int k = 0; k < 4; k++) {
    v[k] = _mm256_permute2f128_ps(quads[k], quads[k + 4], 0x20);
    v[k + 4] = _mm256_permute2f128_ps(quads[k], quads[k + 4], 0x31);
  }
}

void affine(WarpCoordinates& at, const float* step, int dims) {
  float* const planes[3] = {at.x[0], at.y[0], at.z[0]};
  // The sums of eight rows advance together, and all such groups side by side, since each waits for
  // its last addition.
  for (int x = 0; x < kWarpColumns; x += 8) {
    for (int d = 0; d < dims; d++) {
      const __m256 change = _mm256_set1_ps(step[d]);
      for (int r = 0; r < kWarpRows; r += 8) {
        __m256 sum = _mm256_load_ps(at.sums[d] + r);
        __m256 v[8];
        for (int k = 0; k < 8; k++, sum = _mm256_add_ps(sum, change)) v[k] = sum;
        _mm256_store_ps(at.sums[d] + r, sum);
        transpose(v);
        for (int k = 0; k < 8; k++) {
          _mm256_store_ps(planes[d] + (r + k) * kWarpColumns + x, v[k]);
        }
      }
    }
  }
}

#else

void affine(WarpCoordinates& at, const float* step, int dims) {
  float* const planes[3] = {at.x[0], at.y[0], at.z[0]};
  for (int d = 0; d < dims; d++) {
    for (int r = 0; r < kWarpRows; r++) {
      float sum = at.sums[d][r];
      float* row = planes[d] + r * kWarpColumns;
      for (int x = 0; x < kWarpColumns; x++, sum += step[d]) row[x] = sum;
      at.sums[d][r] = sum;
    }
  }
}

#endif

/// The cells of a stretch along one axis: two neighbors, and how far it is from the first to the
/// second.
struct CellRow {
  alignas(64) int32_t first[kWarpColumns], second[kWarpColumns];
  alignas(64) float rest[kWarpColumns];

  /// Where the ends of the axis repeat for ever, neighbors are within it.
  DALIESQUE_INLINE CellRow(const float* coordinates, int64_t extent, Border border) {
    const bool clamped = border == Border::clamp;
    const int32_t low = clamped ? 0 : -0x7fffffff;
    const int32_t high = clamped ? static_cast<int32_t>(extent - 1) : 0x7fffffff;
    for (int i = 0; i < kWarpColumns; i++) {
      const Cell cell = locate(coordinates[i]);
      const int32_t next = cell.index + 1;
      const int32_t raised = cell.index > low ? cell.index : low;
      const int32_t next_raised = next > low ? next : low;
      first[i] = raised < high ? raised : high;
      second[i] = next_raised < high ? next_raised : high;
      rest[i] = cell.rest;
    }
  }
};

/// Where a pixel lies between its four neighbors.
struct Between {
  float right, below;

  template <class Value>
  DALIESQUE_INLINE Value blend(Value p00, Value p01, Value p10, Value p11) const {
    const float left = 1 - right;
    const Value upper = p00 * left + p01 * right, lower = p10 * left + p11 * right;
    return upper + (lower - upper) * below;
  }
};

/// Four floats: a pixel of four channels, or one of three and what follows it.
using FourFloats [[gnu::vector_size(16)]] = float;

DALIESQUE_INLINE FourFloats load_four(const float* from) {
  FourFloats values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

/// Interpolates images of `fixed` channels, or of any number of them if that is 0.
template <class T, int fixed>
static void linear_2d(float* out, const WarpSurface& in, const WarpStretch& at) {
  const CellRow xs(at.x, in.width, in.border), ys(at.y, in.height, in.border);
  const auto* data = static_cast<const T*>(in.data);
  const auto* fill = static_cast<const T*>(in.fill);
  const int64_t channels = fixed ? fixed : in.channels, pitch = in.width * channels;
  const bool filled = in.border == Border::constant;
  for (int i = 0; i < at.count; i++, out += channels) {
    const int64_t left = xs.first[i], right = xs.second[i];
    const int64_t above = ys.first[i], below = ys.second[i];
    const Between between{xs.rest[i], ys.rest[i]};
    const T *p00, *p01, *p10, *p11;
    if (left >= 0 && right < in.width && above >= 0 && below < in.height) {
      p00 = data + above * pitch + left * channels;
      p01 = data + above * pitch + right * channels;
      p10 = data + below * pitch + left * channels;
      p11 = data + below * pitch + right * channels;
      if constexpr (std::is_same_v<T, float> && (fixed == 3 || fixed == 4)) {
        // Of the last pixels of the image and of the stretch, no more than they have is moved.
        if (p11 - data <= in.height * pitch - 4 && i + 1 < at.count) {
          const FourFloats value =
              between.blend(load_four(p00), load_four(p01), load_four(p10), load_four(p11));
          std::memcpy(out, &value, sizeof value);
          continue;
        }
      }
    } else if (filled && (right < 0 || left >= in.width || below < 0 || above >= in.height)) {
      p00 = p01 = p10 = p11 = fill;
    } else {
      p00 = pixel<T>(in, left, above, 0);
      p01 = pixel<T>(in, left + 1, above, 0);
      p10 = pixel<T>(in, left, above + 1, 0);
      p11 = pixel<T>(in, left + 1, above + 1, 0);
    }
    for (int64_t c = 0; c < channels; c++) {
      out[c] = between.blend(static_cast<float>(p00[c]), static_cast<float>(p01[c]),
                             static_cast<float>(p10[c]), static_cast<float>(p11[c]));
    }
  }
}

template <class T>
static void linear_3d(float* out, const WarpSurface& in, const WarpStretch& at) {
  const int64_t channels = in.channels;
  for (int i = 0; i < at.count; i++, out += channels) {
    const Cell x = locate(at.x[i]), y = locate(at.y[i]), z = locate(at.z[i]);
    const float right = x.rest, left = 1 - right, below = y.rest, above = 1 - below;
    const T* corners[2][2][2];
    for (int k = 0; k < 8; k++) {
      corners[k >> 2][k >> 1 & 1][k & 1] =
          pixel<T>(in, x.index + (k & 1), y.index + (k >> 1 & 1), z.index + (k >> 2));
    }
    for (int64_t c = 0; c < channels; c++) {
      float slices[2];
      for (int k = 0; k < 2; k++) {
        const auto& p = corners[k];
        const float upper =
            static_cast<float>(p[0][0][c]) * left + static_cast<float>(p[0][1][c]) * right;
        const float lower =
            static_cast<float>(p[1][0][c]) * left + static_cast<float>(p[1][1][c]) * right;
        slices[k] = upper * above + lower * below;
      }
      out[c] = slices[0] + (slices[1] - slices[0]) * z.rest;
    }
  }
}

template <class T>
static void linear_any(float* out, const WarpSurface& in, const WarpStretch& at) {
  if (at.z) {
    linear_3d<T>(out, in, at);
  } else {
    if constexpr (std::is_same_v<T, float>) {
      if (in.channels == 1) return linear_2d<T, 1>(out, in, at);
      if (in.channels == 3) return linear_2d<T, 3>(out, in, at);
      if (in.channels == 4) return linear_2d<T, 4>(out, in, at);
    }
    linear_2d<T, 0>(out, in, at);
  }
}

/// Keys' cubic with a = -0.75, the coefficient of OpenCV.
DALIESQUE_INLINE void cubic_weights(float x, float* w) {
  constexpr float a = -0.75f;
  w[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
  w[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
  w[2] = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
  w[3] = 1.f - w[0] - w[1] - w[2];
}

template <class T>
static void cubic_2d(float* out, const WarpSurface& in, const WarpStretch& at) {
  const int64_t channels = in.channels;
  for (int i = 0; i < at.count; i++, out += channels) {
    const Cell x = locate(at.x[i]), y = locate(at.y[i]);
    float across[4], down[4];
    cubic_weights(x.rest, across);
    cubic_weights(y.rest, down);
    for (int64_t c = 0; c < channels; c++) out[c] = 0;
    for (int r = 0; r < 4; r++) {
      for (int k = 0; k < 4; k++) {
        const T* from = pixel<T>(in, x.index + k - 1, y.index + r - 1, 0);
        const float weight = down[r] * across[k];
        for (int64_t c = 0; c < channels; c++) out[c] += static_cast<float>(from[c]) * weight;
      }
    }
  }
}

template <class... Ts>
DALIESQUE_INLINE WarpLoop linear_for(Types<Ts...>, DType type) {
  WarpLoop found = nullptr;
  ((dtype_of<Ts> == type ? (found = &linear_any<Ts>, true) : false) || ...);
  return found;
}

template <class... Ts>
DALIESQUE_INLINE WarpLoop cubic_for(Types<Ts...>, DType type) {
  WarpLoop found = nullptr;
  ((dtype_of<Ts> == type ? (found = &cubic_2d<Ts>, true) : false) || ...);
  return found;
}

WarpLoop linear(DType type) { return linear_for(NumericTypes{}, type); }
WarpLoop cubic(DType type) { return cubic_for(NumericTypes{}, type); }

}  // namespace

const WarpLoops warp_loops = {affine, linear, cubic};

}  // namespace daliesque::image::DALIESQUE_ISA
