// SPDX-License-Identifier: Apache-2.0
#include "../resize.h"

#include <algorithm>
#include <span>

#include "../resize_geometry.h"
#include "bind.h"

namespace daliesque {

namespace {

template <class T>
using RowArray = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

template <class T>
RowArray<T> own_rows(std::vector<T> values, size_t rows, size_t width) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return {kept->data(), {rows, width}, owner};
}

using OptionalFloats = std::optional<ArgArray<float>>;

std::tuple<RowArray<int64_t>, RowArray<float>, RowArray<float>> geometry(
    const ArgArray<int64_t>& shapes, int first_axis, int axis_count, const ArgArray<float>& sizes,
    const OptionalFloats& roi_start, const OptionalFloats& roi_end, bool roi_relative,
    const std::optional<std::vector<float>>& max_size, const OptionalFloats& alignment, int mode,
    int rounding, bool subpixel_scale) {
  const PerSample<int64_t> rows = per_sample(shapes);
  const auto axes = static_cast<size_t>(axis_count);
  SizeRequest request{axis_count, PerSample(rows.row(0) + first_axis, rows.rows(), rows.width()),
                      per_sample(sizes)};
  std::optional<PerSample<float>> start, end, align;
  if (roi_start) request.roi_start = &start.emplace(per_sample(*roi_start));
  if (roi_end) request.roi_end = &end.emplace(per_sample(*roi_end));
  if (alignment) request.alignment = &align.emplace(per_sample(*alignment));
  if (max_size) request.max_size = max_size->data();
  request.roi_relative = roi_relative;
  request.mode = static_cast<ResizeMode>(mode);
  request.rounding = static_cast<SizeRounding>(rounding);
  request.subpixel_scale = subpixel_scale;
  int64_t count = rows.rows();
  const PerSample<float>* const arguments[] = {&request.sizes, request.roi_start, request.roi_end,
                                               request.alignment};
  for (const PerSample<float>* argument : arguments) {
    if (argument && count > 0) count = std::max(count, argument->rows());
  }
  const auto total = static_cast<size_t>(count);
  std::vector<int64_t> out(total * axes);
  std::vector<float> starts(total * axes), ends(total * axes);
  for (size_t i = 0; i < total; i++) {
    const auto row = static_cast<int64_t>(i);
    const bool empty = std::ranges::count(std::span(rows.row(row), shapes.shape(1)), 0) > 0;
    resize_geometry(request, row, empty, &out[i * axes], &starts[i * axes], &ends[i * axes]);
  }
  return {own_rows(std::move(out), total, axes), own_rows(std::move(starts), total, axes),
          own_rows(std::move(ends), total, axes)};
}

Samples bound_resize(const Samples& in, int type, int first_axis, const ArgArray<int64_t>& sizes,
                     const ArgArray<float>& starts, const ArgArray<float>& ends,
                     const ArgArray<int32_t>& min_filters, const ArgArray<int32_t>& mag_filters,
                     bool antialias) {
  const PerSample<int64_t> rows = per_sample(sizes);
  const int axes = static_cast<int>(sizes.shape(1));
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < in.size(); i++) {
    shapes.insert(shapes.end(), in.shape(i).begin(), in.shape(i).end());
    std::copy_n(rows.row(i), axes, shapes.end() - in.ndim() + first_axis);
  }
  Samples out = Samples::empty(static_cast<DType>(type), in.ndim(), std::move(shapes), in.layout(),
                               in.size());
  resize(out, in,
         {first_axis, axes, per_sample(starts), per_sample(ends), per_sample(min_filters),
          per_sample(mag_filters), antialias});
  return out;
}

}  // namespace

void bind_resize(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  m.def("resize_geometry", &geometry, "shapes"_a, "first_axis"_a, "axis_count"_a, "sizes"_a,
        "roi_start"_a.none(), "roi_end"_a.none(), "roi_relative"_a, "max_size"_a.none(),
        "alignment"_a.none(), "mode"_a, "rounding"_a, "subpixel_scale"_a,
        "Output extents, region starts and region ends of the axes to be resized, with a row for "
        "each sample or one for all.");
  m.def("resize", &bound_resize, release(), "samples"_a, "type_id"_a, "first_axis"_a, "sizes"_a,
        "starts"_a, "ends"_a, "min_filters"_a, "mag_filters"_a, "antialias"_a,
        "Resample neighbouring axes from `first_axis` on, as many as `sizes` has columns.");
}

}  // namespace daliesque
