// SPDX-License-Identifier: Apache-2.0
#include "boxes/random_bbox_crop.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.h"
#include "random/std_random.h"

namespace daliesque::boxes {

namespace {

constexpr int kMostAxes = 3;
// A rough guess: most searches end within a few windows.
constexpr double kNanosecondsPerBox = 200;

using Point = std::array<float, kMostAxes>;

struct Box {
  Point low{}, high{};
};

float box_volume(const Box& box, int ndim) {
  float product = box.high[0] - box.low[0];
  for (int d = 1; d < ndim; d++) {
    product *= box.high[static_cast<size_t>(d)] - box.low[static_cast<size_t>(d)];
  }
  return product;
}

float common_volume(const Box& a, const Box& b, int ndim) {
  Box common;
  for (size_t d = 0; d < static_cast<size_t>(ndim); d++) {
    common.low[d] = std::max(a.low[d], b.low[d]);
    common.high[d] = std::min(a.high[d], b.high[d]);
    if (!(common.high[d] > common.low[d])) return 0;
  }
  return box_volume(common, ndim);
}

/// The search for the window of one sample.
class Search {
 public:
  Search(const BoxFormat& format, const BBoxCropOptions& options, const int64_t* input_shape,
         const int64_t* crop_shape, const random::PhiloxState& state)
      : axes_(static_cast<size_t>(format.ndim)),
        ndim_(format.ndim),
        options_(options),
        input_shape_(input_shape),
        crop_shape_(crop_shape),
        generator_(state) {}

  Box window;
  std::vector<Box> kept;
  std::vector<int32_t> indices;
  bool success = false, exhausted = false;

  void run(const std::vector<Box>& boxes) {
    const bool no_crop = options_.allow_no_crop && !crop_shape_;
    const auto choices = static_cast<int>(options_.thresholds.size()) + no_crop;
    int64_t count = 0;
    while (!success && (options_.total_attempts < 0 || count < options_.total_attempts)) {
      if (count >= kMostBBoxCropAttempts && options_.total_attempts < 0) {
        exhausted = true;
        return;
      }
      const auto choice = static_cast<size_t>(random::uniform_int(generator_, 0, choices - 1));
      if (choice == options_.thresholds.size()) {
        keep_everything(boxes);
        return;
      }
      // A window that suits does not end the round: later ones may replace it.
      for (int64_t k = 0; k < options_.attempts; k++)
        try_window(boxes, options_.thresholds[choice]);
      count += options_.attempts;
    }
  }

 private:
  void keep_everything(const std::vector<Box>& boxes) {
    success = true;
    window = Box{};
    for (size_t d = 0; d < axes_; d++) window.high[d] = 1;
    kept = boxes;
    indices.resize(boxes.size());
    for (size_t k = 0; k < boxes.size(); k++) indices[k] = static_cast<int32_t>(k);
  }

  void try_window(const std::vector<Box>& boxes, float threshold) {
    Box relative, absolute;
    if (!(crop_shape_ ? draw_fixed(relative, absolute) : draw_scaled(relative, absolute))) return;
    if (boxes.empty()) {
      window = absolute;
      success = true;
      return;
    }
    float metric = options_.all_boxes ? HUGE_VALF : -HUGE_VALF;
    for (const Box& box : boxes) {
      const float value = metric_of(relative, box);
      metric = options_.all_boxes ? std::min(metric, value) : std::max(metric, value);
    }
    const bool suits = metric >= threshold;
    if (metric <= best_ && !suits) return;
    best_ = metric;
    window = absolute;
    kept.clear();
    indices.clear();
    for (size_t k = 0; k < boxes.size(); k++) {
      if (!keeps(relative, boxes[k])) continue;
      kept.push_back(remapped(boxes[k], relative));
      indices.push_back(static_cast<int32_t>(k));
    }
    success = suits && !kept.empty();
  }

  /// A window of the given shape; it covers the image if it is larger.
  bool draw_fixed(Box& relative, Box& absolute) {
    for (size_t d = 0; d < axes_; d++) {
      const auto slack = static_cast<int>(input_shape_[d] - crop_shape_[d]);
      float anchor = 0;
      if (slack != 0) {
        anchor = static_cast<float>(
            random::uniform_int(generator_, std::min(slack, 0), std::max(slack, 0)));
      }
      const auto extent = static_cast<float>(crop_shape_[d]);
      const auto whole = static_cast<float>(input_shape_[d]);
      absolute.low[d] = anchor;
      absolute.high[d] = extent + anchor;
      relative.low[d] = anchor / whole;
      relative.high[d] = extent / whole + relative.low[d];
    }
    return true;
  }

