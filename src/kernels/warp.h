// SPDX-License-Identifier: Apache-2.0
// Images and volumes whose pixels come from other places of the input.
#pragma once

#include <cstdint>
#include <vector>

#include "per_sample.h"
#include "philox.h"
#include "samples.h"
#include "warp_kernels.h"

namespace daliesque {

enum class WarpInterp : int32_t { nearest = 0, linear = 1, cubic = 2 };

/// Part of the output: columns from `x` on of the rows from `y` on, in the slice `z`.
struct WarpTile {
  int64_t z, y, x;
  int rows, columns;
};

/// Says where the pixels of the output come from. It is asked for the tiles of a row of tiles from
/// left to right, with the same `at`.
class WarpMapping {
 public:
  virtual ~WarpMapping() = default;
  virtual void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const = 0;
};

/// The mapping `matrix * (x, y[, z], 1)` from output to input, a row of dims * (dims + 1) values
/// for each sample.
class AffineMapping : public WarpMapping {
 public:
  AffineMapping(PerSample<float> matrices, int dims) : matrices_(matrices), dims_(dims) {}
  void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const override;

 private:
  PerSample<float> matrices_;
  int dims_;
};

/// The mapping by a 3x3 matrix and division by the third coordinate, between centres of pixels.
/// Results are rounded to multiples of 1 / `units` of a pixel, unless that is 0.
class PerspectiveMapping : public WarpMapping {
 public:
  PerspectiveMapping(PerSample<double> matrices, int units) : matrices_(matrices), units_(units) {}
  void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const override;

 private:
  PerSample<double> matrices_;
  int units_;
};

/// Coordinates given for each pixel: two float32 arrays of the output's height and width.
class MapMapping : public WarpMapping {
 public:
  MapMapping(const Samples& x, const Samples& y, float shift) : x_(x), y_(y), shift_(shift) {}
  void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const override;

 private:
  const Samples& x_;
  const Samples& y_;
  float shift_;
};

/// The view through a glass ball over the image.
class SphereMapping : public WarpMapping {
 public:
  explicit SphereMapping(const Samples& in) : in_(in) {}
  void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const override;

 private:
  const Samples& in_;
};

/// A displacement along one axis that swings with the other coordinate.
struct Wave {
  float amplitude, frequency, phase;
};

/// The view through waves on water.
class WaterMapping : public WarpMapping {
 public:
  WaterMapping(Wave x, Wave y) : wave_x_(x), wave_y_(y) {}
  void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const override;

 private:
  Wave wave_x_, wave_y_;
};

/// Each pixel from a random place nearby. All channels of a pixel move together.
class JitterMapping : public WarpMapping {
 public:
  JitterMapping(const Samples& in, const PhiloxState& state, int degree)
      : in_(in), state_(state), degree_(degree) {}
  void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const override;

 private:
  const Samples& in_;
  PhiloxState state_;
  int degree_;
};

struct WarpOptions {
  WarpInterp interp;
  WarpBorder border;
  /// What lies outside with a constant border: a value for all channels or one for each.
  std::vector<float> fill;
  /// Samples with 0 are copied; null if there are none. Needs equal shapes and types.
  const PerSample<int32_t>* mask = nullptr;
};

/// Fills `out` (HWC or DHWC, its shapes say the wanted sizes) from `in`. Nearest-neighbour
/// interpolation needs equal types.
void warp(Samples& out, const Samples& in, const WarpMapping& mapping, const WarpOptions& options);

}  // namespace daliesque
