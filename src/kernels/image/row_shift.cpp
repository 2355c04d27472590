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
  if (count <= 0) return;
  if (std::all_of(pixel, pixel + channels, [&](uint8_t value) { return value == pixel[0]; })) {
    std::memset(out, pixel[0], static_cast<size_t>(count * channels));
    return;
  }
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

/// `count` pixels of a row from column `first` on: those of the image, if all are there, or a copy
/// in `buffer`.
const uint8_t* find_row(uint8_t* buffer, const WarpSurface& in, int64_t row, int64_t first,
                        int64_t count) {
  const bool clamped = in.border == Border::clamp;
  if (first >= 0 && first + count <= in.width && (clamped || (row >= 0 && row < in.height))) {
    const int64_t found = std::clamp<int64_t>(row, 0, in.height - 1);
    return static_cast<const uint8_t*>(in.data) + (found * in.width + first) * in.channels;
  }
  read_row(buffer, in, row, first, count);
  return buffer;
}

/// A row that is moved by fractions of pixels, or a part of it.
class RowPart {
 public:
  RowPart(const WarpSurface& in, int64_t x, int64_t y, RowShift shift)
      : in_(in), x_(shift.x), down_(shift.y), row_(y + down_.whole) {
    x_.whole += x;
  }

  /// Where all that is needed lies within the rows of the image: from the first column to the last.
  int64_t inner_begin() const { return -x_.whole; }
  int64_t inner_end() const { return in_.width - x_.whole - (x_.next != 0); }

  /// Makes the columns [begin, end).
  void make(uint8_t* out, int64_t begin, int64_t end, uint8_t* buffer) const {
    const int64_t channels = in_.channels, first = x_.whole + begin, width = end - begin;
    if (width <= 0) return;
    out += begin * channels;
    if (in_.border == Border::constant && is_outside(first, width)) {
      return repeat_pixel(out, static_cast<const uint8_t*>(in_.fill), channels, width);
    }
    if (x_.next == 0 && down_.next == 0) return read_row(out, in_, row_, first, width);
    const int64_t count = width + (x_.next != 0), bytes = width * channels;
    const uint8_t* upper = find_row(buffer, in_, row_, first, count);
    const uint8_t* lower = nullptr;
    if (down_.next) {
      lower = find_row(buffer + (width + 1) * channels, in_, row_ + 1, first, count);
    }
    const MixLoops& loops = DALIESQUE_CHOOSE(mix_loops);
    if (down_.next == 0 || x_.next == 0) {
      const int next = down_.next ? down_.next : x_.next;
      const int16_t weights[] = {static_cast<int16_t>(kOne - next), static_cast<int16_t>(next)};
      const uint8_t* parts[] = {upper, down_.next ? lower : upper + channels};
      return loops.blend_two(out, parts, bytes, weights);
    }
    const int both = (x_.next * down_.next + kOne / 2) >> 14;
    const int16_t weights[] = {static_cast<int16_t>(kOne - x_.next - down_.next + both),
                               static_cast<int16_t>(x_.next - both),
                               static_cast<int16_t>(down_.next - both), static_cast<int16_t>(both)};
    const uint8_t* parts[] = {upper, upper + channels, lower, lower + channels};
    loops.blend_four(out, parts, bytes, weights);
  }

 private:
  /// Whether nothing of the image is under `width` columns from `first` on.
  bool is_outside(int64_t first, int64_t width) const {
    return row_ + (down_.next != 0) < 0 || row_ >= in_.height ||
           first + width + (x_.next != 0) <= 0 || first >= in_.width;
  }

  const WarpSurface& in_;
  Split x_, down_;
  int64_t row_;
};

}  // namespace

void shift_row(uint8_t* out, const WarpSurface& in, int64_t y, RowColumns columns, RowShift shift,
               uint8_t* buffer) {
  const RowPart part(in, columns.begin, y, shift);
  const int64_t width = columns.end - columns.begin;
  const int64_t begin = std::clamp<int64_t>(part.inner_begin(), 0, width);
  const int64_t end = std::clamp<int64_t>(part.inner_end(), begin, width);
  part.make(out, 0, begin, buffer);
  part.make(out, begin, end, buffer);
  part.make(out, end, width, buffer);
}

}  // namespace daliesque::image
