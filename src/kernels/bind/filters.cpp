// SPDX-License-Identifier: Apache-2.0
#include "image/filters.h"

#include "bind/bind.h"
#include "image/rank_filters.h"

namespace daliesque {

namespace {

using AxesTuple = std::tuple<int, int, bool>;

FilterAxes filter_axes(const AxesTuple& axes) {
  return {std::get<0>(axes), std::get<1>(axes), std::get<2>(axes)};
}

Samples bound_gaussian_blur(const Samples& in, int type, const AxesTuple& axes,
                            const ArgArray<float>& sigma, const ArgArray<int32_t>& window_size) {
  Samples out = Samples::empty_like(in, static_cast<DType>(type));
  gaussian_blur(out, in, filter_axes(axes), per_sample(sigma), per_sample(window_size));
  return out;
}

Samples bound_laplacian(const Samples& in, int type, const AxesTuple& axes,
                        const ArgArray<int32_t>& window_size,
                        const std::optional<ArgArray<int32_t>>& smoothing_size,
                        const ArgArray<float>& scale, bool normalized) {
  Samples out = Samples::empty_like(in, static_cast<DType>(type));
  std::optional<PerSample<int32_t>> smoothing;
  if (smoothing_size) smoothing = per_sample(*smoothing_size);
  laplacian(out, in, filter_axes(axes),
            {per_sample(window_size), smoothing, per_sample(scale), normalized});
  return out;
}

}  // namespace

void bind_filters(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  m.def("gaussian_blur", &bound_gaussian_blur, "samples"_a, "type_id"_a, "axes"_a, "sigma"_a,
        "window_size"_a, release());
  m.def("laplacian", &bound_laplacian, "samples"_a, "type_id"_a, "axes"_a, "window_size"_a,
        "smoothing_size"_a.none(), "scale"_a, "normalized"_a, release());
  m.def(
      "filter",
      [](Samples& out, const Samples& in, const AxesTuple& axes, const Samples& kernels,
         const ArgArray<int32_t>& anchor, int border, const ArgArray<float>& fill) {
        filter(out, in, filter_axes(axes), kernels, per_sample(anchor), static_cast<Border>(border),
               per_sample(fill));
      },
      "out"_a, "samples"_a, "axes"_a, "kernels"_a, "anchor"_a, "border"_a, "fill"_a, release());
  m.def(
      "rank_filter",
      [](const Samples& in, const AxesTuple& axes, int rank, const ArgArray<int32_t>& window,
         const ArgArray<int32_t>& anchor, int border) {
        Samples out = Samples::empty_like(in);
        rank_filter(out, in, filter_axes(axes),
                    {static_cast<Rank>(rank), per_sample(window), per_sample(anchor),
                     static_cast<Border>(border)});
        return out;
      },
      "samples"_a, "axes"_a, "rank"_a, "window"_a, "anchor"_a, "border"_a, release());
}

}  // namespace daliesque
