// SPDX-License-Identifier: Apache-2.0
#include "records/coco_masks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "core/memory.h"
#include "core/parallel.h"

namespace daliesque::records {

namespace {

constexpr int kScale = 5;

struct Point {
  int x, y;
};

/// Collects where outlines cross the middles of columns: numbers of pixels, down the columns.
class Crossings {
 public:
  Crossings(int64_t height, int64_t width) : height_(height), width_(width) {}

  /// Draws a line, from one vertex to the next.
  void line(Point from, Point to) {
    const int dx = std::abs(to.x - from.x), dy = std::abs(to.y - from.y);
    const bool flat = dx >= dy;
    // Lines are drawn in rising direction, so that neighbors share their pixels.
    const bool flip = flat ? from.x > to.x : from.y > to.y;
    const Point low = flip ? to : from, high = flip ? from : to;
    const int steps = flat ? dx : dy;
    const double slope =
        steps == 0 ? 0.0 : static_cast<double>(flat ? high.y - low.y : high.x - low.x) / steps;
    for (int k = 0; k <= steps; k++) {
      const int along = flip ? steps - k : k;
      const double across = (flat ? low.y : low.x) + slope * along + 0.5;
      const int rounded = static_cast<int>(across);
      visit(flat ? Point{low.x + along, rounded} : Point{rounded, low.y + along});
    }
  }

  /// The pixels at which the inside begins or ends, sorted.
  std::vector<int64_t>& sorted() {
    std::ranges::sort(offsets_);
    return offsets_;
  }

 private:
  void visit(Point point) {
    if (started_ && point.x != last_.x) {
      const int column = point.x < last_.x ? point.x : point.x - 1;
      const double x = (column + 0.5) / kScale - 0.5;
      if (x == std::floor(x) && x >= 0 && x <= static_cast<double>(width_ - 1)) {
        const double y = (std::min(point.y, last_.y) + 0.5) / kScale - 0.5;
        const double clamped = std::clamp(y, 0.0, static_cast<double>(height_));
        offsets_.push_back(static_cast<int64_t>(x) * height_ +
                           static_cast<int64_t>(std::ceil(clamped)));
      }
    }
    started_ = true;
    last_ = point;
  }

  int64_t height_, width_;
  bool started_ = false;
  Point last_{0, 0};
  std::vector<int64_t> offsets_;
};

/// A coordinate in the enlarged picture. Far outside it makes no difference how far.
int enlarged(float value) {
  constexpr double kFar = 1e6;
  const double clamped = std::clamp(std::isnan(value) ? 0.0 : double{value}, -kFar, kFar);
  return static_cast<int>(kScale * clamped + 0.5);
}

class Canvas {
 public:
  Canvas(int64_t height, int64_t width)
      : height_(height),
        width_(width),
        memory_(allocate(static_cast<size_t>(height * width) * sizeof(int32_t))),
        pixels_(static_cast<int32_t*>(memory_.get())) {
    std::fill_n(pixels_, height * width, 0);
  }

  void outline(std::span<const float> vertices, int32_t label, bool relative) {
    std::vector<Point> points;
    for (size_t k = 0; k + 1 < vertices.size(); k += 2) {
      const float x = relative ? vertices[k] * static_cast<float>(width_) : vertices[k];
      const float y = relative ? vertices[k + 1] * static_cast<float>(height_) : vertices[k + 1];
      points.push_back({enlarged(x), enlarged(y)});
    }
    Crossings crossings(height_, width_);
    for (size_t k = 0; k < points.size(); k++) {
      crossings.line(points[k], points[(k + 1) % points.size()]);
    }
    const std::vector<int64_t>& offsets = crossings.sorted();
    for (size_t k = 0; k < offsets.size(); k += 2) {
      fill(offsets[k], k + 1 < offsets.size() ? offsets[k + 1] : height_ * width_, label);
    }
  }

  void runs(std::span<const uint32_t> lengths, int32_t label) {
    int64_t begin = 0;
    for (size_t k = 0; k < lengths.size(); k++) {
      const int64_t end = begin + lengths[k];
      if (k % 2) fill(begin, end, label);
      begin = end;
    }
  }

  /// Copies the picture row by row, in blocks that fit into the cache.
  void copy_to(int32_t* out) const {
    constexpr int64_t kBlock = 32;
    for (int64_t top = 0; top < height_; top += kBlock) {
      for (int64_t left = 0; left < width_; left += kBlock) {
        for (int64_t y = top; y < std::min(top + kBlock, height_); y++) {
          for (int64_t x = left; x < std::min(left + kBlock, width_); x++) {
            out[y * width_ + x] = pixels_[x * height_ + y];
          }
        }
      }
    }
  }

 private:
  void fill(int64_t begin, int64_t end, int32_t label) {
    std::fill_n(pixels_ + begin, end - begin, label);
  }

  int64_t height_, width_;
  Buffer memory_;
  int32_t* pixels_;  // column by column
};

}  // namespace

void paint_masks(Samples& out, const std::vector<std::vector<CocoMask>>& masks, bool relative) {
  parallel_for(
      out.size(), [&](int64_t i) { return 2.0 * static_cast<double>(out.volume(i)); },
      [&](int64_t i) {
        const std::vector<CocoMask>& own = masks[static_cast<size_t>(i)];
        int32_t* pixels = out.data<int32_t>(i);
        if (own.empty()) return void(std::fill_n(pixels, out.volume(i), 0));
        std::vector<size_t> order(own.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::ranges::stable_sort(order, {}, [&](size_t k) { return own[k].label; });
        Canvas canvas(out.shape(i)[0], out.shape(i)[1]);
        for (const size_t k : order) {
          if (own[k].vertices.empty()) {
            canvas.runs(own[k].runs, own[k].label);
          } else {
            canvas.outline(own[k].vertices, own[k].label, relative);
          }
        }
        canvas.copy_to(pixels);
      });
}

}  // namespace daliesque::records
