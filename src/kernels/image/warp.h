// SPDX-License-Identifier: Apache-2.0
// Images and volumes whose pixels come from other positions of the input.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/per_sample.h"
#include "core/samples.h"
#include "image/row_shift.h"
#include "image/warp_loops.h"
#include "random/philox.h"

namespace daliesque::image {

enum class WarpInterp : int32_t { nearest = 0, linear = 1, cubic = 2 };

/// Part of the output: columns from `x` on of the rows from `y` on, in the slice `z`. The `first`
/// one of a row of tiles may begin anywhere.
struct WarpTile {
  int64_t z, y, x;
  int rows, columns;
  bool first;
};

/// Says where the pixels of the output come from. It is asked for the tiles of a row of tiles from
/// left to right, with the same `at`.
class WarpMapping {
 public:
  virtual ~WarpMapping() = default;
  virtual void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const = 0;
  /// Whether coordinates are monotonic along the row of a tile, over all of its kWarpColumns.
  virtual bool is_straight() const { return false; }
  /// How the row `y` moves, if all rows of the sample move as a whole.
  virtual std::optional<RowShift> row_shift(int64_t /*sample*/, int64_t /*y*/) const {
    return std::nullopt;
  }
};

/// The mapping `matrix * (x, y[, z], 1)` from output to input, a row of dims * (dims + 1) values
/// for each sample.
class AffineMapping : public WarpMapping {
 public:
  AffineMapping(PerSample<float> matrices, int dims) : matrices_(matrices), dims_(dims) {}
  void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const override;
  bool is_straight() const override { return true; }
  std::optional<RowShift> row_shift(int64_t sample, int64_t y) const override;

 private:
  PerSample<float> matrices_;
  int dims_;
};

/// How the coordinates of a perspective mapping are rounded.
enum class PerspectiveRounding {
  none,
  pixels,        // to whole pixels
  float_pixels,  // to whole pixels, from coordinates that are computed in float32
  fractions,     // to multiples of 1/32 of a pixel
};

/// The mapping by a 3x3 matrix and division by the third coordinate, between centers of pixels.
class PerspectiveMapping : public WarpMapping {
 public:
  PerspectiveMapping(PerSample<double> matrices, const Samples& out, PerspectiveRounding rounding)
      : matrices_(matrices), out_(out), rounding_(rounding) {}
  void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const override;

 private:
  void locate_in_floats(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const;

  PerSample<double> matrices_;
  const Samples& out_;
  PerspectiveRounding rounding_;
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

/// Each pixel from a random position nearby. All channels of a pixel move together.
class JitterMapping : public WarpMapping {
 public:
  JitterMapping(const Samples& in, const random::PhiloxState& state, int degree)
      : in_(in), state_(state), degree_(degree) {}
  void locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const override;

 private:
  const Samples& in_;
  random::PhiloxState state_;
  int degree_;
};

struct WarpOptions {
  WarpInterp interp;
  Border border;
  /// What lies outside with a constant border: a value for all channels or one for each.
  std::vector<float> fill;
  /// Samples with 0 are copied; null if there are none. Needs equal shapes and types.
  const PerSample<int32_t>* mask = nullptr;
  /// Where outputs begin, (y, x), if they are windows of what the mapping makes of images.
  const PerSample<int64_t>* origins = nullptr;
};

/// Fills `out` (HWC or DHWC, its shapes say the wanted sizes) from `in`. Nearest-neighbor
/// interpolation needs equal types.
void warp(Samples& out, const Samples& in, const WarpMapping& mapping, const WarpOptions& options);

}  // namespace daliesque::image
