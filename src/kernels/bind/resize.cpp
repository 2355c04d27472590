// SPDX-License-Identifier: Apache-2.0
#include "../resize.h"

#include "../resize_geometry.h"
#include "bind.h"

namespace daliesque {

namespace {

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<2>> own_rows(std::vector<T> values, size_t rows, size_t width) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return {kept->data(), {rows, width}, owner};
}

using OptionalFloats = std::optional<ArgArray<float>>;

nb::tuple geometry(const ArgArray<int64_t>& extents, const std::vector<bool>& empty,
                   const ArgArray<float>& sizes, const OptionalFloats& roi_start,
                   const OptionalFloats& roi_end, bool roi_relative,
                   const std::optional<std::vector<float>>& max_size,
                   const OptionalFloats& alignment, int mode, int rounding, bool subpixel_scale) {
  const size_t count = empty.size();
  const auto axes = static_cast<size_t>(extents.shape(1));
  SizeRequest request{static_cast<int>(axes), per_sample(extents), per_sample(sizes)};
  std::optional<PerSample<float>> start, end, align;
  if (roi_start) request.roi_start = &start.emplace(per_sample(*roi_start));
  if (roi_end) request.roi_end = &end.emplace(per_sample(*roi_end));
  if (alignment) request.alignment = &align.emplace(per_sample(*alignment));
  if (max_size) request.max_size = max_size->data();
  request.roi_relative = roi_relative;
  request.mode = static_cast<ResizeMode>(mode);
  request.rounding = static_cast<SizeRounding>(rounding);
  request.subpixel_scale = subpixel_scale;
  std::vector<int64_t> out(count * axes);
  std::vector<float> starts(count * axes), ends(count * axes);
  int64_t impossible = -1;
  for (size_t i = 0; i < count && impossible < 0; i++) {
    const size_t at = i * axes;
    if (!resize_geometry(request, static_cast<int64_t>(i), empty[i], &out[at], &starts[at],
                         &ends[at])) {
      impossible = static_cast<int64_t>(i);
    }
  }
  return nb::make_tuple(own_rows(std::move(out), count, axes),
                        own_rows(std::move(starts), count, axes),
                        own_rows(std::move(ends), count, axes), impossible);
}

}  // namespace

void bind_resize(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  m.def("resize_geometry", &geometry, "extents"_a, "empty"_a, "sizes"_a, "roi_start"_a.none(),
        "roi_end"_a.none(), "roi_relative"_a, "max_size"_a.none(), "alignment"_a.none(), "mode"_a,
        "rounding"_a, "subpixel_scale"_a,
        "Output extents, region starts and region ends per sample and axis, and the first sample "
        "that cannot be resized because it is empty (or -1).");
  m.def(
      "resize",
      [](Samples& out, const Samples& in, int first_axis, int axis_count,
         const ArgArray<float>& starts, const ArgArray<float>& ends,
         const ArgArray<int32_t>& min_filters, const ArgArray<int32_t>& mag_filters,
         bool antialias) {
        resize(out, in,
               {first_axis, axis_count, per_sample(starts), per_sample(ends),
                per_sample(min_filters), per_sample(mag_filters), antialias});
      },
      release(), "out"_a, "input"_a, "first_axis"_a, "axis_count"_a, "starts"_a, "ends"_a,
      "min_filters"_a, "mag_filters"_a, "antialias"_a,
      "Resample `axis_count` axes from `first_axis` on to the extents of `out`.");
}

}  // namespace daliesque
