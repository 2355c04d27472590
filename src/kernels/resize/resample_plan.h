// SPDX-License-Identifier: Apache-2.0
// From sizes, regions and filters to tables and an order of passes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "resize/resample_table.h"

namespace daliesque::resize {

/// What is asked of one axis: the input interval [start, end), in pixels, becomes `out_size`
/// samples. start > end mirrors. Pixels outside [0, in_size) repeat the edge.
struct AxisRequest {
  int64_t in_size = 0;
  int64_t out_size = 0;
  float start = 0;
  float end = 0;
  Interp min_filter = Interp::triangular;
  Interp mag_filter = Interp::linear;
  bool antialias = true;

  bool operator==(const AxisRequest&) const = default;
};

/// The tables of the adjacent axes of one array, outermost first, and the order in which the
/// reference resamples them (indices into `axes`).
struct ResamplePlan {
  std::vector<TablePtr> axes;
  std::vector<int> order;
  bool pure_nearest = false;
};

/// Tables are kept in a small cache per thread, keyed by everything they depend on.
ResamplePlan make_resample_plan(std::span<const AxisRequest> axes);

}  // namespace daliesque::resize
