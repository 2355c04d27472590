// SPDX-License-Identifier: Apache-2.0
#include "image/debayer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "core/border.h"
#include "core/parallel.h"
#include "core/rearrange.h"
#include "core/simd.h"
#include "image/debayer_loops.h"

namespace daliesque::image {

namespace {

constexpr double kDebayerNanosecondsPerPixel = 2.0, kNanosecondsPerGradient = 6.0;
// Luma of red, green and blue in units of 2^-14.
constexpr uint32_t kRed = 4899, kGreen = 9617, kBlue = 1868;
// Images with a shorter side have no variable gradients.
constexpr int64_t kSmallest = 8;

/// Which pixels of a sensor see which color.
struct Pattern {
  int64_t blue_row, blue_column;  // modulo 2

  bool is_blue(int64_t y) const { return (y - blue_row) % 2 == 0; }
  /// Columns with this remainder are green in row y.
  int64_t green_column(int64_t y) const { return is_blue(y) ? 1 - blue_column : blue_column; }
};

template <class T>
std::array<std::vector<T>, 2> green_masks(int64_t width) {
  std::array<std::vector<T>, 2> masks;
  for (size_t parity = 0; parity < 2; parity++) {
    for (int64_t x = 0; x < width; x++) {
      masks[parity].push_back(x % 2 == static_cast<int64_t>(parity) ? static_cast<T>(~T{0}) : T{0});
    }
  }
  return masks;
}

/// Planes of red, green and blue for a few rows, to be interleaved into pixels together.
template <class T>
class ColorBlock {
 public:
  explicit ColorBlock(int64_t width)
      : width_(width),
        rows_(std::max<int64_t>(1, kPixels / width)),
        planes_(static_cast<size_t>(3 * rows_ * width)) {}

  int64_t rows() const { return rows_; }

  /// Where a row of this block goes, if it is one with blue pixels or not.
  ColorRows<T> row(int64_t k, bool blue) {
    T *first = plane(0) + k * width_, *last = plane(2) + k * width_;
    return {plane(1) + k * width_, blue ? last : first, blue ? first : last};
  }

  T* plane(int64_t c) { return planes_.data() + c * rows_ * width_; }

  void interleave(T* out, int64_t rows) const {
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    rearrange_loops().join(out, planes_.data(), rows_ * width_ * kSize, rows * width_, 3, kSize);
  }

 private:
  static constexpr int64_t kPixels = 4096;
  int64_t width_, rows_;
  std::vector<T> planes_;
};

/// Calls body(first, last) for blocks of rows.
template <class Body>
void for_blocks(int64_t begin, int64_t end, int64_t rows, Body&& body) {
  for (int64_t first = begin; first < end; first += rows) body(first, std::min(first + rows, end));
}

/// An image in whose first and last row and column no colors can be made: they repeat the ones
/// next to them.
template <class T>
class Sensor {
 public:
  Sensor(T* out, const T* in, int64_t height, int64_t width, Pattern pattern)
      : out_(out),
        in_(in),
        height_(height),
        width_(width),
        pattern_(pattern),
        masks_(green_masks<T>(width)) {}

  void run(Demosaic algorithm, int64_t begin, int64_t end) const {
    const int64_t channels = algorithm == Demosaic::gray ? 1 : 3;
    if (width_ <= 2 || height_ <= 2) {
      std::fill(out_ + begin * width_ * channels, out_ + end * width_ * channels, T{0});
    } else if (algorithm == Demosaic::gray) {
      for (int64_t y = begin; y < end; y++) make_gray(y);
    } else {
      make_colors(begin, end, algorithm == Demosaic::edge_aware);
    }
  }

 private:
  int64_t source(int64_t y) const { return std::clamp<int64_t>(y, 1, height_ - 2); }

  SensorRows<T> rows(int64_t y) const {
    const T* here = in_ + y * width_;
    const T* green = masks_[static_cast<size_t>(pattern_.green_column(y))].data();
    return {here - width_, here, here + width_, green, width_};
  }

  void make_gray(int64_t y) const {
    const bool blue = pattern_.is_blue(source(y));
    const GrayWeights weights{kGreen, blue ? kBlue : kRed, blue ? kRed : kBlue};
    T* out = out_ + y * width_;
    DALIESQUE_CHOOSE(gray_row(out, rows(source(y)), weights));
    repeat_ends(out);
  }

  void make_colors(int64_t begin, int64_t end, bool along_edges) const {
    ColorBlock<T> block(width_);
    for_blocks(begin, end, block.rows(), [&](int64_t first, int64_t last) {
      for (int64_t y = first; y < last; y++) {
        const ColorRows<T> out = block.row(y - first, pattern_.is_blue(source(y)));
        DALIESQUE_CHOOSE(interpolate_row(out, rows(source(y)), along_edges));
        for (T* plane : {out.green, out.own, out.other}) repeat_ends(plane);
      }
      block.interleave(out_ + first * width_ * 3, last - first);
    });
  }

