// SPDX-License-Identifier: Apache-2.0
// Operators that choose, move and normalise parts of arrays.
#include <nanobind/stl/pair.h>

#include <algorithm>

#include "bind/bind.h"
#include "image/crop_mirror_normalize.h"
#include "image/flip.h"
#include "image/random_crop.h"
#include "tensor/normalize.h"
#include "tensor/slice.h"
#include "tensor/transpose.h"

namespace daliesque {

namespace {

Samples bound_slice(const Samples& in, int type, const ArgArray<int64_t>& anchors,
                    const ArgArray<int64_t>& shapes, int border, const ArgArray<float>& fill,
                    int channel_axis) {
  const PerSample<int64_t> rows = per_sample(shapes);
  std::vector<int64_t> extents;
  for (int64_t i = 0; i < in.size(); i++) {
    extents.insert(extents.end(), rows.row(i), rows.row(i) + in.ndim());
  }
  Samples out = Samples::empty(static_cast<DType>(type), in.ndim(), std::move(extents), in.layout(),
                               in.size());
  slice(out, in, per_sample(anchors), static_cast<Border>(border), per_sample(fill), channel_axis);
  return out;
}

Samples bound_flip(const Samples& in, const ArgArray<int32_t>& horizontal,
                   const ArgArray<int32_t>& vertical, const ArgArray<int32_t>& depthwise) {
  std::vector<FlipAxis> list;
  const auto add = [&](char letter, const ArgArray<int32_t>& flags) {
    const size_t axis = in.layout().find(letter);
    if (axis != std::string::npos) list.push_back({static_cast<int>(axis), per_sample(flags)});
  };
  add('W', horizontal);
  add('H', vertical);
  add('D', depthwise);
  Samples out = Samples::empty_like(in);
  flip(out, in, list);
  return out;
}

Samples bound_transpose(const Samples& in, const std::vector<int>& permutation,
                        std::string layout) {
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < in.size(); i++) {
    for (int axis : permutation) shapes.push_back(in.shape(i)[static_cast<size_t>(axis)]);
  }
  Samples out =
      Samples::empty(in.dtype(), in.ndim(), std::move(shapes), std::move(layout), in.size());
  transpose(out, in, permutation);
  return out;
}

Samples bound_crop_mirror_normalize(const Samples& in, int type, const ArgArray<int64_t>& anchors,
                                    const ArgArray<int64_t>& shapes,
                                    const std::vector<int>& permutation, std::string layout,
                                    const ArgArray<int32_t>& mirror, const ArgArray<float>& mean,
                                    const ArgArray<float>& std, float scale, float shift,
                                    const ArgArray<float>& fill, int width_axis, int channel_axis) {
  if (scale == 0) throw std::invalid_argument("'scale' must not be 0.");
  if (std::find(std.data(), std.data() + std.size(), 0.0f) != std.data() + std.size()) {
    throw std::invalid_argument("'std' must not be 0.");
  }
  const PerSample<int64_t> rows = per_sample(shapes);
  std::vector<int64_t> extents;
  for (int64_t i = 0; i < in.size(); i++) {
    for (int axis : permutation) extents.push_back(rows.row(i)[axis]);
  }
  Samples out = Samples::empty(static_cast<DType>(type), in.ndim(), std::move(extents),
                               std::move(layout), in.size());
  crop_mirror_normalize(
      out, in,
      {per_sample(anchors), permutation, per_sample(mirror), per_sample(mean), per_sample(std),
       scale, shift, per_sample(fill), width_axis, channel_axis});
  return out;
}

Samples bound_normalize(const Samples& in, int type, const std::optional<Samples>& means,
                        const std::optional<Samples>& factors, std::vector<bool> reduced,
                        bool batch, int ddof, float epsilon, float scale, float shift) {
  Samples out = Samples::empty_like(in, static_cast<DType>(type));
  normalize(out, in,
            {{std::move(reduced), batch},
             means ? &*means : nullptr,
             factors ? &*factors : nullptr,
             ddof,
             epsilon,
             scale,
             shift});
  return out;
}

/// Anchor and shape, (height, width) each, of a random window for each row (height, width) of
/// `sizes`.
std::pair<Samples, Samples> bound_random_crop(const PhiloxState& state,
                                              const ArgArray<int64_t>& sizes,
                                              const RandomCropArgs& args) {
  const PerSample<int64_t> rows = per_sample(sizes);
  const auto count = static_cast<int64_t>(sizes.shape(0));
  const std::vector<int64_t> shapes(static_cast<size_t>(count), 2);
  Samples anchors = Samples::empty(DType::int32, 1, shapes, "", count);
  Samples extents = Samples::empty(DType::int32, 1, shapes, "", count);
  for (int64_t i = 0; i < count; i++) {
    Philox generator(random_crop_state(state, i));
    const CropWindow window = random_crop(generator, rows.row(i)[0], rows.row(i)[1], args);
    anchors.data<int32_t>(i)[0] = static_cast<int32_t>(window.y);
    anchors.data<int32_t>(i)[1] = static_cast<int32_t>(window.x);
    extents.data<int32_t>(i)[0] = static_cast<int32_t>(window.height);
    extents.data<int32_t>(i)[1] = static_cast<int32_t>(window.width);
  }
  return {std::move(anchors), std::move(extents)};
}

}  // namespace

void bind_moves(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  m.def("slice", &bound_slice, "samples"_a, "type_id"_a, "anchors"_a, "shapes"_a, "border"_a,
        "fill"_a, "channel_axis"_a, release(), "A window of each sample, which may leave it.");
  m.def("flip", &bound_flip, "samples"_a, "horizontal"_a, "vertical"_a, "depthwise"_a, release(),
        "Samples mirrored along the axes W, H and D whose flags are set.");
  m.def("transpose", &bound_transpose, "samples"_a, "permutation"_a, "layout"_a, release());
  m.def("crop_mirror_normalize", &bound_crop_mirror_normalize, "samples"_a, "type_id"_a,
        "anchors"_a, "shapes"_a, "permutation"_a, "layout"_a, "mirror"_a, "mean"_a, "std"_a,
        "scale"_a, "shift"_a, "fill"_a, "width_axis"_a, "channel_axis"_a, release());
  m.def(
      "random_crop",
      [](const PhiloxState& state, const ArgArray<int64_t>& sizes, std::pair<float, float> aspect,
         std::pair<float, float> area, int attempts) {
        return bound_random_crop(state, sizes,
                                 {aspect.first, aspect.second, area.first, area.second, attempts});
      },
      "state"_a, "sizes"_a, "aspect"_a, "area"_a, "attempts"_a, release(),
      "Anchors and shapes of random windows in images of the given (height, width).");
  m.def("normalize", &bound_normalize, "samples"_a, "type_id"_a, "means"_a.none(),
        "factors"_a.none(), "reduced"_a, "batch"_a, "ddof"_a, "epsilon"_a, "scale"_a, "shift"_a,
        release(), "(samples - mean) * factor + shift; what is None is computed.");
}

}  // namespace daliesque
