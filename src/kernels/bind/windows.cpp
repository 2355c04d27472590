// SPDX-License-Identifier: Apache-2.0
#include "tensor/windows.h"

#include "bind/bind.h"

namespace daliesque {

namespace {

using Table = nb::ndarray<nb::numpy, int64_t, nb::ndim<2>>;
/// Anchors, extents and, if something is wrong, what.
using Result = std::tuple<Table, Table, std::optional<WindowFault>>;

Table to_table(std::vector<int64_t> values, const Windows& windows) {
  auto* memory = new std::vector<int64_t>(std::move(values));
  memory->reserve(1);  // an array needs an address, even without elements
  nb::capsule owner(memory,
                    [](void* data) noexcept { delete static_cast<std::vector<int64_t>*>(data); });
  return {memory->data(),
          {static_cast<size_t>(windows.rows), static_cast<size_t>(windows.ndim)},
          owner};
}

Result to_result(Windows windows, const WindowFault& fault, const ArgArray<int64_t>& shapes) {
  windows.ndim = static_cast<int64_t>(shapes.shape(1));  // known even without rows
  Table anchors = to_table(std::move(windows.anchors), windows);
  Table extents = to_table(std::move(windows.extents), windows);
  if (fault.kind == WindowFault::none) return {anchors, extents, std::nullopt};
  return {anchors, extents, fault};
}

template <class T>
std::optional<PerSample<T>> optional_rows(const std::optional<ArgArray<T>>& array) {
  if (!array) return std::nullopt;
  return per_sample(*array);
}

Result bound_crop(const ArgArray<int64_t>& shapes, const std::string& layout,
                  const std::optional<ArgArray<float>>& crop, const ArgArray<float>& depth,
                  const ArgArray<float>& height, const ArgArray<float>& width,
                  const ArgArray<float>& x, const ArgArray<float>& y, const ArgArray<float>& z,
                  bool truncate) {
  Windows windows;
  const auto fault = crop_windows(windows, per_sample(shapes), layout,
                                  {optional_rows(crop),
                                   {per_sample(depth), per_sample(height), per_sample(width)},
                                   {per_sample(z), per_sample(y), per_sample(x)},
                                   truncate});
  return to_result(std::move(windows), fault, shapes);
}

Result bound_slice(const ArgArray<int64_t>& shapes, const ArgArray<int32_t>& axes,
                   const std::optional<ArgArray<double>>& begin,
                   const std::optional<ArgArray<double>>& end,
                   const std::optional<ArgArray<double>>& size,
                   std::tuple<bool, bool, bool> relative, bool single_precision) {
  Windows windows;
  const auto fault = slice_windows(windows, per_sample(shapes),
                                   {per_sample(axes),
                                    {optional_rows(begin), std::get<0>(relative)},
                                    {optional_rows(end), std::get<1>(relative)},
                                    {optional_rows(size), std::get<2>(relative)},
                                    single_precision});
  return to_result(std::move(windows), fault, shapes);
}

Result bound_fit(const ArgArray<int64_t>& anchors, const ArgArray<int64_t>& extents,
                 const ArgArray<int64_t>& shapes, bool trim) {
  Windows windows{static_cast<int64_t>(anchors.shape(0)),
                  static_cast<int64_t>(anchors.shape(1)),
                  {anchors.data(), anchors.data() + anchors.size()},
                  {extents.data(), extents.data() + extents.size()}};
  const auto fault = fit_windows(windows, per_sample(shapes), trim);
  return to_result(std::move(windows), fault, shapes);
}

Result bound_pad(const ArgArray<int64_t>& shapes, const ArgArray<int32_t>& axes,
                 const std::optional<ArgArray<int32_t>>& extents,
                 const std::optional<ArgArray<int32_t>>& align) {
  Windows windows;
  const auto fault = pad_windows(windows, per_sample(shapes),
                                 {per_sample(axes), optional_rows(extents), optional_rows(align)});
  return to_result(std::move(windows), fault, shapes);
}

}  // namespace

void bind_windows(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<WindowFault> fault(m, "WindowFault", "Why windows cannot be made.");
  nb::enum_<WindowFault::Kind>(fault, "Kind")
      .value("none", WindowFault::none)
      .value("two_sizes", WindowFault::two_sizes)
      .value("negative_size", WindowFault::negative_size)
      .value("position", WindowFault::position)
      .value("order", WindowFault::order)
      .value("outside", WindowFault::outside)
      .value("axis_range", WindowFault::axis_range)
      .value("axis_twice", WindowFault::axis_twice);
  fault.def_ro("kind", &WindowFault::kind)
      .def_ro("sample", &WindowFault::sample)
      .def_ro("axis", &WindowFault::axis)
      .def_ro("value", &WindowFault::value);

  m.def("crop_windows", &bound_crop, "shapes"_a, "layout"_a, "crop"_a.none(), "depth"_a, "height"_a,
        "width"_a, "x"_a, "y"_a, "z"_a, "truncate"_a);
  m.def("slice_windows", &bound_slice, "shapes"_a, "axes"_a, "begin"_a.none(), "end"_a.none(),
        "size"_a.none(), "relative"_a, "single_precision"_a);
  m.def("fit_windows", &bound_fit, "anchors"_a, "extents"_a, "shapes"_a, "trim"_a);
  m.def("pad_windows", &bound_pad, "shapes"_a, "axes"_a, "extents"_a.none(), "align"_a.none());
}

}  // namespace daliesque
