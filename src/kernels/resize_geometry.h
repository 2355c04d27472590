// SPDX-License-Identifier: Apache-2.0
// Output sizes and regions of interest of the resize operators.
#pragma once

#include <cstdint>

#include "per_sample.h"

namespace daliesque {

/// What a requested size means where the aspect ratio is concerned.
enum class ResizeMode : int {
  standard = 0,     ///< missing extents get the mean scale of the others
  stretch = 1,      ///< missing extents stay
  not_larger = 2,   ///< keep the aspect ratio, no extent above the request
  not_smaller = 3,  ///< keep the aspect ratio, no extent below the request
};

enum class SizeRounding : int { nearest = 0, truncate = 1, up = 2 };

/// Per sample and axis: extents of the input and what is asked for. Null pointers stand for
/// absent arguments.
struct SizeRequest {
  int axes = 0;
  PerSample<int64_t> extents;
  PerSample<float> sizes;  ///< 0 = missing, negative = mirrored
  const PerSample<float>* roi_start = nullptr;
  const PerSample<float>* roi_end = nullptr;
  bool roi_relative = false;
  const float* max_size = nullptr;
  /// The point of the region, from 0 (start) to 1 (end), that keeps its place when the size is
  /// rounded; the centre if absent.
  const PerSample<float>* alignment = nullptr;
  ResizeMode mode = ResizeMode::standard;
  SizeRounding rounding = SizeRounding::nearest;
  /// Move the region so that the scale stays exact where the size had to be rounded.
  bool subpixel_scale = true;
};

/// Computes the output extents of sample i and the input interval of each axis. Samples with
/// elements (not `empty`) get at least one along each axis.
void resize_geometry(const SizeRequest& request, int64_t i, bool empty, int64_t* sizes,
                     float* starts, float* ends);

}  // namespace daliesque
