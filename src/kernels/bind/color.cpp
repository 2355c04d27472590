// SPDX-License-Identifier: Apache-2.0
#include "image/color.h"

#include "bind/bind.h"

namespace daliesque {

namespace {

Samples bound_brightness_contrast(const Samples& in, int type, const ArgArray<float>& brightness,
                                  const ArgArray<float>& shift, const ArgArray<float>& contrast,
                                  const std::optional<ArgArray<float>>& center) {
  Samples out = Samples::empty_like(in, static_cast<DType>(type));
  std::optional<PerSample<float>> centers;
  if (center) centers = per_sample(*center);
  brightness_contrast(out, in,
                      {per_sample(brightness), per_sample(shift), per_sample(contrast), centers});
  return out;
}

Samples bound_color_twist(const Samples& in, int type, const ArgArray<float>& hue,
                          const ArgArray<float>& saturation, const ArgArray<float>& value,
                          const ArgArray<float>& brightness, const ArgArray<float>& contrast) {
  Samples out = Samples::empty_like(in, static_cast<DType>(type));
  color_twist(out, in,
              {per_sample(hue), per_sample(saturation), per_sample(value), per_sample(brightness),
               per_sample(contrast)});
  return out;
}

}  // namespace

void bind_color(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  m.def("brightness_contrast", &bound_brightness_contrast, "samples"_a, "type_id"_a, "brightness"_a,
        "shift"_a, "contrast"_a, "center"_a.none(), release());
  m.def("color_twist", &bound_color_twist, "samples"_a, "type_id"_a, "hue"_a, "saturation"_a,
        "value"_a, "brightness"_a, "contrast"_a, release());
  m.def(
      "convert_color_space",
      [](Samples& out, const Samples& in, int to, int from) {
        convert_color_space(out, in, static_cast<ColorSpace>(to), static_cast<ColorSpace>(from));
      },
      "out"_a, "samples"_a, "target"_a, "source"_a, release());
}

}  // namespace daliesque
