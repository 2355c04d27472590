// SPDX-License-Identifier: Apache-2.0
// What the loops of warp_loops.h share: positions and the pixels there. Only the `.simd.cpp` files
// may include this.
#pragma once

#include <cstring>

#include "core/half.h"
#include "image/warp_loops.h"

namespace daliesque::image::DALIESQUE_ISA {

/// Coordinates further out than this are moved here: the rest of the arithmetic is in 32 bits.
constexpr float kFarthest = 1e9f;

/// NaN becomes a position far outside.
DALIESQUE_INLINE float within_reach(float x) {
  const float raised = x > -kFarthest ? x : -kFarthest;
  return raised < kFarthest ? raised : kFarthest;
}

DALIESQUE_INLINE int32_t floor_int(float x) {
  const auto whole = static_cast<int32_t>(x);
  return whole - (static_cast<float>(whole) > x);
}

/// The index that stands for `i` along an axis of `extent` pixels; -1 for the fill value.
DALIESQUE_INLINE int64_t wrapped_index(int64_t i, int64_t extent, Border border) {
  if (i >= 0 && i < extent) return i;
  switch (border) {
    case Border::clamp:
      return i < 0 ? 0 : extent - 1;
    case Border::wrap:
      return (i % extent + extent) % extent;
    case Border::reflect_1001: {
      const int64_t period = 2 * extent, phase = (i % period + period) % period;
      return phase < extent ? phase : period - 1 - phase;
    }
    case Border::reflect_101: {
      if (extent == 1) return 0;
      const int64_t period = 2 * extent - 2, phase = (i % period + period) % period;
      return phase < extent ? phase : period - phase;
    }
    default:
      return -1;
  }
}

template <class T>
DALIESQUE_INLINE const T* pixel(const WarpSurface& in, int64_t x, int64_t y, int64_t z) {
  const int64_t column = wrapped_index(x, in.width, in.border);
  const int64_t row = wrapped_index(y, in.height, in.border);
  const int64_t slice = wrapped_index(z, in.depth, in.border);
  if ((column | row | slice) < 0) return static_cast<const T*>(in.fill);
  return static_cast<const T*>(in.data) +
         ((slice * in.height + row) * in.width + column) * in.channels;
}

/// The left (or upper) of two neighbors and how far the coordinate lies towards the other one.
struct Cell {
  int32_t index;
  float rest;
};

/// Pixel centers lie at halves.
DALIESQUE_INLINE Cell locate(float coordinate) {
  const float x = within_reach(coordinate - 0.5f);
  const int32_t index = floor_int(x);
  return {index, x - static_cast<float>(index)};
}

}  // namespace daliesque::image::DALIESQUE_ISA
