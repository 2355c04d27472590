// SPDX-License-Identifier: Apache-2.0
// Mappings that compute each coordinate on its own.
#include <algorithm>
#include <cmath>

#include "warp.h"

namespace daliesque {

void PerspectiveMapping::locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const {
  const double* m = matrices_.row(sample);
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
    if (units_ != 0) {
      for (int k = 0; k < tile.columns; k++) {
        // OpenCV keeps such coordinates as integers of 32 bits.
        xs[k] = std::nearbyint(std::clamp(xs[k] * units_, -0x1p31, 0x1p31 - 1)) / units_;
        ys[k] = std::nearbyint(std::clamp(ys[k] * units_, -0x1p31, 0x1p31 - 1)) / units_;
      }
    }
    for (int k = 0; k < tile.columns; k++) {
      at.x[r][k] = static_cast<float>(xs[k] + 0.5);
      at.y[r][k] = static_cast<float>(ys[k] + 0.5);
    }
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
  const PhiloxState own = sample_state(state_, sample);
  const auto degree = static_cast<uint32_t>(degree_);
  const bool power_of_two = (degree & (degree - 1)) == 0;
  const auto displacement = [&](uint32_t word) {
    const uint64_t place = power_of_two ? word & (degree - 1) : (uint64_t{word} * degree) >> 32;
    return static_cast<int64_t>(place) - (degree_ >> 1);
  };
  // The draws of a pixel are those of its first channel's element.
  uint32_t words[2 * kPhiloxTile];
  const int64_t pixels = std::max<int64_t>(1, kPhiloxTile / channels);
  for (int r = 0; r < tile.rows; r++) {
    const int64_t y = tile.y + r;
    for (int64_t begin = 0; begin < tile.columns; begin += pixels) {
      const int64_t end = std::min<int64_t>(begin + pixels, tile.columns);
      const int64_t first = channels * (tile.x + begin + width * y);
      philox_words(words, own, first, (end - begin - 1) * channels + 1, 2);
      for (int64_t k = begin; k < end; k++) {
        const uint32_t* word = words + (k - begin) * channels;
        const int64_t dx = displacement(word[0]), dy = displacement(word[kPhiloxTile]);
        at.x[r][k] = static_cast<float>(std::clamp<int64_t>(tile.x + k + dx, 0, width - 1)) + 0.5f;
        at.y[r][k] = static_cast<float>(std::clamp<int64_t>(y + dy, 0, height - 1)) + 0.5f;
      }
    }
  }
}

}  // namespace daliesque