  /// A window of random shape, or false if its aspect ratio is out of range.
  bool draw_scaled(Box& relative, Box& absolute) {
    Point shape{}, pixels{};
    for (size_t d = 0; d < axes_; d++) {
      shape[d] = random::uniform_real(generator_, options_.min_scale, options_.max_scale);
      pixels[d] = input_shape_ ? shape[d] * static_cast<float>(input_shape_[d]) : shape[d];
    }
    const bool fixed = fix_ratios(pixels);
    size_t k = 0;
    for (size_t a = 0; a < axes_; a++) {
      for (size_t b = a + 1; b < axes_; b++) {
        const float ratio = pixels[a] / pixels[b];
        if (!(ratio >= options_.aspect_ratio[2 * k] && ratio <= options_.aspect_ratio[2 * k + 1])) {
          return false;
        }
        k = (k + 1) % (options_.aspect_ratio.size() / 2);
      }
    }
    for (size_t d = 0; d < axes_; d++) {
      if (fixed) {
        shape[d] = input_shape_ ? pixels[d] / static_cast<float>(input_shape_[d]) : pixels[d];
      }
    }
    for (size_t d = 0; d < axes_; d++) {
      relative.low[d] = random::uniform_real(generator_, 0.0f, 1.0f - shape[d]);
      relative.high[d] = relative.low[d] + shape[d];
    }
    absolute = relative;
    return true;
  }

  /// Makes ratios that have no range exact, going through the axes in a random order.
  bool fix_ratios(Point& shape) const {
    float ratios[kMostAxes][kMostAxes] = {};
    bool any = false;
    size_t k = 0;
    for (size_t a = 0; a < axes_; a++) {
      for (size_t b = a + 1; b < axes_; b++) {
        const float least = options_.aspect_ratio[2 * k];
        if (least == options_.aspect_ratio[2 * k + 1]) {
          ratios[a][b] = least;
          ratios[b][a] = static_cast<float>(1.0 / static_cast<double>(least));
          any = true;
        }
        k = (k + 1) % (options_.aspect_ratio.size() / 2);
      }
    }
    if (!any) return false;
    // A copy: as in the reference, these draws are drawn again by what follows.
    random::Philox generator = generator_;
    std::array<size_t, kMostAxes> order = {0, 1, 2};
    random::shuffle(order.data(), axes_, generator);
    const auto largest = [&] {
      float extent = 0;
      for (size_t d = 0; d < axes_; d++) extent = std::max(extent, shape[d]);
      return extent;
    };
    const float before = largest();
    for (size_t i = 0; i < axes_; i++) {
      for (size_t j = i + 1; j < axes_; j++) {
        const float ratio = ratios[order[j]][order[i]];
        if (ratio > 0) shape[order[j]] = shape[order[i]] * ratio;
      }
    }
    const float after = largest();
    for (size_t d = 0; d < axes_; d++) shape[d] = before * shape[d] / after;
    return true;
  }

  float metric_of(const Box& crop, const Box& box) const {
    const float common = common_volume(crop, box, ndim_);
    if (options_.overlap) return common / box_volume(box, ndim_);
    if (common == 0) return 0;
    return common / (box_volume(crop, ndim_) + box_volume(box, ndim_) - common);
  }

  bool keeps(const Box& crop, const Box& box) const {
    if (options_.prune_threshold >= 0) {
      const float common = common_volume(crop, box, ndim_);
      return common != 0 && common / box_volume(box, ndim_) >= options_.prune_threshold;
    }
    for (size_t d = 0; d < axes_; d++) {
      const auto center = static_cast<float>(0.5 * static_cast<double>(box.high[d] + box.low[d]));
      if (!(center >= crop.low[d] && center < crop.high[d])) return false;
    }
    return true;
  }

