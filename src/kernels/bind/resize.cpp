// SPDX-License-Identifier: Apache-2.0
#include "resize/resize.h"

#include <algorithm>

#include "bind/bind.h"
#include "bind/planning.h"

namespace daliesque::resize {

namespace {

using OptionalFloats = std::optional<ArgArray<float>>;

ResizeGeometry find_geometry(const ArgArray<int64_t>& shapes, int first_axis, int axes,
                             const ArgArray<float>& sizes, const OptionalFloats& roi_start,
                             const OptionalFloats& roi_end, bool roi_relative,
                             const std::optional<std::vector<float>>& max_size,
                             const OptionalFloats& alignment, int mode, int rounding,
                             bool subpixel_scale) {
  std::optional<PerSample<float>> start, end, align;
  SizeRequest request{per_sample(shapes), first_axis, axes, per_sample(sizes)};
  if (roi_start) request.roi_start = &start.emplace(per_sample(*roi_start));
  if (roi_end) request.roi_end = &end.emplace(per_sample(*roi_end));
  if (alignment) request.alignment = &align.emplace(per_sample(*alignment));
  int64_t rows = request.shapes.rows();
  const PerSample<float>* const given[] = {&request.sizes, request.roi_start, request.roi_end,
                                           request.alignment};
  for (const auto* values : given) rows = std::max(rows, values ? values->rows() : 0);
  bool fits = request.shapes.rows() <= 1 || request.shapes.rows() == rows;
  for (const auto* values : given) {
    if (values) fits &= (values->rows() == 1 || values->rows() == rows) && values->width() == axes;
  }
  if (!fits && request.shapes.rows() > 0) {
    throw std::invalid_argument("rows of sizes or regions do not fit the shapes");
  }
  if (first_axis < 0 || axes < 1 ||
      (request.shapes.rows() > 0 && request.shapes.width() < first_axis + axes)) {
    throw std::invalid_argument("there are no such axes to resize");
  }
  if (max_size && max_size->size() < static_cast<size_t>(axes)) {
    throw std::invalid_argument("'max_size' needs a value for each axis");
  }
  if (max_size) request.max_size = max_size->data();
  request.roi_relative = roi_relative;
  request.mode = static_cast<ResizeMode>(mode);
  request.rounding = static_cast<SizeRounding>(rounding);
  request.subpixel_scale = subpixel_scale;
  return resize_geometry(request);
}

ResizeGeometry given_geometry(const ArgArray<int64_t>& sizes, const ArgArray<float>& starts,
                              const ArgArray<float>& ends) {
  const PerSample<int64_t> rows = per_sample(sizes);
  const PerSample<float> first = per_sample(starts), last = per_sample(ends);
  ResizeGeometry geometry{static_cast<int>(rows.width()), {}, {}, {}};
  const int64_t count = std::max({rows.rows(), first.rows(), last.rows()});
  for (const int64_t given : {rows.rows(), first.rows(), last.rows()}) {
    if (given != 1 && given != count) throw std::invalid_argument("rows of a geometry differ");
  }
  for (const int64_t width : {first.width(), last.width()}) {
    if (width != rows.width()) throw std::invalid_argument("axes of a geometry differ");
  }
  for (int64_t i = 0; i < count; i++) {
    geometry.sizes.insert(geometry.sizes.end(), rows.row(i), rows.row(i) + geometry.axes);
    geometry.starts.insert(geometry.starts.end(), first.row(i), first.row(i) + geometry.axes);
    geometry.ends.insert(geometry.ends.end(), last.row(i), last.row(i) + geometry.axes);
  }
  return geometry;
}

/// The values as an array that keeps the geometry alive.
template <class T>
auto as_array(std::vector<T> ResizeGeometry::* member) {
  return [member](const ResizeGeometry& geometry) {
    const std::vector<T>& values = geometry.*member;
    return nb::ndarray<nb::numpy, const T, nb::ndim<2>>(
        values.data(), {static_cast<size_t>(geometry.rows()), static_cast<size_t>(geometry.axes)},
        nb::find(geometry));
  };
}

KernelOutput bound_resize(const KernelInput& in, int type, int first_axis, ResizeGeometry geometry,
                          ArgArray<int32_t> min_filters, ArgArray<int32_t> mag_filters,
                          bool antialias) {
  const Samples& like = in.outline();
  if (geometry.rows() != 1 && geometry.rows() < like.size()) {
    throw std::invalid_argument("a geometry has too few rows for the samples");
  }
  require_rows(like.size(), min_filters, mag_filters);
  const PerSample<int64_t> sizes(geometry.sizes.data(), geometry.rows(), geometry.axes);
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < like.size(); i++) {
    shapes.insert(shapes.end(), like.shape(i).begin(), like.shape(i).end());
    std::copy_n(sizes.row(i), geometry.axes, shapes.end() - like.ndim() + first_axis);
  }
  return apply(in,
               Samples::outline(static_cast<DType>(type), like.ndim(), std::move(shapes),
                                like.layout(), like.size()),
               [first_axis, geometry = std::move(geometry), min_filters = std::move(min_filters),
                mag_filters = std::move(mag_filters),
                antialias](Samples& out, const Samples& from, int64_t first) {
                 resize(out, from,
                        {first_axis, geometry, first, rows_from(min_filters, first),
                         rows_from(mag_filters, first), antialias});
               });
}

template <class T>
nb::ndarray<nb::numpy, T> own_array(std::vector<T> values, std::initializer_list<size_t> shape) {
  auto* memory = new std::vector<T>(std::move(values));
  memory->reserve(1);  // an array needs an address, even without elements
  nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return {memory->data(), shape, owner};
}

/// First inputs and weights of the outputs of an axis, of samples that are equally large there.
using Taps = std::tuple<nb::ndarray<nb::numpy, int64_t>, nb::ndarray<nb::numpy, float>>;

Taps to_taps(const std::vector<ResamplePlan>& plans, size_t axis) {
  size_t taps = 1, outputs = 0;
  for (const ResamplePlan& plan : plans) {
    taps = std::max(taps, static_cast<size_t>(plan.axes[axis]->taps));
    outputs = plan.axes[axis]->start.size();
  }
  std::vector<int64_t> starts;
  std::vector<float> weights(plans.size() * outputs * taps);
  auto to = weights.begin();
  for (const ResamplePlan& plan : plans) {
    const AxisTable& table = *plan.axes[axis];
    for (size_t i = 0; i < outputs; i++, to += static_cast<ptrdiff_t>(taps)) {
      starts.push_back(table.first + table.start[i]);
      std::copy_n(&table.weights[i * static_cast<size_t>(table.taps)], table.taps, to);
    }
  }
  return {own_array(std::move(starts), {plans.size(), outputs}),
          own_array(std::move(weights), {plans.size(), outputs, taps})};
}

std::vector<Taps> resample_taps(const ArgArray<int64_t>& extents, const ResizeGeometry& geometry,
                                const ArgArray<int32_t>& min_filters,
                                const ArgArray<int32_t>& mag_filters, bool antialias) {
  const PerSample<int64_t> in_sizes = per_sample(extents);
  const PerSample<int32_t> shrinking = per_sample(min_filters), growing = per_sample(mag_filters);
  const auto axes = static_cast<size_t>(geometry.axes);
  std::vector<ResamplePlan> plans;
  for (int64_t i = 0; i < in_sizes.rows(); i++) {
    const size_t row = geometry.rows() == 1 ? 0 : static_cast<size_t>(i) * axes;
    // A single axis is resampled as a flat image.
    std::vector<AxisRequest> requests(axes == 1 ? 1 : 0, {.in_size = 1, .out_size = 1, .end = 1});
    for (size_t d = 0; d < axes; d++) {
      requests.push_back({.in_size = in_sizes.row(i)[d],
                          .out_size = geometry.sizes[row + d],
                          .start = geometry.starts[row + d],
                          .end = geometry.ends[row + d]});
    }
    for (AxisRequest& request : requests) {
      request.min_filter = static_cast<Interp>(shrinking[i]);
      request.mag_filter = static_cast<Interp>(growing[i]);
      request.antialias = antialias;
    }
    plans.push_back(make_resample_plan(requests));
    if (axes == 1) plans.back().axes.erase(plans.back().axes.begin());
  }
  std::vector<Taps> result;
  for (size_t axis = 0; axis < axes; axis++) result.push_back(to_taps(plans, axis));
  return result;
}

}  // namespace

