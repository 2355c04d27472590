// SPDX-License-Identifier: Apache-2.0
#include "resize/nearest.h"

#include <cstring>

namespace daliesque::resize {

namespace {

/// Copies pixels of `Bytes` bytes each.
template <size_t Bytes>
void copy_pixels(std::byte* out, const std::byte* in, const AxisTable& columns, int64_t) {
  for (const int32_t x : columns.start) {
    std::memcpy(out, in + static_cast<size_t>(x) * Bytes, Bytes);
    out += Bytes;
  }
}

/// Moves four bytes for each pixel of three: the fourth is overwritten by the next pixel. Pixels at
/// the right edge, which nothing may follow, are copied exactly.
template <>
void copy_pixels<3>(std::byte* out, const std::byte* in, const AxisTable& columns, int64_t) {
  const int32_t edge = static_cast<int32_t>(columns.in_size - columns.first) - 1;
  const size_t last = columns.start.size() - 1;
  for (size_t i = 0; i <= last; i++, out += 3) {
    const int32_t x = columns.start[i];
    const std::byte* pixel = in + static_cast<size_t>(x) * 3;
    if (i < last && x < edge) {
      std::memcpy(out, pixel, 4);
    } else {
      std::memcpy(out, pixel, 3);
    }
  }
}

/// Copies pixels of any size, `bytes` each.
void copy_long_pixels(std::byte* out, const std::byte* in, const AxisTable& columns,
                      int64_t bytes) {
  for (const int32_t x : columns.start) {
    std::memcpy(out, in + x * bytes, static_cast<size_t>(bytes));
    out += bytes;
  }
}

/// Copies pixels of `channels` values and converts them to float.
template <class In>
void widen_pixels(std::byte* to, const std::byte* from, const AxisTable& columns,
                  int64_t channels) {
  auto* out = reinterpret_cast<float*>(to);
  const In* in = reinterpret_cast<const In*>(from);
  for (const int32_t x : columns.start) {
    for (int64_t c = 0; c < channels; c++) *out++ = static_cast<float>(in[x * channels + c]);
  }
}

}  // namespace

PickRow find_pick_loop(PixelType out, PixelType in, int64_t channels) {
  if (in != out) {
    switch (in) {
      case PixelType::uint8:
        return {widen_pixels<uint8_t>, channels};
      case PixelType::uint16:
        return {widen_pixels<uint16_t>, channels};
      default:
        return {widen_pixels<int16_t>, channels};
    }
  }
  const int64_t bytes = channels * size_of(in);
  switch (bytes) {
    case 1:
      return {copy_pixels<1>, bytes};
    case 2:
      return {copy_pixels<2>, bytes};
    case 3:
      return {copy_pixels<3>, bytes};
    case 4:
      return {copy_pixels<4>, bytes};
    case 6:
      return {copy_pixels<6>, bytes};
    case 8:
      return {copy_pixels<8>, bytes};
    case 12:
      return {copy_pixels<12>, bytes};
    default:
      return {copy_long_pixels, bytes};
  }
}

}  // namespace daliesque::resize
