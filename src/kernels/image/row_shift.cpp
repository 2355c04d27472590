// SPDX-License-Identifier: Apache-2.0
#include "image/row_shift.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/simd.h"
#include "image/mix_loops.h"

namespace daliesque::image {

namespace {

constexpr int kOne = 1 << 14;

void repeat_pixel(uint8_t* out, const uint8_t* pixel, int64_t channels, int64_t count) {
  for (int64_t k = 0; k < count; k++, out += channels) {
    for (int64_t c = 0; c < channels; c++) out[c] = pixel[c];
  }
}

/// `count` pixels of a row from column `first` on, with what lies outside of the image.
void read_row(uint8_t* out, const WarpSurface& in, int64_t row, int64_t first, int64_t count) {
  const int64_t channels = in.channels;
  const auto* fill = static_cast<const uint8_t*>(in.fill);
  const bool clamped = in.border == Border::clamp;
  if (!clamped && (row < 0 || row >= in.height)) return repeat_pixel(out, fill, channels, count);
  const int64_t found = std::clamp<int64_t>(row, 0, in.height - 1);
  const auto* line = static_cast<const uint8_t*>(in.data) + found * in.width * channels;
  const int64_t begin = std::clamp<int64_t>(-first, 0, count);
  const int64_t end = std::clamp<int64_t>(in.width - first, begin, count);
  repeat_pixel(out, clamped ? line : fill, channels, begin);
  if (end > begin) {
    std::memcpy(out + begin * channels, line + (first + begin) * channels,
                static_cast<size_t>((end - begin) * channels));
  }
  const uint8_t* last = line + (in.width - 1) * channels;
  repeat_pixel(out + end * channels, clamped ? last : fill, channels, count - end);
}

/// A shift as whole pixels and the weight, of 14 bits, of the next one. Far shifts are all the
/// same.
struct Split {
  int64_t whole;
  int next;

  explicit Split(float shift) {
    const float inside = std::clamp(shift, -0x1p24f, 0x1p24f);
    const float floor = std::floor(inside);
    whole = static_cast<int64_t>(floor);
    next = static_cast<int>(std::lrint((inside - floor) * kOne));
  }
};

}  // namespace

void shift_row(uint8_t* out, const WarpSurface& in, int64_t y, int64_t width, RowShift shift,
               uint8_t* buffer) {
  const MixLoops& loops = DALIESQUE_CHOOSE(mix_loops);
  const Split x(shift.x), down(shift.y);
  const int64_t channels = in.channels, bytes = width * channels, row = y + down.whole;
  if (x.next == 0 && down.next == 0) return read_row(out, in, row, x.whole, width);
  const int64_t count = width + (x.next != 0);
  uint8_t* below = buffer + (width + 1) * channels;
  read_row(buffer, in, row, x.whole, count);
  if (down.next) read_row(below, in, row + 1, x.whole, count);
  if (down.next == 0 || x.next == 0) {
    const int next = down.next ? down.next : x.next;
    const int16_t weights[] = {static_cast<int16_t>(kOne - next), static_cast<int16_t>(next)};
    const uint8_t* parts[] = {buffer, down.next ? below : buffer + channels};
    return loops.blend_two(out, parts, bytes, weights);
  }
  const int both = (x.next * down.next + kOne / 2) >> 14;
  const int16_t weights[] = {static_cast<int16_t>(kOne - x.next - down.next + both),
                             static_cast<int16_t>(x.next - both),
                             static_cast<int16_t>(down.next - both), static_cast<int16_t>(both)};
  const uint8_t* parts[] = {buffer, buffer + channels, below, below + channels};
  loops.blend_four(out, parts, bytes, weights);
}

}  // namespace daliesque::image
