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

/// The same for a straight stretch both ends of which are in rows above `bottom`, and so all of it:
/// false, and nothing done, for others.
DALIESQUE_INLINE bool find_straight_offsets(int32_t* out, const WarpSurface& in,
                                            const WarpStretch& at, int64_t bottom) {
  const auto width = static_cast<int32_t>(in.width);
  // Not NaN, and compared as integers: not every extent is a float.
  const auto below = [](float x, int64_t extent) {
    return x >= 0 && x < kFarthest && static_cast<int32_t>(x) < extent;
  };
  const auto inside = [&](float x, float y) { return below(x, width) && below(y, bottom); };
  constexpr int last = kWarpColumns - 1;
  if (!at.straight || !inside(at.x[0], at.y[0]) || !inside(at.x[last], at.y[last])) return false;
  for (int i = 0; i < kWarpColumns; i++) {
    out[i] = static_cast<int32_t>(at.y[i]) * width + static_cast<int32_t>(at.x[i]);
  }
  return true;
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

/// Pixels about which one decision is made.
constexpr int kNearestGroup = 16;
static_assert(kWarpColumns % kNearestGroup == 0);

/// Copies a group of pixels that can be moved with what follows them.
template <int bytes>
DALIESQUE_INLINE void copy_group(std::byte* out, const std::byte* data, const int32_t* offsets) {
  const auto pixel = [&](int i) { return data + static_cast<size_t>(offsets[i]) * bytes; };
  // Each pixel overwrites what was moved too much with the one before it.
#pragma GCC unroll 16
  for (int i = 0; i < kNearestGroup - 1; i++) {
    std::memcpy(out + i * bytes, pixel(i), moved_bytes(bytes));
  }
  std::memcpy(out + (kNearestGroup - 1) * bytes, pixel(kNearestGroup - 1), bytes);
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
  // Pixels that are moved with what follows them need a pixel behind them.
  constexpr int behind = moved_bytes(bytes) > bytes;
  alignas(64) int32_t offsets[kWarpColumns];
  if (!find_straight_offsets(offsets, in, at, in.height - behind)) {
    find_offsets(offsets, in, at, static_cast<int32_t>(pixels - 1 - behind));
  }
  const auto* data = static_cast<const std::byte*>(in.data);
  const bool filled = in.border == Border::constant;
  const auto copy_pixel = [&](std::byte* to, int i) {
    if (offsets[i] >= 0) {
      std::memcpy(to, data + static_cast<size_t>(offsets[i]) * bytes, bytes);
    } else if (filled && offsets[i] == kNowhere) {
      std::memcpy(to, in.fill, bytes);
    } else {
      copy_any<bytes>(to, in, at, i, size);
    }
  };
  int i = 0;
  for (; i + kNearestGroup <= at.count; i += kNearestGroup, out += kNearestGroup * bytes) {
    const int32_t* group = offsets + i;
    int32_t any_bits = 0, common_bits = -1;
    for (int k = 0; k < kNearestGroup; k++) {
      any_bits |= group[k];
      common_bits &= group[k];
    }
    if (any_bits >= 0) {
      copy_group<bytes>(out, data, group);
    } else if (filled && common_bits == kNowhere) {
      std::memcpy(out, in.fill, kNearestGroup * bytes);
    } else {
      for (int k = 0; k < kNearestGroup; k++) copy_pixel(out + k * bytes, i + k);
    }
  }
  for (; i < at.count; i++, out += bytes) copy_pixel(out, i);
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
