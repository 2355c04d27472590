// SPDX-License-Identifier: Apache-2.0
// Pixels copied from the nearest position.
#include "image/warp_pixels.simd.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

/// How many bytes are moved for a pixel of `bytes`: those of a register, if there is one that is
/// not much larger.
constexpr int moved_bytes(int bytes) {
  return bytes == 3 ? 4 : bytes == 6 ? 8 : bytes == 12 ? 16 : bytes;
}

/// What find_offsets gives for positions outside, and for pixels behind which it must not read.
constexpr int32_t kNowhere = -1, kLastPixel = -2;

/// The offsets of pixels, in pixels.
DALIESQUE_INLINE void find_offsets(int32_t* out, const WarpSurface& in, const WarpStretch& at,
                                   int32_t last) {
  const auto width = static_cast<int32_t>(in.width), height = static_cast<int32_t>(in.height);
  const bool clamped = in.border == Border::clamp;
  // Otherwise one pixel outside, NaN too; from there no offset overflows.
  const float left = clamped ? 0.0f : -1.0f;
  const auto right = static_cast<float>(clamped ? width - 1 : width);
  const auto bottom = static_cast<float>(clamped ? height - 1 : height);
  for (int i = 0; i < kWarpColumns; i++) {
    const float x = at.x[i] > left ? at.x[i] : left, y = at.y[i] > left ? at.y[i] : left;
    const int32_t column = floor_int(x < right ? x : right);
    const int32_t row = floor_int(y < bottom ? y : bottom);
    const int32_t offset = row * width + column;
    const int32_t lacking = column | (width - 1 - column) | row | (height - 1 - row);
    out[i] = lacking < 0 ? kNowhere : offset > last ? kLastPixel : offset;
  }
}

template <int bytes>
DALIESQUE_INLINE void copy_any(std::byte* out, const WarpSurface& in, const WarpStretch& at, int i,
                               size_t size) {
  const int64_t x = floor_int(within_reach(at.x[i])), y = floor_int(within_reach(at.y[i]));
  const int64_t z = at.z ? floor_int(within_reach(at.z[i])) : 0;
  const int64_t column = wrapped_index(x, in.width, in.border);
  const int64_t row = wrapped_index(y, in.height, in.border);
  const int64_t slice = wrapped_index(z, in.depth, in.border);
  const auto* from = static_cast<const std::byte*>(in.fill);
  if ((column | row | slice) >= 0) {
    const int64_t offset = (slice * in.height + row) * in.width + column;
    from = static_cast<const std::byte*>(in.data) + static_cast<size_t>(offset) * size;
  }
  std::memcpy(out, from, bytes ? bytes : size);
}

/// `bytes` is the size of a pixel, or 0 for any.
template <int bytes>
static void nearest_pixels(std::byte* out, const WarpSurface& in, const WarpStretch& at,
                           int64_t any) {
  const auto size = static_cast<size_t>(bytes ? bytes : any);
  const int64_t pixels = in.height * in.width;
  if (at.z || bytes == 0 || pixels >= int64_t{1} << 30) {
    for (int i = 0; i < at.count; i++, out += size) copy_any<bytes>(out, in, at, i, size);
    return;
  }
  constexpr size_t moved = moved_bytes(bytes);
  // Pixels that are moved with what follows them need a pixel behind them.
  const auto last = static_cast<int32_t>(pixels - 1 - (moved > bytes));
  alignas(64) int32_t offsets[kWarpColumns];
  find_offsets(offsets, in, at, last);
  const auto* data = static_cast<const std::byte*>(in.data);
  // Each pixel overwrites what was moved too much with the one before it.
  const int whole = at.count - (moved > bytes);
  const bool filled = in.border == Border::constant;
  int i = 0;
  for (; i < whole; i++, out += size) {
    if (offsets[i] >= 0) {
      std::memcpy(out, data + static_cast<size_t>(offsets[i]) * size, moved);
    } else if (filled && offsets[i] == kNowhere) {
      std::memcpy(out, in.fill, bytes);
    } else {
      copy_any<bytes>(out, in, at, i, size);
    }
  }
  for (; i < at.count; i++, out += size) copy_any<bytes>(out, in, at, i, size);
}

}  // namespace

void nearest(std::byte* out, const WarpSurface& in, const WarpStretch& at, int64_t pixel_bytes) {
  switch (pixel_bytes) {
    case 1:
      return nearest_pixels<1>(out, in, at, 1);
    case 2:
      return nearest_pixels<2>(out, in, at, 2);
    case 3:
      return nearest_pixels<3>(out, in, at, 3);
    case 4:
      return nearest_pixels<4>(out, in, at, 4);
    case 6:
      return nearest_pixels<6>(out, in, at, 6);
    case 8:
      return nearest_pixels<8>(out, in, at, 8);
    case 12:
      return nearest_pixels<12>(out, in, at, 12);
    case 16:
      return nearest_pixels<16>(out, in, at, 16);
    default:
      return nearest_pixels<0>(out, in, at, pixel_bytes);
  }
}

}  // namespace daliesque::image::DALIESQUE_ISA
