// SPDX-License-Identifier: Apache-2.0
// Operators whose output pixels come from other places of the input.
#include "image/warp.h"

#include "bind/bind.h"

namespace daliesque {

namespace {

Samples dense(const Samples& samples) { return samples.contiguous() ? samples : clone(samples); }

/// An output of the given spatial sizes, (1 or N, dims).
Samples output(const Samples& in, int type, const ArgArray<int64_t>& sizes) {
  const PerSample<int64_t> rows = per_sample(sizes);
  const int dims = in.ndim() - 1;
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < in.size(); i++) {
    shapes.insert(shapes.end(), rows.row(i), rows.row(i) + dims);
    shapes.push_back(in.shape(i)[static_cast<size_t>(dims)]);
  }
  return Samples::empty(static_cast<DType>(type), in.ndim(), std::move(shapes), in.layout(),
                        in.size());
}

WarpOptions options(int interp, int border, std::vector<float> fill) {
  return {static_cast<WarpInterp>(interp), static_cast<WarpBorder>(border), std::move(fill)};
}

Samples bound_warp_affine(const Samples& in, int type, const ArgArray<int64_t>& sizes,
                          const ArgArray<float>& matrices, int interp, int border,
                          std::vector<float> fill) {
  Samples out = output(in, type, sizes);
  warp(out, dense(in), AffineMapping(per_sample(matrices), in.ndim() - 1),
       options(interp, border, std::move(fill)));
  return out;
}

/// As OpenCV, and so the reference, rounds: to whole pixels for nearest neighbors (in float32 for
/// the types with a vector loop), to 5 fraction bits for linear interpolation of int16 only.
PerspectiveRounding rounding(const WarpOptions& wanted, DType dtype) {
  const bool is_int16 = dtype == DType::int16;
  if (wanted.interp == WarpInterp::nearest) {
    return is_int16 ? PerspectiveRounding::pixels : PerspectiveRounding::float_pixels;
  }
  const bool is_coarse = wanted.interp == WarpInterp::linear && is_int16;
  return is_coarse ? PerspectiveRounding::fractions : PerspectiveRounding::none;
}

Samples bound_warp_perspective(const Samples& in, const ArgArray<int64_t>& sizes,
                               const ArgArray<double>& matrices, int interp, int border,
                               std::vector<float> fill) {
  Samples out = output(in, static_cast<int>(in.dtype()), sizes);
  const WarpOptions wanted = options(interp, border, std::move(fill));
  warp(out, dense(in), PerspectiveMapping(per_sample(matrices), out, rounding(wanted, in.dtype())),
       wanted);
  return out;
}

Samples bound_warp_map(const Samples& in, const Samples& x, const Samples& y,
                       const ArgArray<int64_t>& sizes, float shift, int interp) {
  Samples out = output(in, static_cast<int>(in.dtype()), sizes);
  const Samples dense_x = dense(x), dense_y = dense(y);
  warp(out, dense(in), MapMapping(dense_x, dense_y, shift), options(interp, 0, {}));
  return out;
}

Samples displaced(const Samples& in, const WarpMapping& mapping, const ArgArray<int32_t>& mask,
                  int interp, float fill) {
  Samples out = Samples::empty_like(in);
  const PerSample<int32_t> flags = per_sample(mask);
  WarpOptions wanted = options(interp, 0, {fill});
  wanted.mask = &flags;
  warp(out, in, mapping, wanted);
  return out;
}

}  // namespace

void bind_warp(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  m.def("warp_affine", &bound_warp_affine, "samples"_a, "type_id"_a, "sizes"_a, "matrices"_a,
        "interp"_a, "border"_a, "fill"_a, release());
  m.def("warp_perspective", &bound_warp_perspective, "samples"_a, "sizes"_a, "matrices"_a,
        "interp"_a, "border"_a, "fill"_a, release());
  m.def("warp_map", &bound_warp_map, "samples"_a, "x"_a, "y"_a, "sizes"_a, "shift"_a, "interp"_a,
        release(), "Pixels from the places that two arrays of coordinates name.");
  m.def(
      "sphere",
      [](const Samples& in, const ArgArray<int32_t>& mask, int interp, float fill) {
        const Samples source = dense(in);
        return displaced(source, SphereMapping(source), mask, interp, fill);
      },
      "samples"_a, "mask"_a, "interp"_a, "fill"_a, release());
  m.def(
      "jitter",
      [](const Samples& in, const PhiloxState& state, const ArgArray<int32_t>& mask, int degree) {
        const Samples source = dense(in);
        return displaced(source, JitterMapping(source, state, degree), mask, 0, 0);
      },
      "samples"_a, "state"_a, "mask"_a, "degree"_a, release());
  m.def(
      "water",
      [](const Samples& in, const ArgArray<int32_t>& mask, int interp, float fill,
         std::vector<float> x, std::vector<float> y) {
        return displaced(dense(in), WaterMapping({x[0], x[1], x[2]}, {y[0], y[1], y[2]}), mask,
                         interp, fill);
      },
      "samples"_a, "mask"_a, "interp"_a, "fill"_a, "x"_a, "y"_a, release(),
      "`x` and `y` are waves: amplitude, frequency and phase.");
}

}  // namespace daliesque