  Box remapped(const Box& box, const Box& crop) const {
    Box mapped;
    for (size_t d = 0; d < axes_; d++) {
      const float extent = crop.high[d] - crop.low[d];
      const float low = (std::max(crop.low[d], box.low[d]) - crop.low[d]) / extent;
      const float high = (std::min(crop.high[d], box.high[d]) - crop.low[d]) / extent;
      mapped.low[d] = std::clamp(low, 0.0f, 1.0f);
      mapped.high[d] = std::clamp(high, 0.0f, 1.0f);
    }
    return mapped;
  }

  size_t axes_;
  int ndim_;
  const BBoxCropOptions& options_;
  const int64_t* input_shape_;
  const int64_t* crop_shape_;
  random::Philox generator_;
  float best_ = -1;
};

std::vector<Box> read_boxes(const Samples& boxes, int64_t i, const BoxFormat& format) {
  const auto ndim = static_cast<size_t>(format.ndim);
  std::vector<Box> list(static_cast<size_t>(boxes.shape(i)[0]));
  const float* row = boxes.data<const float>(i);
  for (Box& box : list) {
    for (size_t d = 0; d < ndim; d++) {
      box.low[d] = row[format.columns[d]];
      box.high[d] = row[format.columns[ndim + d]];
      if (format.extents) box.high[d] += box.low[d];
    }
    row += 2 * ndim;
  }
  return list;
}

void write_boxes(float* out, const std::vector<Box>& boxes, const BoxFormat& format) {
  const auto ndim = static_cast<size_t>(format.ndim);
  for (const Box& box : boxes) {
    for (size_t d = 0; d < ndim; d++) {
      out[format.columns[d]] = box.low[d];
      out[format.columns[ndim + d]] = format.extents ? box.high[d] - box.low[d] : box.high[d];
    }
    out += 2 * ndim;
  }
}

BBoxCrops collect(const std::vector<Search>& searches, const BoxFormat& format) {
  const auto count = static_cast<int64_t>(searches.size());
  std::vector<int64_t> points(searches.size(), format.ndim), boxes, indices;
  for (const Search& search : searches) {
    indices.push_back(static_cast<int64_t>(search.kept.size()));
    boxes.insert(boxes.end(), {indices.back(), 2 * format.ndim});
  }
  BBoxCrops out;
  out.anchors = Samples::empty(DType::float32, 1, points, "", count);
  out.shapes = Samples::empty(DType::float32, 1, points, "", count);
  out.boxes = Samples::empty(DType::float32, 2, boxes, "", count);
  out.indices = Samples::empty(DType::int32, 1, indices, "", count);
  for (int64_t i = 0; i < count; i++) {
    const Search& search = searches[static_cast<size_t>(i)];
    for (int d = 0; d < format.ndim; d++) {
      const auto axis = static_cast<size_t>(d);
      out.anchors.data<float>(i)[d] = search.window.low[axis];
      out.shapes.data<float>(i)[d] = search.window.high[axis] - search.window.low[axis];
    }
    write_boxes(out.boxes.data<float>(i), search.kept, format);
    std::ranges::copy(search.indices, out.indices.data<int32_t>(i));
    if (search.exhausted && out.exhausted < 0) out.exhausted = i;
    if (!search.success && out.unsuited < 0) out.unsuited = i;
  }
  return out;
}

}  // namespace

BBoxCrops random_bbox_crop(const Samples& boxes, const random::PhiloxState& state,
                           const BoxFormat& format, const BBoxCropOptions& options,
                           const PerSample<int64_t>* input_shape,
                           const PerSample<int64_t>* crop_shape) {
  std::vector<Search> searches;
  searches.reserve(static_cast<size_t>(boxes.size()));
  for (int64_t i = 0; i < boxes.size(); i++) {
    searches.emplace_back(format, options, input_shape ? input_shape->row(i) : nullptr,
                          crop_shape ? crop_shape->row(i) : nullptr,
                          random::sample_state(state, i));
  }
  parallel_for(
      boxes.size(),
      [&](int64_t i) {
        const auto tries = static_cast<double>(options.attempts);
        return kNanosecondsPerBox * tries * static_cast<double>(boxes.shape(i)[0] + 1);
      },
      [&](int64_t i) { searches[static_cast<size_t>(i)].run(read_boxes(boxes, i, format)); });
  return collect(searches, format);
}

}  // namespace daliesque::boxes
