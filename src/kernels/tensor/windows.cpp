// SPDX-License-Identifier: Apache-2.0
#include "tensor/windows.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace daliesque::tensor {

namespace {

// Extents below it can be added and subtracted.
constexpr float kMostPixels = 0x1p60f;

/// Refuses an argument that has not one row for all windows, or one for each of them, or fewer
/// values in a row than are read.
template <class T>
void require(const PerSample<T>& values, int64_t rows, int64_t width) {
  if (rows > 0 && ((values.rows() != 1 && values.rows() != rows) || values.width() < width)) {
    throw std::invalid_argument("rows of an argument do not fit the windows");
  }
}

/// Likewise for a value for each of `axes`, or one for all.
template <class T>
void require_each(const std::optional<PerSample<T>>& values, int64_t rows, int64_t axes) {
  if (values) require(*values, rows, values->width() == 1 ? 1 : axes);
}

/// Whole-axis windows for as many rows as the longest of the arguments has.
Windows whole_axes(const PerSample<int64_t>& shapes, int64_t rows) {
  Windows out;
  out.rows = shapes.rows() == 0 ? 0 : rows;
  require(shapes, out.rows, 0);
  out.ndim = shapes.width();
  out.anchors.assign(static_cast<size_t>(out.rows * out.ndim), 0);
  for (int64_t row = 0; row < out.rows; row++) {
    out.extents.insert(out.extents.end(), shapes.row(row), shapes.row(row) + out.ndim);
  }
  return out;
}

template <class T>
T value_for(const PerSample<T>& values, int64_t row, int64_t k) {
  return values.row(row)[values.width() == 1 ? 0 : k];
}

/// The axes of one row, counted from the front.
WindowFault read_axes(std::vector<int64_t>& out, const PerSample<int32_t>& axes, int64_t row,
                      int64_t ndim) {
  out.clear();
  for (int64_t k = 0; k < axes.width(); k++) {
    const int64_t given = axes.row(row)[k], axis = given < 0 ? given + ndim : given;
    if (axis < 0 || axis >= ndim) {
      return {WindowFault::axis_range, row, k, static_cast<double>(given)};
    }
    if (std::ranges::find(out, axis) != out.end()) {
      return {WindowFault::axis_twice, row, k, static_cast<double>(given)};
    }
    out.push_back(axis);
  }
  return {};
}

}  // namespace

WindowFault crop_windows(Windows& out, const PerSample<int64_t>& shapes, std::string_view layout,
                         const CropArgs& args) {
  int64_t rows = std::max(shapes.rows(), args.crop ? args.crop->rows() : 0);
  for (int k = 0; k < 3; k++) {
    rows = std::max({rows, args.sizes[k].rows(), args.positions[k].rows()});
  }
  out = whole_axes(shapes, rows);
  if (args.crop) require(*args.crop, out.rows, 1);
  for (int k = 0; k < 3; k++) {
    require(args.sizes[k], out.rows, 1);
    require(args.positions[k], out.rows, 1);
  }
  if (out.rows && static_cast<int64_t>(layout.size()) > out.ndim) {
    throw std::invalid_argument("the layout has more axes than the windows");
  }
  const size_t depth = layout.find('D');
  const size_t axes[3] = {depth != layout.npos ? depth : layout.find('F'), layout.find('H'),
                          layout.find('W')};
  const int64_t missing = args.crop ? 3 - args.crop->width() : 0;
  for (int64_t row = 0; row < out.rows; row++) {
    for (int64_t k = 0; k < 3; k++) {
      float size = args.sizes[k][row];
      if (args.crop) {
        if (size != 0) return {WindowFault::two_sizes, row, k, size};
        size = k < missing ? 0 : args.crop->row(row)[k - missing];
      }
      if (!(size >= 0 && size < kMostPixels)) return {WindowFault::negative_size, row, k, size};
      const auto extent = static_cast<int64_t>(size);
      if (extent == 0 || axes[k] == layout.npos) continue;
      const float position = args.positions[k][row];
      if (!(position >= 0 && position <= 1)) return {WindowFault::position, row, k, position};
      const auto at = static_cast<size_t>(row * out.ndim) + axes[k];
      const double begin =
          static_cast<double>(position) * static_cast<double>(out.extents[at] - extent);
      out.anchors[at] = static_cast<int64_t>(args.truncate ? begin : std::round(begin));
      out.extents[at] = extent;
    }
  }
  return {};
}

