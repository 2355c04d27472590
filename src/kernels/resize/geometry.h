// SPDX-License-Identifier: Apache-2.0
// Output sizes and regions of interest of the resize operators.
#pragma once

#include <cstdint>
#include <vector>

#include "core/per_sample.h"

namespace daliesque::resize {

/// What a requested size means where the aspect ratio is concerned.
enum class ResizeMode : int {
  standard = 0,     ///< missing extents get the mean scale of the others
  stretch = 1,      ///< missing extents stay
  not_larger = 2,   ///< keep the aspect ratio, no extent above the request
  not_smaller = 3,  ///< keep the aspect ratio, no extent below the request
};

enum class SizeRounding : int { nearest = 0, truncate = 1, up = 2 };

/// What is asked for. Arguments have a row for each sample, or one for all, with a value for each
/// axis to be resized; null pointers stand for absent ones.
struct SizeRequest {
  PerSample<int64_t> shapes;  ///< of the whole samples
  int first_axis = 0;
  int axes = 0;
  PerSample<float> sizes;  ///< 0 = missing, negative = mirrored
  const PerSample<float>* roi_start = nullptr;
  const PerSample<float>* roi_end = nullptr;
  bool roi_relative = false;
  const float* max_size = nullptr;
  /// The point of the region, from 0 (start) to 1 (end), that stays where it is when the size is
  /// rounded; the center if absent.
  const PerSample<float>* alignment = nullptr;
  ResizeMode mode = ResizeMode::standard;
  SizeRounding rounding = SizeRounding::nearest;
  /// Move the region so that the scale stays exact where the size had to be rounded.
  bool subpixel_scale = true;
};

/// Where axes are sampled: `sizes` outputs from the input interval [starts, ends). There is a row
/// of `axes` values for each sample, or one for all.
struct ResizeGeometry {
  int axes = 0;
  std::vector<int64_t> sizes;
  std::vector<float> starts, ends;

  int64_t rows() const { return axes ? static_cast<int64_t>(sizes.size()) / axes : 0; }
  /// The first row with a size beyond 32 bits or with a number that is not finite; -1 if none.
  int64_t find_unusable() const;
};

/// Completes and rounds the sizes, and finds the regions.
ResizeGeometry resize_geometry(const SizeRequest& request);

}  // namespace daliesque::resize
