// SPDX-License-Identifier: Apache-2.0
// Resampling filters: windows as the reference tabulates them.
#pragma once

#include <cstdint>

namespace daliesque::resize {

/// Interpolation types, with the numbers of the public enum.
enum class Interp : int32_t {
  nearest = 0,
  linear = 1,
  cubic = 2,
  lanczos3 = 3,
  triangular = 4,
  gaussian = 5,
};

/// A window sampled at equidistant points and stretched to a number of pixels.
struct ResampleFilter {
  Interp type = Interp::nearest;  ///< never linear, which is a triangle
  float intervals = 0;            ///< between the samples of the window
  float anchor = 0;               ///< distance of the center from the left end, in pixels
  float scale = 1;                ///< samples per pixel

  bool operator==(const ResampleFilter&) const = default;

  /// The number of taps.
  int support() const;

  /// Fills in weights for taps at distances offset, offset + 1, ... from the left end, which add up
  /// to 1. The offset lies in [0, 1).
  void fill(float* weights, int count, float offset) const;
};

/// The filter for an axis that shrinks or grows from `in_size` to `out_size` pixels.
ResampleFilter choose_filter(Interp min_filter, Interp mag_filter, bool antialias, float in_size,
                             float out_size);

}  // namespace daliesque::resize
