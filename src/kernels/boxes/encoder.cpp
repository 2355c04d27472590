// SPDX-License-Identifier: Apache-2.0
#include "boxes/encoder.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"

namespace daliesque::boxes {

namespace {

constexpr double kNanosecondsPerPair = 1.5;

/// Anchors column by column, so that loops over them are vectorized.
struct Anchors {
  explicit Anchors(const Samples& rows) : count(rows.shape(0)[0]) {
    const float* from = rows.data<const float>(0);
    for (auto* column : {&left, &top, &right, &bottom, &area}) {
      column->resize(static_cast<size_t>(count));
    }
    for (size_t k = 0; k < left.size(); k++, from += 4) {
      left[k] = from[0];
      top[k] = from[1];
      right[k] = from[2];
      bottom[k] = from[3];
      area[k] = (from[2] - from[0]) * (from[3] - from[1]);
    }
  }

  int64_t count;
  std::vector<float> left, top, right, bottom, area;
};

/// Intersection over union of a box with all anchors.
void find_overlaps(float* __restrict out, const float* box, const Anchors& anchors) {
  const float left = box[0], top = box[1], right = box[2], bottom = box[3];
  const float own = (right - left) * (bottom - top);
  const float* __restrict lefts = anchors.left.data();
  const float* __restrict tops = anchors.top.data();
  const float* __restrict rights = anchors.right.data();
  const float* __restrict bottoms = anchors.bottom.data();
  const float* __restrict areas = anchors.area.data();
  for (int64_t k = 0; k < anchors.count; k++) {
    const float width =
        (rights[k] < right ? rights[k] : right) - (lefts[k] > left ? lefts[k] : left);
    const float height =
        (bottoms[k] < bottom ? bottoms[k] : bottom) - (tops[k] > top ? tops[k] : top);
    const float common = width > 0 && height > 0 ? width * height : 0.0f;
    const float overlap = common / (own + areas[k] - common);
    out[k] = common == 0 ? 0.0f : overlap;
  }
}

/// The last of the greatest elements.
size_t last_greatest(const std::vector<float>& values) {
  size_t best = 0;
  for (size_t k = 1; k < values.size(); k++) {
    if (values[k] >= values[best]) best = k;
  }
  return best;
}

/// Center and size; the center is rounded from double, as in the reference.
void to_center(float out[4], const float box[4]) {
  for (int d = 0; d < 2; d++) {
    out[d] = static_cast<float>(0.5 * static_cast<double>(box[d + 2] + box[d]));
    out[d + 2] = box[d + 2] - box[d];
  }
}

void write_match(float* out, const float* box, const float* anchor, const BoxEncoding& encoding) {
  float own[4], other[4];
  to_center(own, box);
  if (!encoding.offset) {
    std::copy_n(own, 4, out);
    return;
  }
  to_center(other, anchor);
  for (int d = 0; d < 4; d++) {
    own[d] *= encoding.scale;
    other[d] *= encoding.scale;
  }
  for (int d = 0; d < 2; d++) {
    const float center = (own[d] - other[d]) / other[d + 2];
    out[d] = (center - encoding.means[d]) / encoding.stds[d];
    const float size = std::log(own[d + 2] / other[d + 2]);
    out[d + 2] = (size - encoding.means[d + 2]) / encoding.stds[d + 2];
  }
}

}  // namespace

void encode_boxes(Samples& out_boxes, Samples& out_labels, const Samples& boxes,
                  const Samples& labels, const Samples& anchors, const BoxEncoding& encoding) {
  const Anchors columns(anchors);
  const float* rows = anchors.data<const float>(0);
  parallel_for(
      boxes.size(),
      [&](int64_t i) {
        return kNanosecondsPerPair * static_cast<double>((boxes.shape(i)[0] + 1) * columns.count);
      },
      [&](int64_t i) {
        float* out = out_boxes.data<float>(i);
        int32_t* out_label = out_labels.data<int32_t>(i);
        const float* own = boxes.data<const float>(i);
        const auto count = static_cast<size_t>(columns.count);
        std::vector<float> overlaps(count), best(count, -1.0f);
        std::vector<int32_t> owner(count, 0);
        for (int64_t b = 0; count && b < boxes.shape(i)[0]; b++) {
          find_overlaps(overlaps.data(), own + b * 4, columns);
          // More than any overlap, so that the anchor is the box's unless a later box takes it.
          overlaps[last_greatest(overlaps)] = 2;
          for (size_t k = 0; k < count; k++) {
            if (overlaps[k] >= best[k]) {
              best[k] = overlaps[k];
              owner[k] = static_cast<int32_t>(b);
            }
          }
        }
        for (size_t k = 0; k < count; k++, out += 4) {
          const float* anchor = rows + k * 4;
          out_label[k] = 0;
          if (best[k] > encoding.criteria) {
            write_match(out, own + owner[k] * 4, anchor, encoding);
            out_label[k] = labels.data<const int32_t>(i)[owner[k]];
          } else if (encoding.offset) {
            std::fill_n(out, 4, 0.0f);
          } else {
            to_center(out, anchor);
          }
        }
      });
}

}  // namespace daliesque::boxes
