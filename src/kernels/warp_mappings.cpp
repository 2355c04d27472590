// SPDX-License-Identifier: Apache-2.0
// Mappings that compute each coordinate on its own.
#include <algorithm>
#include <cmath>

#include "warp.h"

namespace daliesque {

void PerspectiveMapping::locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const {
  const double* m = matrices_.row(sample);
  const auto round = [this](double value) {
    if (units_ == 0) return static_cast<float>(value + 0.5);
    const double limited = std::clamp(value * units_, -2147483648.0, 2147483647.0);
    return static_cast<float>(std::nearbyint(limited) / units_) + 0.5f;
  };
  for (int r = 0; r < tile.rows; r++) {
    const auto y = static_cast<double>(tile.y + r);
    for (int k = 0; k < tile.columns; k++) {
      const auto x = static_cast<double>(tile.x + k);
      const double w = m[6] * x + m[7] * y + m[8];
      const double scale = w != 0 ? 1 / w : 0;
      at.x[r][k] = round((m[0] * x + m[1] * y + m[2]) * scale);
      at.y[r][k] = round((m[3] * x + m[4] * y + m[5]) * scale);
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
  for (int r = 0; r < tile.rows; r++) {
    for (int k = 0; k < tile.columns; k++) {
      const int64_t x = tile.x + k, y = tile.y + r;
      Philox generator(element_state(own, channels * (x + width * y)));
      const int64_t dx = displacement(generator()), dy = displacement(generator());
      at.x[r][k] = static_cast<float>(std::clamp<int64_t>(x + dx, 0, width - 1)) + 0.5f;
      at.y[r][k] = static_cast<float>(std::clamp<int64_t>(y + dy, 0, height - 1)) + 0.5f;
    }
  }
}

}  // namespace daliesque