void bind_resize(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<ResizeGeometry>(m, "ResizeGeometry",
                             "Where axes are sampled: a row for each sample or one for all.")
      .def_static("find", &find_geometry, "shapes"_a, "first_axis"_a, "axes"_a, "sizes"_a,
                  "roi_start"_a.none(), "roi_end"_a.none(), "roi_relative"_a, "max_size"_a.none(),
                  "alignment"_a.none(), "mode"_a, "rounding"_a, "subpixel_scale"_a,
                  "Complete and round sizes, and find the regions that they are for.")
      .def_static("of", &given_geometry, "sizes"_a, "starts"_a, "ends"_a)
      .def_prop_ro("sizes", as_array(&ResizeGeometry::sizes))
      .def_prop_ro("starts", as_array(&ResizeGeometry::starts))
      .def_prop_ro("ends", as_array(&ResizeGeometry::ends))
      .def("find_unusable", &ResizeGeometry::find_unusable,
           "The first row that holds too large a size or no finite number; -1 if none.");
  m.def("resize", &bound_resize, "samples"_a, "type_id"_a, "first_axis"_a, "geometry"_a,
        "min_filters"_a, "mag_filters"_a, "antialias"_a,
        "Resample the axes of the geometry, from `first_axis` on.");
  m.def("resample_taps", &resample_taps, "extents"_a, "geometry"_a, "min_filters"_a,
        "mag_filters"_a, "antialias"_a,
        "For each axis, the first inputs and the weights of the outputs of each sample.");
}

}  // namespace daliesque::resize
