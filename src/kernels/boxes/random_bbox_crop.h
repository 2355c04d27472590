// SPDX-License-Identifier: Apache-2.0
// Random windows that suit bounding boxes, with the draws of the reference.
#pragma once

#include <cstdint>
#include <vector>

#include "core/per_sample.h"
#include "core/samples.h"
#include "random/philox.h"

namespace daliesque::boxes {

/// How the numbers of a box are laid out.
struct BoxFormat {
  int ndim;                  ///< 2 or 3
  std::vector<int> columns;  ///< where the starts along x, y, (z) stand, then the ends
  bool extents;              ///< there are extents in place of the ends
};

struct BBoxCropOptions {
  std::vector<float> thresholds;
  std::vector<float> aspect_ratio;  ///< pairs of the least and the greatest ratio
  float min_scale, max_scale;
  int64_t attempts;        ///< windows that are tried for a threshold
  int64_t total_attempts;  ///< windows that are tried for a sample; negative: until one suits
  float prune_threshold;   ///< negative: a box is kept if its center is
  bool allow_no_crop, all_boxes, overlap;
};

/// Windows and what remains of the boxes. `unsuited` and `exhausted` are the first samples (or -1)
/// for which no window was found that suits: the best one is taken, or the search was given up.
struct BBoxCrops {
  Samples anchors, shapes, boxes, indices;
  int64_t unsuited = -1, exhausted = -1;
};

/// Searches without a limit are given up after this many windows.
constexpr int64_t kMostBBoxCropAttempts = 1'000'000;

/// `boxes` holds float arrays of shape (number of boxes, 2 * ndim), relative to the image.
/// `input_shape` and `crop_shape` (either may be null) hold the extents along x, y, (z).
BBoxCrops random_bbox_crop(const Samples& boxes, const random::PhiloxState& state,
                           const BoxFormat& format, const BBoxCropOptions& options,
                           const PerSample<int64_t>* input_shape,
                           const PerSample<int64_t>* crop_shape);

}  // namespace daliesque::boxes
