// SPDX-License-Identifier: Apache-2.0
// The loops behind warp.h, built for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/border.h"
#include "core/dtype.h"

namespace daliesque::image {

/// Source coordinates are made for tiles of this many rows and columns. A tile and the part of the
/// input that it comes from stay in the first-level cache, whatever the angle.
constexpr int kWarpRows = 16;
constexpr int kWarpColumns = 64;

/// Affine coordinates are running sums along a row, started again after this many columns. So does
/// the reference, and coordinates agree with it to the last bit.
constexpr int kWarpRestart = 256;

/// Where the pixels of a tile come from; (0, 0) is the corner of the first pixel.
struct WarpCoordinates {
  alignas(64) float x[kWarpRows][kWarpColumns];
  alignas(64) float y[kWarpRows][kWarpColumns];
  alignas(64) float z[kWarpRows][kWarpColumns];
  /// The running sums behind the last column, where the next tile to the right goes on.
  alignas(64) float sums[3][kWarpRows];
};

/// Pixels of `channels` values, without gaps. An image has the depth 1.
struct WarpSurface {
  const void* data;
  int64_t depth, height, width;
  int64_t channels;
  Border border;
  const void* fill;  // kWarpColumns equal pixels of the surface's type
};

/// A stretch of coordinates of one row; `z` is null for images. There are kWarpColumns of each,
/// but only `count` of them mean something. Those of a `straight` stretch, all kWarpColumns, lie
/// between the first and the last one.
struct WarpStretch {
  const float* x;
  const float* y;
  const float* z;
  int count;
  bool straight = false;
};

using WarpLoop = void (*)(float* out, const WarpSurface& in, const WarpStretch& at);

struct WarpLoops {
  /// Adds `step` to the running sums again and again, for each of `dims` coordinates.
  void (*affine)(WarpCoordinates& at, const float* step, int dims);

  /// Linear interpolation of images and volumes, and cubic interpolation of images, of a type.
  WarpLoop (*linear)(DType type);
  WarpLoop (*cubic)(DType type);
};

/// The source pixel that each coordinate lies in, as its `pixel_bytes` bytes.
using NearestLoop = void(std::byte* out, const WarpSurface& in, const WarpStretch& at,
                         int64_t pixel_bytes);

/// The upper left part of a tile that is wanted. Rows of a `straight` one are as in WarpStretch.
struct WarpPart {
  int rows, columns;
  bool straight;
};

/// Linear interpolation of uint8 images with 14-bit weights. Rows of `out` are `pitch` bytes apart.
using LinearBytesLoop = void(uint8_t* out, int64_t pitch, const WarpSurface& in,
                             const WarpCoordinates& at, const WarpPart& part);

namespace portable {
extern const WarpLoops warp_loops;
NearestLoop nearest;
LinearBytesLoop linear_bytes;
}  // namespace portable
namespace avx2 {
extern const WarpLoops warp_loops;
NearestLoop nearest;
LinearBytesLoop linear_bytes;
}  // namespace avx2
namespace avx512 {
NearestLoop nearest;
LinearBytesLoop linear_bytes;
}  // namespace avx512

}  // namespace daliesque::image
