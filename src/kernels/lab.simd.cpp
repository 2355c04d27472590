// SPDX-License-Identifier: Apache-2.0
#include "lab.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "half.h"

namespace daliesque::DALIESQUE_ISA {

namespace {

/// Four 32-bit integers.
#ifdef __AVX2__
struct Four {
  __m128i values;
  DALIESQUE_INLINE static Four load(const int32_t* from) {
    return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))};
  }
  DALIESQUE_INLINE Four operator+(Four other) const {
    return {_mm_add_epi32(values, other.values)};
  }
  DALIESQUE_INLINE Four operator*(int32_t factor) const {
    return {_mm_mullo_epi32(values, _mm_set1_epi32(factor))};
  }
  template <int bits>
  DALIESQUE_INLINE Four shifted() const {
    return {_mm_srai_epi32(values, bits)};
  }
  DALIESQUE_INLINE Four clamped(int32_t highest) const {
    return {_mm_min_epi32(_mm_max_epi32(values, _mm_setzero_si128()), _mm_set1_epi32(highest))};
  }
  DALIESQUE_INLINE void first_three(int32_t out[3]) const {
    const auto pair = static_cast<uint64_t>(_mm_cvtsi128_si64(values));
    out[0] = static_cast<int32_t>(pair);
    out[1] = static_cast<int32_t>(pair >> 32);
    out[2] = _mm_extract_epi32(values, 2);
  }
};
#else
struct Four {
  int32_t values[4];
  DALIESQUE_INLINE static Four load(const int32_t* from) {
    return {{from[0], from[1], from[2], from[3]}};
  }
  template <class Function>
  DALIESQUE_INLINE Four each(Function&& function) const {
    Four result;
    for (int k = 0; k < 4; k++) result.values[k] = function(values[k], k);
    return result;
  }
  DALIESQUE_INLINE Four operator+(Four other) const {
    return each([&](int32_t value, int k) { return value + other.values[k]; });
  }
  DALIESQUE_INLINE Four operator*(int32_t factor) const {
    return each([&](int32_t value, int) { return value * factor; });
  }
  template <int bits>
  DALIESQUE_INLINE Four shifted() const {
    return each([](int32_t value, int) { return value >> bits; });
  }
  DALIESQUE_INLINE Four clamped(int32_t highest) const {
    return each([&](int32_t value, int) {
      return value < 0 ? 0 : value > highest ? highest : value;
    });
  }
  DALIESQUE_INLINE void first_three(int32_t out[3]) const {
    for (int k = 0; k < 3; k++) out[k] = values[k];
  }
};
#endif

DALIESQUE_INLINE uint8_t to_byte(int32_t value) {
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

/// Inverse of f of CIE Lab, in 14 binary places; divisions cut off.
DALIESQUE_INLINE int32_t cube(int32_t root) {
  const int32_t straight = root * 108 / 841 - 290;
  const int32_t cubed = (root * root >> 14) * root >> 14;
  return root <= 3390 ? straight : cubed;
}

}  // namespace

void rgb_to_lab(uint8_t* lightness, uint8_t* a, uint8_t* b, const uint8_t* rgb, int64_t pixels,
                const LabTables& tables) {
  // 116 and 16 on a scale of 255 for 100, and half of what is cut off.
  constexpr int32_t kScale = 296, kShift = -1336934 + (1 << 14), kMiddle = (128 << 15) + (1 << 14);
  for (int64_t i = 0; i < pixels; i++, rgb += 3) {
    const Four xyz = Four::load(tables.to_xyz[0][rgb[0]]) + Four::load(tables.to_xyz[1][rgb[1]]) +
                     Four::load(tables.to_xyz[2][rgb[2]]);
    int32_t place[3];
    xyz.shifted<12>().first_three(place);
    const int32_t x = tables.root[place[0]], y = tables.root[place[1]], z = tables.root[place[2]];
    lightness[i] = to_byte((kScale * y + kShift) >> 15);
    a[i] = to_byte((500 * (x - y) + kMiddle) >> 15);
    b[i] = to_byte((200 * (y - z) + kMiddle) >> 15);
  }
}

void lab_to_rgb(uint8_t* rgb, const uint8_t* lightness, const uint8_t* a, const uint8_t* b,
                int64_t pixels, const LabTables& tables) {
  const Four from_x = Four::load(tables.x_rgb), from_z = Four::load(tables.z_rgb);
  for (int64_t i = 0; i < pixels; i++, rgb += 3) {
    const int32_t root = tables.lightness_root[lightness[i]];
    const int32_t x = cube(root + tables.a_root[a[i]]), z = cube(root + tables.b_root[b[i]]);
    const Four sum = Four::load(tables.lightness_rgb[lightness[i]]) + from_x * x + from_z * z;
    int32_t place[3];
    sum.shifted<14>().clamped(4095).first_three(place);
    for (int c = 0; c < 3; c++) rgb[c] = tables.gamma[place[c]];
  }
}

}  // namespace daliesque::DALIESQUE_ISA