WindowFault slice_windows(Windows& out, const PerSample<int64_t>& shapes, const SliceArgs& args) {
  int64_t rows = std::max(shapes.rows(), args.axes.rows());
  for (const SliceBound* bound : {&args.begin, &args.end, &args.size}) {
    if (bound->values) rows = std::max(rows, bound->values->rows());
  }
  out = whole_axes(shapes, rows);
  require(args.axes, out.rows, 0);
  for (const SliceBound* bound : {&args.begin, &args.end, &args.size}) {
    require_each(bound->values, out.rows, args.axes.width());
  }
  const auto along = [&](double value, double extent) {
    return args.single_precision
               ? static_cast<double>(static_cast<float>(value) * static_cast<float>(extent))
               : value * extent;
  };
  const auto absolute = [&](const SliceBound& bound, int64_t row, int64_t k, double extent) {
    const double value = value_for(*bound.values, row, k);
    return bound.relative ? along(value, extent) : value;
  };
  std::vector<int64_t> axes;
  for (int64_t row = 0; row < out.rows; row++) {
    if (const auto fault = read_axes(axes, args.axes, row, out.ndim); fault.kind) return fault;
    for (size_t k = 0; k < axes.size(); k++) {
      const auto at = static_cast<size_t>(row * out.ndim + axes[k]);
      const auto column = static_cast<int64_t>(k);
      const auto extent = static_cast<double>(out.extents[at]);
      const double begin = args.begin.values ? absolute(args.begin, row, column, extent) : 0.0;
      double end = extent;
      if (args.end.values) {
        end = absolute(args.end, row, column, extent);
      } else if (args.size.values) {
        const double size = value_for(*args.size.values, row, column);
        if (!(size >= 0)) return {WindowFault::negative_size, row, axes[k], size};
        // Added before they are multiplied, to round once.
        end = args.size.relative && args.begin.values && args.begin.relative
                  ? (value_for(*args.begin.values, row, column) + size) * extent
                  : begin + absolute(args.size, row, column, extent);
      }
      constexpr double kMost = 0x1p62;
      if (!(end >= begin && std::abs(begin) < kMost && std::abs(end) < kMost)) {
        return {WindowFault::order, row, axes[k], begin};
      }
      out.anchors[at] = std::llround(begin);
      out.extents[at] = std::llround(end) - out.anchors[at];
    }
  }
  return {};
}

WindowFault fit_windows(Windows& windows, const PerSample<int64_t>& shapes, bool trim) {
  require(shapes, windows.rows, windows.ndim);
  for (int64_t row = 0; row < windows.rows; row++) {
    for (int64_t axis = 0; axis < windows.ndim; axis++) {
      const auto at = static_cast<size_t>(row * windows.ndim + axis);
      const int64_t extent = shapes.row(row)[axis];
      const int64_t begin = windows.anchors[at], end = begin + windows.extents[at];
      if (begin >= 0 && end <= extent) continue;
      if (!trim) return {WindowFault::outside, row, axis, static_cast<double>(begin)};
      windows.anchors[at] = std::clamp<int64_t>(begin, 0, extent);
      windows.extents[at] = std::clamp<int64_t>(end, 0, extent) - windows.anchors[at];
    }
  }
  return {};
}

WindowFault pad_windows(Windows& out, const PerSample<int64_t>& shapes, const PadArgs& args) {
  int64_t rows = std::max(shapes.rows(), args.axes.rows());
  if (args.extents) rows = std::max(rows, args.extents->rows());
  if (args.align) rows = std::max(rows, args.align->rows());
  out = whole_axes(shapes, rows);
  require(args.axes, out.rows, 0);
  require_each(args.extents, out.rows, args.axes.width());
  require_each(args.align, out.rows, args.axes.width());
  std::vector<int64_t> largest(static_cast<size_t>(out.ndim), 0);
  for (int64_t row = 0; row < shapes.rows(); row++) {
    for (int64_t axis = 0; axis < out.ndim; axis++) {
      auto& extent = largest[static_cast<size_t>(axis)];
      extent = std::max(extent, shapes.row(row)[axis]);
    }
  }
  std::vector<int64_t> axes;
  for (int64_t row = 0; row < out.rows; row++) {
    if (const auto fault = read_axes(axes, args.axes, row, out.ndim); fault.kind) return fault;
    for (size_t k = 0; k < axes.size(); k++) {
      auto& extent = out.extents[static_cast<size_t>(row * out.ndim + axes[k])];
      const auto column = static_cast<int64_t>(k);
      const int64_t wanted = args.extents ? value_for(*args.extents, row, column) : 0;
      extent = std::max(extent, wanted > 0 ? wanted : largest[static_cast<size_t>(axes[k])]);
      const int64_t step = args.align ? value_for(*args.align, row, column) : 1;
      if (step <= 0) {
        return {WindowFault::negative_size, row, axes[k], static_cast<double>(step)};
      }
      extent = (extent + step - 1) / step * step;
    }
  }
  return {};
}

}  // namespace daliesque::tensor