  void repeat_ends(T* row) const {
    row[0] = row[1];
    row[width_ - 1] = row[width_ - 2];
  }

  T* out_;
  const T* in_;
  int64_t height_, width_;
  Pattern pattern_;
  std::array<std::vector<T>, 2> masks_;
};

/// Variable number of gradients: colors are interpolated along the directions in which the image
/// changes least (Chang, Cheung and Pang, "Color filter array recovery using a threshold-based
/// variable number of gradients", 1999). The image is mirrored beyond its edges.
class GradientSensor {
 public:
  GradientSensor(uint8_t* out, const uint8_t* in, int64_t height, int64_t width, Pattern pattern)
      : out_(out),
        in_(in),
        height_(height),
        width_(width),
        padded_(width + 4),
        pattern_(pattern),
        masks_(green_masks<uint16_t>(padded_)),
        rows_(static_cast<size_t>(5 * padded_)),
        gradients_(static_cast<size_t>(3 * 7 * padded_)),
        block_(width) {}

  void run(int64_t begin, int64_t end) {
    for (int64_t y = begin - 2; y < begin + 2; y++) read_row(y);
    for (int64_t y = begin - 1; y < begin + 1; y++) differentiate(y);
    for_blocks(begin, end, block_.rows(), [&](int64_t first, int64_t last) {
      for (int64_t y = first; y < last; y++) {
        read_row(y + 2);
        differentiate(y + 1);
        make_row(y, block_.row(y - first, pattern_.is_blue(y)));
      }
      block_.interleave(out_ + first * width_ * 3, last - first);
    });
  }

 private:
  static size_t ring(int64_t y, int64_t size) {
    return static_cast<size_t>(((y % size) + size) % size);
  }
  uint16_t* row(int64_t y) { return rows_.data() + ring(y, 5) * static_cast<size_t>(padded_); }
  GradientRow gradient(int64_t y) {
    uint16_t* first = gradients_.data() + ring(y, 3) * 7 * static_cast<size_t>(padded_);
    const auto part = [&](int64_t k) { return first + k * padded_; };
    return {part(0), part(1), part(2), part(3), part(4), part(5), part(6)};
  }

  void read_row(int64_t y) {
    const uint8_t* from = in_ + border_index(y, height_, Border::reflect_101) * width_;
    uint16_t* to = row(y);
    for (int64_t x = 0; x < width_; x++) to[x + 2] = from[x];
    for (int64_t x : {int64_t{-2}, int64_t{-1}, width_, width_ + 1}) {
      to[x + 2] = from[border_index(x, width_, Border::reflect_101)];
    }
  }

  void differentiate(int64_t y) {
    DALIESQUE_CHOOSE(find_gradients(gradient(y), row(y - 1), row(y), row(y + 1), padded_));
  }

  void make_row(int64_t y, const ColorRows<uint8_t>& out) {
    GradientWindow window{};
    for (int k = 0; k < 5; k++) window.rows[k] = row(y + k - 2);
    for (int k = 0; k < 3; k++) window.gradients[k] = gradient(y + k - 1);
    window.green = masks_[static_cast<size_t>(pattern_.green_column(y))].data();
    window.width = padded_;
    DALIESQUE_CHOOSE(follow_gradients(out, window));
  }

  uint8_t* out_;
  const uint8_t* in_;
  int64_t height_, width_, padded_;
  Pattern pattern_;
  std::array<std::vector<uint16_t>, 2> masks_;
  std::vector<uint16_t> rows_, gradients_;
  ColorBlock<uint8_t> block_;
};

}  // namespace

void debayer(Samples& out, const Samples& in, const PerSample<int32_t>& blue_position,
             Demosaic algorithm) {
  const bool gradients = algorithm == Demosaic::variable_gradients;
  parallel_slices(
      in.size(), [&](int64_t i) { return in.volume(i) ? in.shape(i)[0] : 0; },
      [&](int64_t i) {
        const double cost = gradients ? kNanosecondsPerGradient : kDebayerNanosecondsPerPixel;
        return cost * static_cast<double>(in.shape(i)[1]);
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const int64_t height = in.shape(i)[0], width = in.shape(i)[1];
        const int32_t* blue = blue_position.row(i);
        const Pattern pattern{(blue[0] + 1) % 2, (blue[1] + 1) % 2};
        if (in.dtype() == DType::uint16) {
          Sensor<uint16_t>(out.data<uint16_t>(i), in.data<const uint16_t>(i), height, width,
                           pattern)
              .run(algorithm, begin, end);
          return;
        }
        auto* to = out.data<uint8_t>(i);
        const auto* from = in.data<const uint8_t>(i);
        if (gradients && std::min(height, width) >= kSmallest) {
          GradientSensor(to, from, height, width, pattern).run(begin, end);
        } else {
          Sensor<uint8_t>(to, from, height, width, pattern).run(algorithm, begin, end);
        }
      });
}

}  // namespace daliesque::image
