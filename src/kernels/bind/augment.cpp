// SPDX-License-Identifier: Apache-2.0
// Operators of augmentation on images: curves, mixtures, channels and displacements.
#include "image/augment.h"

#include "bind/bind.h"
#include "core/errors.h"
#include "image/channels.h"
#include "image/curves.h"
#include "image/flow.h"
#include "image/mix.h"
#include "image/warp.h"

namespace daliesque::image {

namespace {

Samples bound_mix(const std::vector<const Samples*>& inputs, const ArgArray<float>& weights) {
  Samples out = Samples::empty_like(*inputs[0]);
  for (const Samples* input : inputs) {
    bool fits = input->size() == out.size() && input->dtype() == out.dtype();
    for (int64_t i = 0; fits && i < out.size(); i++) fits = input->volume(i) == out.volume(i);
    if (!fits) throw UsageError("samples that are mixed need equal shapes and types");
  }
  std::vector<Samples> sources;
  std::vector<const Samples*> pointers;
  sources.reserve(inputs.size());
  for (const Samples* input : inputs) {
    sources.push_back(dense(*input));
    pointers.push_back(&sources.back());
  }
  mix(out, pointers, per_sample(weights, out.size(), static_cast<int64_t>(inputs.size())));
  return out;
}

Samples bound_overlay(const Samples& in, const Samples& over, const Samples& mask) {
  Samples out = Samples::empty_like(in);
  for (int64_t i = 0; i < in.size(); i++) {
    const Shape shape = in.shape(i);
    const bool fits = over.volume(i) == in.volume(i) && over.dtype() == in.dtype() &&
                      mask.dtype() == DType::uint8 && mask.volume(i) == shape[0] * shape[1];
    if (!fits) throw UsageError("samples and masks need equal sizes");
  }
  overlay(out, dense(in), dense(over), dense(mask));
  return out;
}

Samples bound_reorder(const Samples& in, const ArgArray<int32_t>& order) {
  Samples out = Samples::empty_like(in);
  const PerSample<int32_t> rows = per_sample(order, in.size());
  for (int64_t i = 0; i < in.size(); i++) {
    const int64_t channels = in.shape(i)[static_cast<size_t>(in.ndim()) - 1];
    bool fits = rows.width() == channels;
    for (int64_t c = 0; fits && c < channels; c++) {
      fits = rows.row(i)[c] >= 0 && rows.row(i)[c] < channels;
    }
    if (!fits) throw UsageError("the order does not fit the channels");
  }
  reorder_channels(out, dense(in), rows);
  return out;
}

/// Refuses arrays that do not hold two coordinates for each of rows and columns.
void check_field(const Samples& field, const Samples& in, bool whole) {
  for (int64_t i = 0; i < in.size(); i++) {
    const Shape shape = field.shape(i), image = in.shape(i);
    const bool fits =
        field.dtype() == DType::float32 && shape.size() == 3 && shape[2] == 2 &&
        (whole ? shape[0] == image[0] && shape[1] == image[1] : shape[0] >= 2 && shape[1] >= 2);
    if (!fits) throw UsageError("a field of displacements does not fit its image");
  }
}

Samples bound_warp_flow(const Samples& in, const Samples& flow, const ArgArray<float>& scale,
                        WarpInterp interp, Border border, std::vector<float> fill) {
  check_field(flow, in, true);
  Samples out = Samples::empty_like(in);
  const Samples field = dense(flow);
  warp(out, dense(in), FlowMapping(field, per_sample(scale, in.size())),
       {interp, border, std::move(fill)});
  return out;
}

Samples bound_warp_grid(const Samples& in, const Samples& nodes, WarpInterp interp, Border border,
                        std::vector<float> fill) {
  check_field(nodes, in, false);
  Samples out = Samples::empty_like(in);
  const Samples grid = dense(nodes);
  warp(out, dense(in), GridMapping(grid, out), {interp, border, std::move(fill)});
  return out;
}

Samples bound_augment(const Samples& in, const ArgArray<int32_t>& kinds,
                      const ArgArray<float>& parameters, const ArgArray<float>& matrices,
                      WarpInterp interp, Border border, std::vector<float> fill) {
  const PerSample<int32_t> rows = per_sample(kinds, in.size());
  const int64_t steps = rows.width();
  bool fits = in.dtype() == DType::uint8 && in.ndim() == 3;
  for (int64_t k = 0; k < rows.rows() * steps; k++) {
    fits &= kinds.data()[k] >= 0 && kinds.data()[k] < kAugmentations;
  }
  if (!fits) throw UsageError("steps are numbered, and images are bytes");
  Samples out = Samples::empty_like(in);
  augment(out, dense(in),
          {steps,
           rows,
           per_sample(parameters, in.size(), 2 * steps),
           per_sample(matrices, in.size(), 6 * steps),
           {interp, border, std::move(fill)}});
  return out;
}

}  // namespace

void bind_augment(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  nb::enum_<Curve>(m, "Curve", "Functions of a value with parameters a and b.")
      .value("invert", Curve::invert)
      .value("solarize", Curve::solarize)
      .value("add_below", Curve::add_below)
      .value("posterize", Curve::posterize)
      .value("gamma", Curve::gamma)
      .value("shift", Curve::shift);
  m.def(
      "apply_curve",
      [](const Samples& in, Curve curve, const ArgArray<float>& parameters, int outer) {
        Samples out = Samples::empty_like(in);
        apply_curve(out, in, curve, per_sample(parameters, in.size()), outer);
        return out;
      },
      "samples"_a, "curve"_a, "parameters"_a, "outer"_a, release(),
      "Rows of `parameters` have 2 values, or 2 for each channel.");
  nb::enum_<Augmentation>(m, "AugmentStep", "What a step of augment() does.")
      .value("none", Augmentation::none)
      .value("move", Augmentation::move)
      .value("brightness", Augmentation::brightness)
      .value("contrast", Augmentation::contrast)
      .value("color", Augmentation::color)
      .value("sharpness", Augmentation::sharpness)
      .value("posterize", Augmentation::posterize)
      .value("solarize", Augmentation::solarize)
      .value("add_below", Augmentation::add_below)
      .value("invert", Augmentation::invert)
      .value("equalize", Augmentation::equalize)
      .value("autocontrast", Augmentation::autocontrast);
  m.def("augment", &bound_augment, "samples"_a, "kinds"_a, "parameters"_a, "matrices"_a, "interp"_a,
        "border"_a, "fill"_a, release(),
        "Rows have an entry for each step: a number, two parameters and six values of a matrix.");
  m.def(
      "autocontrast",
      [](const Samples& in, int outer) {
        Samples out = Samples::empty_like(in);
        autocontrast(out, in, outer);
        return out;
      },
      "samples"_a, "outer"_a, release());
  m.def(
      "mean_contrast",
      [](const Samples& in, const ArgArray<float>& factor) {
        Samples out = Samples::empty_like(in);
        mean_contrast(out, in, per_sample(factor, in.size()));
        return out;
      },
      "samples"_a, "factor"_a, release());
  m.def("mix", &bound_mix, "inputs"_a, "weights"_a, release());
  m.def("overlay", &bound_overlay, "samples"_a, "over"_a, "mask"_a, release());
  m.def("reorder_channels", &bound_reorder, "samples"_a, "order"_a, release());
  m.def("warp_flow", &bound_warp_flow, "samples"_a, "flow"_a, "scale"_a, "interp"_a, "border"_a,
        "fill"_a, release());
  m.def("warp_grid", &bound_warp_grid, "samples"_a, "nodes"_a, "interp"_a, "border"_a, "fill"_a,
        release());
}

}  // namespace daliesque::image
