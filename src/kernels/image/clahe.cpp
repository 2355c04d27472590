// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "core/border.h"
#include "core/parallel.h"
#include "core/rearrange.h"
#include "core/simd.h"
#include "image/histogram.h"
#include "image/lab.h"

namespace daliesque::image {

#define DALIESQUE_CLAHE_LOOPS                                                                   \
  void blend_tables(uint8_t* out, const uint8_t* in, int64_t count, const uint32_t* tables,     \
                    const int32_t* offsets, const float* left, const float* right, float above, \
                    float below);

namespace portable {
DALIESQUE_CLAHE_LOOPS
}
namespace avx2 {
DALIESQUE_CLAHE_LOOPS
}

#undef DALIESQUE_CLAHE_LOOPS

namespace {

constexpr double kClaheNanosecondsPerPixel = 2.0, kClaheNanosecondsPerColor = 4.0;

using EqualizingTable = std::array<uint8_t, 256>;

uint8_t nearest_byte(float value) {
  return static_cast<uint8_t>(std::min(std::lrint(value), 255L));
}

/// Equalizes one plane of bytes.
class Equalizer {
 public:
  Equalizer(int64_t height, int64_t width, const Clahe& arguments)
      : height_(height),
        width_(width),
        tiles_x_(arguments.tiles_x),
        tiles_y_(arguments.tiles_y),
        tile_height_(height / tiles_y_),
        tile_width_(width / tiles_x_) {
    if (height % tiles_y_ != 0 || width % tiles_x_ != 0) {
      // If one axis does not divide evenly, OpenCV extends both.
      tile_height_ = (height + tiles_y_ - height % tiles_y_) / tiles_y_;
      tile_width_ = (width + tiles_x_ - width % tiles_x_) / tiles_x_;
    }
    const auto total = static_cast<int32_t>(tile_height_ * tile_width_);
    scale_ = 255.0f / static_cast<float>(total);
    if (arguments.clip_limit > 0) {
      const double limit = static_cast<double>(arguments.clip_limit) * total / 256;
      // Counts beyond the size of a tile are never reached.
      limit_ = static_cast<int32_t>(std::clamp(limit, 1.0, static_cast<double>(total)));
    }
    locate_columns();
  }

  void run(uint8_t* out, const uint8_t* in) {
    std::vector<EqualizingTable> tables(static_cast<size_t>(tiles_x_ * tiles_y_));
    const auto tile_cost = static_cast<double>(tile_height_ * tile_width_);
    parallel_for(
        tiles_x_ * tiles_y_, [&](int64_t) { return tile_cost; },
        [&](int64_t tile) { tables[static_cast<size_t>(tile)] = make_table(in, tile); });
    const std::vector<uint32_t> cells = join_tables(tables);
    parallel_slices(
        1, [&](int64_t) { return height_; },
        [&](int64_t) { return kClaheNanosecondsPerPixel * static_cast<double>(width_); },
        [&](int64_t, int64_t begin, int64_t end) {
          for (int64_t y = begin; y < end; y++) blend_row(out, in, y, cells);
        });
  }

 private:
  /// Between which tiles a column lies, and how far from either.
  void locate_columns() {
    const float step = 1.0f / static_cast<float>(tile_width_);
    for (int64_t x = 0; x < width_; x++) {
      const float position = static_cast<float>(x) * step - 0.5f;
      const float before = std::floor(position);
      right_.push_back(position - before);
      left_.push_back(1.0f - right_.back());
      offsets_.push_back((static_cast<int32_t>(before) + 1) * 256);
    }
  }

  EqualizingTable make_table(const uint8_t* in, int64_t tile) const {
    std::array<int32_t, 256> counts{}, more{};
    const int64_t top = tile / tiles_x_ * tile_height_, left = tile % tiles_x_ * tile_width_;
    const int64_t inside = std::clamp<int64_t>(width_ - left, 0, tile_width_);
    for (int64_t y = top; y < top + tile_height_; y++) {
      const uint8_t* row = in + border_index(y, height_, Border::reflect_101) * width_;
      int64_t x = 0;
      for (; x + 2 <= inside; x += 2) {
        counts[row[left + x]]++;
        more[row[left + x + 1]]++;
      }
      for (; x < tile_width_; x++) {
        counts[row[border_index(left + x, width_, Border::reflect_101)]]++;
      }
    }
    for (size_t k = 0; k < 256; k++) counts[k] += more[k];
    if (limit_ > 0) clip(counts);
    EqualizingTable table;
    int32_t sum = 0;
    for (size_t k = 0; k < 256; k++) {
      sum += counts[k];
      table[k] = nearest_byte(static_cast<float>(sum) * scale_);
    }
    return table;
  }

