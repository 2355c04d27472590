// SPDX-License-Identifier: Apache-2.0
#include "image/lab.h"

#include <cmath>
#include <memory>

#include "core/simd.h"

namespace daliesque::image {

#define DALIESQUE_LAB_LOOPS                                                                       \
  void rgb_to_lab(uint8_t* lightness, uint8_t* a, uint8_t* b, const uint8_t* rgb, int64_t pixels, \
                  const LabTables& tables);                                                       \
  void lab_to_rgb(uint8_t* rgb, const uint8_t* lightness, const uint8_t* a, const uint8_t* b,     \
                  int64_t pixels, const LabTables& tables);

namespace portable {
DALIESQUE_LAB_LOOPS
}
namespace avx2 {
DALIESQUE_LAB_LOOPS
}

#undef DALIESQUE_LAB_LOOPS

namespace {

constexpr int kOne12 = 1 << 12, kOne14 = 1 << 14, kOne15 = 1 << 15;
// Linear values are counted in eighths of a level.
constexpr int kLinearScale = 255 * 8;

// Primaries of sRGB and white of D65, to the digits that OpenCV uses.
constexpr double kWhite[3] = {0.950456, 1.0, 1.088754};
constexpr double kRgbToXyz[3][3] = {
    {0.412453, 0.357580, 0.180423}, {0.212671, 0.715160, 0.072169}, {0.019334, 0.119193, 0.950227}};
constexpr double kXyzToRgb[3][3] = {{3.240479, -1.53715, -0.498535},
                                    {-0.969256, 1.875991, 0.041556},
                                    {0.055648, -0.204043, 1.057311}};

int32_t nearest(double value) { return static_cast<int32_t>(std::lrint(value)); }
int32_t nearest(float value) { return static_cast<int32_t>(std::lrint(value)); }

float to_linear(float value) {
  const double v = value;
  return static_cast<float>(v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
}

float from_linear(float value) {
  const double v = value;
  return static_cast<float>(v <= 0.0031308 ? v * 12.92 : std::pow(v, 1 / 2.4) * 1.055 - 0.055);
}

/// f of CIE Lab: a cube root with a straight beginning.
float cie_root(float value) {
  constexpr float kKnee = 216.0f / 24389.0f, kSlope = 841.0f / 108.0f, kBase = 16.0f / 116.0f;
  if (value < kKnee) return std::fma(value, kSlope, kBase);
  // OpenCV cuts the root off, where a conversion would round.
  const double root = std::cbrt(static_cast<double>(value));
  const auto rounded = static_cast<float>(root);
  return static_cast<double>(rounded) > root ? std::nextafter(rounded, 0.0f) : rounded;
}

void make_forward(LabTables& tables) {
  for (int value = 0; value < 256; value++) {
    const float linear = to_linear(static_cast<float>(value) / 255.0f);
    const int32_t scaled = nearest(static_cast<float>(kLinearScale) * linear);
    for (size_t c = 0; c < 3; c++) {
      for (size_t k = 0; k < 3; k++) {
        const int32_t weight = nearest(kOne12 * kRgbToXyz[k][c] / kWhite[k]);
        // Half of the unit that will be cut off is added once.
        tables.to_xyz[c][value][k] = scaled * weight + (c == 0 ? kOne12 / 2 : 0);
      }
      tables.to_xyz[c][value][3] = 0;
    }
  }
  for (size_t k = 0; k < std::size(tables.root); k++) {
    const float value = 1.0f / static_cast<float>(kLinearScale) * static_cast<float>(k);
    tables.root[k] = static_cast<uint16_t>(nearest(kOne15 * cie_root(value)));
  }
}

/// Y and f(Y), with 14 fraction bits, of a lightness from 0 to 255.
void find_lightness(int lightness, int32_t& y, int32_t& root) {
  if (lightness <= 20) {  // 8 of 100: the straight part
    y = nearest(static_cast<float>(lightness * kOne14 * 20 * 9) /
                static_cast<float>(17 * 29 * 29 * 29));
    root = nearest(static_cast<float>(kOne14) *
                   (16.0f / 116.0f + static_cast<float>(lightness * 5) / (3.0f * 17 * 29)));
    return;
  }
  const float f = static_cast<float>(lightness * 100 * kOne14) / static_cast<float>(255 * 116) +
                  static_cast<float>(16 * kOne14) / 116.0f;
  root = nearest(f);
  y = nearest(f * f * f / static_cast<float>(kOne14 * kOne14));
}

void make_backward(LabTables& tables) {
  for (size_t c = 0; c < 3; c++) {
    for (size_t k = 0; k < 3; k++) {
      tables.xyz_to_rgb[c][k] = nearest(kOne12 * kXyzToRgb[c][k] * kWhite[k]);
    }
  }
  for (int value = 0; value < 256; value++) {
    find_lightness(value, tables.lightness[value].y, tables.lightness[value].root);
  }
  for (size_t k = 0; k < std::size(tables.gamma); k++) {
    const float linear = static_cast<float>(k) / static_cast<float>(kOne12);
    tables.gamma[k] = static_cast<uint8_t>(nearest(255.0f * from_linear(linear)));
  }
}

}  // namespace

const LabTables& lab_tables() {
  static const std::unique_ptr<const LabTables> tables = [] {
    auto made = std::make_unique<LabTables>();
    make_forward(*made);
    make_backward(*made);
    return made;
  }();
  return *tables;
}

void rgb_to_lab(uint8_t* lightness, uint8_t* a, uint8_t* b, const uint8_t* rgb, int64_t pixels) {
  DALIESQUE_CHOOSE(rgb_to_lab(lightness, a, b, rgb, pixels, lab_tables()));
}

void lab_to_rgb(uint8_t* rgb, const uint8_t* lightness, const uint8_t* a, const uint8_t* b,
                int64_t pixels) {
  DALIESQUE_CHOOSE(lab_to_rgb(rgb, lightness, a, b, pixels, lab_tables()));
}

}  // namespace daliesque::image
