// SPDX-License-Identifier: Apache-2.0
// Mappings that compute each coordinate on its own.
#include <algorithm>
#include <cmath>

#include "image/warp.h"

namespace daliesque::image {

void PerspectiveMapping::locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const {
  // There is no vector loop for two channels.
  if (rounding_ == PerspectiveRounding::float_pixels && out_.shape(sample)[2] != 2) {
    locate_in_floats(at, sample, tile);
    return;
  }
  const double* m = matrices_.row(sample);
  const int units = rounding_ == PerspectiveRounding::fractions ? 32 : 1;
  for (int r = 0; r < tile.rows; r++) {
    const auto y = static_cast<double>(tile.y + r);
    const double u = m[1] * y + m[2], v = m[4] * y + m[5], w = m[7] * y + m[8];
    double xs[kWarpColumns], ys[kWarpColumns];
    for (int k = 0; k < tile.columns; k++) {
      const double x = static_cast<double>(static_cast<int32_t>(tile.x) + k);
      const double divisor = m[6] * x + w;
      const double scale = divisor != 0 ? 1 / divisor : 0;
      xs[k] = (m[0] * x + u) * scale;
      ys[k] = (m[3] * x + v) * scale;
    }
    if (rounding_ != PerspectiveRounding::none) {
      for (int k = 0; k < tile.columns; k++) {
        // OpenCV keeps such coordinates as integers of 32 bits.
        xs[k] = std::nearbyint(std::clamp(xs[k] * units, -0x1p31, 0x1p31 - 1)) / units;
        ys[k] = std::nearbyint(std::clamp(ys[k] * units, -0x1p31, 0x1p31 - 1)) / units;
      }
    }
    for (int k = 0; k < tile.columns; k++) {
      at.x[r][k] = static_cast<float>(xs[k] + 0.5);
      at.y[r][k] = static_cast<float>(ys[k] + 0.5);
    }
  }
}

namespace {

/// a * x + b * y + c in float32, rounded as OpenCV's vector loop does: the product with x is fused
/// with the sum. The product of two floats is exact in double.
float fused_sum(float a, float x, float b, float y, float c) {
  const float rest = b * y + c;
  return static_cast<float>(static_cast<double>(a) * x + rest);
}

/// The same as the scalar loop rounds it, which OpenCV uses for the last columns of a row.
float remainder_sum(float a, float x, float b, float y, float c) {
  const float rest = b * y;
  return static_cast<float>(static_cast<double>(a) * x + rest) + c;
}

/// The nearest integer, halves to the even one; far outside for what 32 bits cannot hold.
float nearest_pixel(float x) { return std::fabs(x) < 0x1p31f ? std::nearbyint(x) : -0x1p31f; }

}  // namespace

void PerspectiveMapping::locate_in_floats(WarpCoordinates& at, int64_t sample,
                                          const WarpTile& tile) const {
  const double* exact = matrices_.row(sample);
  float m[9];
  for (int i = 0; i < 9; i++) m[i] = static_cast<float>(exact[i]);
  // OpenCV's vector loop takes 16 columns at a time.
  const int64_t width = out_.shape(sample)[1], vectorized = width - width % 16;
  const auto whole = static_cast<int>(
      std::clamp<int64_t>(vectorized - tile.x, 0, static_cast<int64_t>(tile.columns)));
  for (int r = 0; r < tile.rows; r++) {
    const auto y = static_cast<float>(tile.y + r);
    const auto locate_columns = [&](int begin, int end, auto sum) {
      for (int k = begin; k < end; k++) {
        const auto x = static_cast<float>(tile.x + k);
        const float w = sum(m[6], x, m[7], y, m[8]);
        at.x[r][k] = nearest_pixel(sum(m[0], x, m[1], y, m[2]) / w) + 0.5f;
        at.y[r][k] = nearest_pixel(sum(m[3], x, m[4], y, m[5]) / w) + 0.5f;
      }
    };
    locate_columns(0, whole, fused_sum);
    locate_columns(whole, tile.columns, remainder_sum);
  }
}

void MapMapping::locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const {
  const int64_t width = x_.shape(sample)[1];
  for (int r = 0; r < tile.rows; r++) {
    const float* x = x_.data<const float>(sample) + (tile.y + r) * width + tile.x;
    const float* y = y_.data<const float>(sample) + (tile.y + r) * width + tile.x;
    for (int k = 0; k < tile.columns; k++) {
      at.x[r][k] = x[k] + shift_;
      at.y[r][k] = y[k] + shift_;
    }
  }
}

void SphereMapping::locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const {
  const float middle_x = static_cast<float>(in_.shape(sample)[1]) * 0.5f;
  const float middle_y = static_cast<float>(in_.shape(sample)[0]) * 0.5f;
  // The radius is a whole number in the reference too.
  const auto radius = static_cast<float>(static_cast<int>(std::max(middle_x, middle_y)));
  for (int r = 0; r < tile.rows; r++) {
    const float y = static_cast<float>(tile.y + r) + 0.5f - middle_y;
    for (int k = 0; k < tile.columns; k++) {
      const float x = static_cast<float>(tile.x + k) + 0.5f - middle_x;
      const float distance = std::sqrt(x * x + y * y) / radius;
      at.x[r][k] = middle_x + distance * x;
      at.y[r][k] = middle_y + distance * y;
    }
  }
}

void WaterMapping::locate(WarpCoordinates& at, int64_t /*sample*/, const WarpTile& tile) const {
  for (int r = 0; r < tile.rows; r++) {
    const auto y = static_cast<float>(tile.y + r);
    const float shift = wave_x_.amplitude * std::sin(wave_x_.frequency * y + wave_x_.phase);
    for (int k = 0; k < tile.columns; k++) {
      at.x[r][k] = static_cast<float>(tile.x + k) + shift;
    }
  }
  for (int k = 0; k < tile.columns; k++) {
    const auto x = static_cast<float>(tile.x + k);
    const float shift = wave_y_.amplitude * std::cos(wave_y_.frequency * x + wave_y_.phase);
    for (int r = 0; r < tile.rows; r++) at.y[r][k] = static_cast<float>(tile.y + r) + shift;
  }
}

void JitterMapping::locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const {
  const int64_t height = in_.shape(sample)[0], width = in_.shape(sample)[1];
  const int64_t channels = in_.shape(sample)[2];
  const random::PhiloxState own = random::sample_state(state_, sample);
  const auto degree = static_cast<uint32_t>(degree_);
  const bool power_of_two = (degree & (degree - 1)) == 0;
  const auto displacement = [&](uint32_t word) {
    const uint64_t index = power_of_two ? word & (degree - 1) : (uint64_t{word} * degree) >> 32;
    return static_cast<int64_t>(index) - (degree_ >> 1);
  };
  // The draws of a pixel are those of its first channel's element.
  uint32_t words[2 * random::kPhiloxTile];
  const int64_t pixels = std::max<int64_t>(1, random::kPhiloxTile / channels);
  for (int r = 0; r < tile.rows; r++) {
    const int64_t y = tile.y + r;
    for (int64_t begin = 0; begin < tile.columns; begin += pixels) {
      const int64_t end = std::min<int64_t>(begin + pixels, tile.columns);
      const int64_t first = channels * (tile.x + begin + width * y);
      random::philox_words(words, own, first, (end - begin - 1) * channels + 1, 2);
      for (int64_t k = begin; k < end; k++) {
        const uint32_t* word = words + (k - begin) * channels;
        const int64_t dx = displacement(word[0]), dy = displacement(word[random::kPhiloxTile]);
        at.x[r][k] = static_cast<float>(std::clamp<int64_t>(tile.x + k + dx, 0, width - 1)) + 0.5f;
        at.y[r][k] = static_cast<float>(std::clamp<int64_t>(y + dy, 0, height - 1)) + 0.5f;
      }
    }
  }
}

}  // namespace daliesque::image