  /// Cuts off what exceeds the limit and spreads it over all values.
  void clip(std::array<int32_t, 256>& counts) const {
    int32_t excess = 0;
    for (int32_t& count : counts) {
      excess += std::max(count - limit_, 0);
      count = std::min(count, limit_);
    }
    const int32_t share = excess / 256, rest = excess % 256;
    for (int32_t& count : counts) count += share;
    const int32_t step = rest ? std::max(256 / rest, 1) : 256;
    for (int32_t k = 0; k < rest && k * step < 256; k++) counts[static_cast<size_t>(k * step)]++;
  }

  /// For each position between tiles, the tables of the four around it: one word holds what they
  /// make of a byte. Beyond the outermost tiles, these count twice.
  std::vector<uint32_t> join_tables(const std::vector<EqualizingTable>& tables) const {
    std::vector<uint32_t> cells;
    cells.reserve(static_cast<size_t>((tiles_y_ + 1) * (tiles_x_ + 1) * 256));
    const auto table = [&](int64_t y, int64_t x) -> const EqualizingTable& {
      y = std::clamp<int64_t>(y, 0, tiles_y_ - 1);
      x = std::clamp<int64_t>(x, 0, tiles_x_ - 1);
      return tables[static_cast<size_t>(y * tiles_x_ + x)];
    };
    for (int64_t y = -1; y < tiles_y_; y++) {
      for (int64_t x = -1; x < tiles_x_; x++) {
        const EqualizingTable &a = table(y, x), &b = table(y, x + 1);
        const EqualizingTable &c = table(y + 1, x), &d = table(y + 1, x + 1);
        for (size_t k = 0; k < 256; k++) {
          cells.push_back(a[k] | static_cast<uint32_t>(b[k]) << 8 |
                          static_cast<uint32_t>(c[k]) << 16 | static_cast<uint32_t>(d[k]) << 24);
        }
      }
    }
    return cells;
  }

  void blend_row(uint8_t* out, const uint8_t* in, int64_t y,
                 const std::vector<uint32_t>& cells) const {
    const float position = static_cast<float>(y) * (1.0f / static_cast<float>(tile_height_)) - 0.5f;
    const float before = std::floor(position);
    const float below = position - before, above = 1.0f - below;
    const uint32_t* row = cells.data() + (static_cast<int64_t>(before) + 1) * (tiles_x_ + 1) * 256;
    auto* const blend = DALIESQUE_CHOOSE(blend_tables);
    blend(out + y * width_, in + y * width_, width_, row, offsets_.data(), left_.data(),
          right_.data(), above, below);
  }

  int64_t height_, width_, tiles_x_, tiles_y_, tile_height_, tile_width_;
  float scale_;
  int32_t limit_ = 0;  // 0 for none
  std::vector<float> left_, right_;
  std::vector<int32_t> offsets_;
};

/// Runs body(begin, end) over pixels.
template <class Body>
void for_pixels(int64_t pixels, Body&& body) {
  constexpr int64_t kUnit = 256;
  parallel_slices(
      1, [&](int64_t) { return (pixels + kUnit - 1) / kUnit; },
      [&](int64_t) { return kClaheNanosecondsPerColor * kUnit; },
      [&](int64_t, int64_t begin, int64_t end) {
        body(begin * kUnit, std::min(end * kUnit, pixels));
      });
}

void equalize_colors(uint8_t* out, const uint8_t* in, int64_t height, int64_t width,
                     const Clahe& arguments) {
  const int64_t pixels = height * width;
  const Buffer memory = allocate(static_cast<size_t>(3 * pixels));
  auto* planes = static_cast<uint8_t*>(memory.get());
  uint8_t *first = planes, *second = planes + pixels, *third = planes + 2 * pixels;
  Equalizer equalizer(height, width, arguments);
  if (arguments.luma_only) {
    for_pixels(pixels, [&](int64_t begin, int64_t end) {
      rgb_to_lab(first + begin, second + begin, third + begin, in + 3 * begin, end - begin);
    });
    equalizer.run(first, first);
    for_pixels(pixels, [&](int64_t begin, int64_t end) {
      lab_to_rgb(out + 3 * begin, first + begin, second + begin, third + begin, end - begin);
    });
    return;
  }
  rearrange_loops().split(planes, pixels, in, pixels, 3, 1);
  for (uint8_t* plane : {first, second, third}) equalizer.run(plane, plane);
  rearrange_loops().join(out, planes, pixels, pixels, 3, 1);
}

}  // namespace

void clahe(Samples& out, const Samples& in, const Clahe& arguments) {
  parallel_for(
      in.size(),
      [&](int64_t i) { return kClaheNanosecondsPerColor * static_cast<double>(in.volume(i)); },
      [&](int64_t i) {
        const Shape shape = in.shape(i);
        if (in.volume(i) == 0) return;
        auto* to = out.data<uint8_t>(i);
        const auto* from = in.data<const uint8_t>(i);
        if (shape.size() == 3 && shape[2] == 3) {
          equalize_colors(to, from, shape[0], shape[1], arguments);
        } else {
          Equalizer(shape[0], shape[1], arguments).run(to, from);
        }
      });
}

}  // namespace daliesque::image
