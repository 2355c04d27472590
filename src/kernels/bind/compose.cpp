// SPDX-License-Identifier: Apache-2.0
// Operators that put things over images.
#include "image/compose.h"

#include "bind/bind.h"
#include "jpeg/distortion.h"

namespace daliesque {

namespace {

Samples dense(const Samples& samples) { return samples.contiguous() ? samples : clone(samples); }

std::span<const int64_t> span_of(const ArgArray<int64_t>& array) {
  return {array.data(), array.size()};
}

Samples bound_multi_paste(const std::vector<const Samples*>& inputs, int type,
                          const ArgArray<int64_t>& shapes, const ArgArray<int64_t>& offsets,
                          const ArgArray<int64_t>& patches) {
  std::vector<Samples> sources;
  std::vector<const Samples*> pointers;
  sources.reserve(inputs.size());
  for (const Samples* input : inputs) {
    sources.push_back(dense(*input));
    pointers.push_back(&sources.back());
  }
  Samples out =
      Samples::empty(static_cast<DType>(type), 3, {shapes.data(), shapes.data() + shapes.size()},
                     inputs[0]->layout(), static_cast<int64_t>(shapes.shape(0)));
  std::vector<Patch> list(patches.size() / 8);
  for (size_t k = 0; k < list.size(); k++) {
    const int64_t* p = patches.data() + 8 * k;
    list[k] = {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]};
  }
  multi_paste(out, pointers, span_of(offsets), list.data());
  return out;
}

}  // namespace

void bind_compose(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  m.def(
      "erase",
      [](const Samples& in, const ArgArray<int64_t>& offsets, const ArgArray<int64_t>& bounds,
         const ArgArray<float>& fill, int channel_axis) {
        Samples out = Samples::empty_like(in);
        erase(out, dense(in), {span_of(offsets), bounds.data()}, per_sample(fill), channel_axis);
        return out;
      },
      "samples"_a, "offsets"_a, "bounds"_a, "fill"_a, "channel_axis"_a, release(),
      "`bounds` holds begins and ends of regions, those of sample i from offsets[i] on.");
  m.def(
      "grid_mask",
      [](const Samples& in, const ArgArray<int32_t>& tile, const ArgArray<float>& ratio,
         const ArgArray<float>& angle, const ArgArray<float>& shift_x,
         const ArgArray<float>& shift_y) {
        Samples out = Samples::empty_like(in);
        grid_mask(out, dense(in),
                  {per_sample(tile), per_sample(ratio), per_sample(angle), per_sample(shift_x),
                   per_sample(shift_y)});
        return out;
      },
      "samples"_a, "tile"_a, "ratio"_a, "angle"_a, "shift_x"_a, "shift_y"_a, release());
  m.def("multi_paste", &bound_multi_paste, "inputs"_a, "type_id"_a, "shapes"_a, "offsets"_a,
        "patches"_a, release(),
        "`patches` holds input, sample, place, size and target place of parts, those of sample i "
        "from offsets[i] on.");
  m.def(
      "jpeg_distortion",
      [](const Samples& in, const ArgArray<int32_t>& quality) {
        Samples out = Samples::empty_like(in);
        jpeg_distortion(out, dense(in), per_sample(quality));
        return out;
      },
      "samples"_a, "quality"_a, release());
}

}  // namespace daliesque
