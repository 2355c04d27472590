// SPDX-License-Identifier: Apache-2.0
#include "image/lab.h"

#include "core/half.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

// Pixels go through several loops, one block after the other: arithmetic in loops that compilers
// vectorize, look-ups in loops that do nothing else.
constexpr int64_t kLabBlock = 256;

using Four [[gnu::vector_size(16)]] = int32_t;

DALIESQUE_INLINE Four four(const int32_t* values) {
  Four result;
  __builtin_memcpy(&result, values, sizeof result);
  return result;
}

DALIESQUE_INLINE uint8_t to_byte(int32_t value) {
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

/// Inverse of f of CIE Lab, with 14 fraction bits; divisions truncate.
DALIESQUE_INLINE int32_t cube(int32_t root) {
  const int32_t straight = root * 108 / 841 - 290;
  const int32_t cubed = (root * root >> 14) * root >> 14;
  return root <= 3390 ? straight : cubed;
}

/// f(X), f(Y) and f(Z) of a block.
struct Roots {
  uint16_t x[kLabBlock], y[kLabBlock], z[kLabBlock];
};

void find_roots(Roots& out, const uint8_t* rgb, int64_t count, const LabTables& tables) {
  Four indices[kLabBlock];
  for (int64_t i = 0; i < count; i++) {
    indices[i] = (four(tables.to_xyz[0][rgb[3 * i]]) + four(tables.to_xyz[1][rgb[3 * i + 1]]) +
                  four(tables.to_xyz[2][rgb[3 * i + 2]])) >>
                 12;
  }
  for (int64_t i = 0; i < count; i++) {
    out.x[i] = tables.root[indices[i][0]];
    out.y[i] = tables.root[indices[i][1]];
    out.z[i] = tables.root[indices[i][2]];
  }
}

/// Linear red, green and blue of a block, in 12 bits.
struct Linear {
  uint16_t channels[3][kLabBlock];
};

void find_linear(Linear& out, const uint8_t* lightness, const uint8_t* a, const uint8_t* b,
                 int64_t count, const LabTables& tables) {
  LabTables::Lightness found[kLabBlock];
  for (int64_t i = 0; i < count; i++) found[i] = tables.lightness[lightness[i]];
  // What a and b add to f(Y) to give f(X) and f(Z): (a - 128) / 500 and (b - 128) / 200, by
  // multiplication.
  constexpr int32_t kOne = 1 << 14, kMiddleA = 128 * kOne / 500, kMiddleB = 128 * kOne / 200 - 1;
  const auto& m = tables.xyz_to_rgb;
  for (int64_t i = 0; i < count; i++) {
    const int32_t x = cube(found[i].root + ((5 * a[i] * 53687 + (1 << 7)) >> 13) - kMiddleA);
    const int32_t z = cube(found[i].root - ((b[i] * 41943 + (1 << 4)) >> 9) + kMiddleB);
    for (int c = 0; c < 3; c++) {
      const int32_t sum = m[c][0] * x + m[c][1] * found[i].y + m[c][2] * z + kOne / 2;
      const int32_t level = sum >> 14;
      out.channels[c][i] = static_cast<uint16_t>(level < 0 ? 0 : level > 4095 ? 4095 : level);
    }
  }
}

}  // namespace

void rgb_to_lab(uint8_t* lightness, uint8_t* a, uint8_t* b, const uint8_t* rgb, int64_t pixels,
                const LabTables& tables) {
  // 116 and 16 on a scale of 255 for 100, and half of what is cut off.
  constexpr int32_t kScale = 296, kShift = -1336934 + (1 << 14), kMiddle = (128 << 15) + (1 << 14);
  Roots roots;
  for (int64_t first = 0; first < pixels; first += kLabBlock) {
    const int64_t count = pixels - first < kLabBlock ? pixels - first : kLabBlock;
    find_roots(roots, rgb + 3 * first, count, tables);
    for (int64_t i = 0; i < count; i++) {
      const int32_t x = roots.x[i], y = roots.y[i], z = roots.z[i];
      lightness[first + i] = to_byte((kScale * y + kShift) >> 15);
      a[first + i] = to_byte((500 * (x - y) + kMiddle) >> 15);
      b[first + i] = to_byte((200 * (y - z) + kMiddle) >> 15);
    }
  }
}

void lab_to_rgb(uint8_t* rgb, const uint8_t* lightness, const uint8_t* a, const uint8_t* b,
                int64_t pixels, const LabTables& tables) {
  Linear linear;
  for (int64_t first = 0; first < pixels; first += kLabBlock) {
    const int64_t count = pixels - first < kLabBlock ? pixels - first : kLabBlock;
    find_linear(linear, lightness + first, a + first, b + first, count, tables);
    uint8_t* to = rgb + 3 * first;
    for (int64_t i = 0; i < count; i++) {
      for (int c = 0; c < 3; c++) to[3 * i + c] = tables.gamma[linear.channels[c][i]];
    }
  }
}

}  // namespace daliesque::image::DALIESQUE_ISA
