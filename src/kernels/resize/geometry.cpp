// SPDX-License-Identifier: Apache-2.0
#include "resize/geometry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace daliesque::resize {

namespace {

// Types and order of operations are those of the reference: sizes are rounded, so that a change
// in the last bit could change a shape.

/// Regions shorter than this are widened, so that a degenerate one still yields a pixel.
constexpr float kMinRegion = 1e-3f;

/// Stands for every size that is too large to be computed with, and for NaN.
constexpr float kTooLarge = 1e18f;

/// Regions are kept within these coordinates, which 32-bit integers can count.
constexpr double kFarthest = 1e9;

void limit_sizes(float* sizes, int axes, const float* max_size) {
  if (!max_size) return;
  for (int d = 0; d < axes; d++) {
    if (max_size[d] > 0 && std::abs(sizes[d]) > max_size[d]) {
      sizes[d] = std::copysign(max_size[d], sizes[d]);
    }
  }
}

/// Gives all axes the same scale, the smallest or largest of those requested.
void keep_aspect(float* sizes, const float* regions, const std::vector<double>& scales,
                 const std::vector<bool>& given, const SizeRequest& request) {
  double scale = 0;
  bool found = false;
  for (int d = 0; d < request.axes; d++) {
    if (!given[static_cast<size_t>(d)]) continue;
    const auto candidate = static_cast<float>(std::abs(scales[static_cast<size_t>(d)]));
    const bool better =
        request.mode == ResizeMode::not_smaller ? candidate > scale : candidate < scale;
    if (!found || better) scale = candidate;
    found = true;
  }
  if (request.max_size) {
    for (int d = 0; d < request.axes; d++) {
      if (request.max_size[d] > 0) {
        scale = std::min(scale, static_cast<double>(request.max_size[d]) / regions[d]);
      }
    }
  }
  for (int d = 0; d < request.axes; d++) {
    const double own = scales[static_cast<size_t>(d)];
    if (!given[static_cast<size_t>(d)] || std::abs(own) != scale) {
      sizes[d] = static_cast<float>(regions[d] * std::copysign(scale, own));
    }
  }
}

/// Replaces missing sizes and applies mode and limits.
void complete_sizes(float* sizes, const float* regions, const SizeRequest& request) {
  const auto axes = static_cast<size_t>(request.axes);
  std::vector<double> scales(axes);
  std::vector<bool> given(axes);
  int count = 0;
  double mean = 1;
  for (size_t d = 0; d < axes; d++) {
    given[d] = sizes[d] != 0 && regions[d] != 0;
    scales[d] = regions[d] != 0 ? sizes[d] / regions[d] : 1.0f;
    count += given[d];
    if (given[d]) mean *= std::abs(scales[d]);
  }
  if (count == 0) {
    std::copy_n(regions, axes, sizes);
    return;
  }
  if (request.mode == ResizeMode::not_larger || request.mode == ResizeMode::not_smaller) {
    keep_aspect(sizes, regions, scales, given, request);
    return;
  }
  if (count > 1) mean = std::pow(mean, 1.0 / count);
  if (request.mode == ResizeMode::stretch) mean = 1;
  for (size_t d = 0; d < axes; d++) {
    if (!given[d]) sizes[d] = static_cast<float>(regions[d] * mean);
  }
  limit_sizes(sizes, request.axes, request.max_size);
}

int64_t round_size(float size, SizeRounding rounding) {
  if (!(size < kTooLarge)) return static_cast<int64_t>(kTooLarge);
  switch (rounding) {
    case SizeRounding::truncate:
      return static_cast<int64_t>(size);
    case SizeRounding::up:
      return static_cast<int64_t>(std::ceil(size));
    default:
      return static_cast<int64_t>(std::round(size));
  }
}

void find_region(const SizeRequest& request, int64_t i, int d, float& start, float& end) {
  const auto extent = static_cast<double>(request.shapes.row(i)[request.first_axis + d]);
  start = 0;
  end = static_cast<float>(extent);
  if (!request.roi_start || extent == 0) return;
  double low = request.roi_start->row(i)[d], high = request.roi_end->row(i)[d];
  if (request.roi_relative) {
    low *= extent;
    high *= extent;
  }
  if (std::abs(high - low) < kMinRegion) {
    const float half = low <= high ? 0.5f * kMinRegion : -0.5f * kMinRegion;
    low -= half;
    high += half;
  }
  start = static_cast<float>(std::clamp(low, -kFarthest, kFarthest));
  end = static_cast<float>(std::clamp(high, -kFarthest, kFarthest));
}

/// Scales the region about its fixed point by the ratio of rounded to wanted size.
void adjust_region(double ratio, double alignment, float& start, float& end) {
  // A ratio beyond 10 means less than a tenth of a pixel was asked for.
  ratio = std::clamp(ratio, -10.0, 10.0);
  const double center = (1.0 - alignment) * start + alignment * end;
  const double low = center + (start - center) * ratio, high = center + (end - center) * ratio;
  start = static_cast<float>(std::clamp(low, -kFarthest, kFarthest));
  end = static_cast<float>(std::clamp(high, -kFarthest, kFarthest));
}

void find_row(const SizeRequest& request, int64_t i, int64_t* sizes, float* starts, float* ends) {
  const auto axes = static_cast<size_t>(request.axes);
  const int64_t* shape = request.shapes.row(i);
  const bool empty = std::count(shape, shape + request.shapes.width(), 0) > 0;
  std::vector<float> wanted(request.sizes.row(i), request.sizes.row(i) + request.axes);
  std::vector<float> regions(axes);
  for (size_t d = 0; d < axes; d++) {
    find_region(request, i, static_cast<int>(d), starts[d], ends[d]);
    regions[d] = ends[d] - starts[d];
    if (regions[d] < 0) {
      std::swap(starts[d], ends[d]);
      wanted[d] = -wanted[d];
      regions[d] = -regions[d];
    }
  }
  complete_sizes(wanted.data(), regions.data(), request);
  for (size_t d = 0; d < axes; d++) {
    const float size = std::abs(wanted[d]);
    // Samples with elements get at least one along each axis.
    sizes[d] = std::max<int64_t>(empty ? 0 : 1, round_size(size, request.rounding));
    if (wanted[d] < 0) std::swap(starts[d], ends[d]);
    if (request.subpixel_scale && static_cast<float>(sizes[d]) != size) {
      const double alignment = request.alignment ? request.alignment->row(i)[d] : 0.5f;
      adjust_region(static_cast<double>(sizes[d]) / size, alignment, starts[d], ends[d]);
    }
  }
}

}  // namespace

int64_t ResizeGeometry::find_unusable() const {
  for (size_t k = 0; k < sizes.size(); k++) {
    const bool fits = sizes[k] >= 0 && sizes[k] <= std::numeric_limits<int32_t>::max();
    if (!fits || !std::isfinite(starts[k]) || !std::isfinite(ends[k])) {
      return static_cast<int64_t>(k) / axes;
    }
  }
  return -1;
}

ResizeGeometry resize_geometry(const SizeRequest& request) {
  int64_t count = request.shapes.rows();
  const PerSample<float>* const arguments[] = {&request.sizes, request.roi_start, request.roi_end,
                                               request.alignment};
  for (const PerSample<float>* argument : arguments) {
    if (argument && count > 0) count = std::max(count, argument->rows());
  }
  const auto total = static_cast<size_t>(count * request.axes);
  ResizeGeometry geometry{request.axes, std::vector<int64_t>(total), std::vector<float>(total),
                          std::vector<float>(total)};
  for (int64_t i = 0; i < count; i++) {
    const auto at = static_cast<size_t>(i * request.axes);
    find_row(request, i, &geometry.sizes[at], &geometry.starts[at], &geometry.ends[at]);
  }
  return geometry;
}

}  // namespace daliesque::resize
