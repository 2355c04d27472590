// SPDX-License-Identifier: Apache-2.0
// Operators on images and volumes.
#include <nanobind/stl/pair.h>

#include <algorithm>

#include "bind/bind.h"
#include "bind/planning.h"
#include "core/errors.h"
#include "image/color.h"
#include "image/compose.h"
#include "image/crop_mirror_normalize.h"
#include "image/debayer.h"
#include "image/filters.h"
#include "image/flip.h"
#include "image/histogram.h"
#include "image/noise.h"
#include "image/random_crop.h"
#include "image/rank_filters.h"
#include "image/warp.h"

namespace daliesque::image {

namespace {

KernelOutput bound_brightness_contrast(const KernelInput& in, int type, ArgArray<float> brightness,
                                       ArgArray<float> shift, ArgArray<float> contrast,
                                       std::optional<ArgArray<float>> center) {
  require_rows(in.outline().size(), brightness, shift, contrast, center);
  return apply(
      in, Samples::outline_like(in.outline(), static_cast<DType>(type)),
      [brightness = std::move(brightness), shift = std::move(shift), contrast = std::move(contrast),
       center = std::move(center)](Samples& out, const Samples& from, int64_t first) {
        brightness_contrast(out, from,
                            {rows_from(brightness, first), rows_from(shift, first),
                             rows_from(contrast, first), rows_from(center, first)});
      });
}

KernelOutput bound_color_twist(const KernelInput& in, int type, ArgArray<float> hue,
                               ArgArray<float> saturation, ArgArray<float> value,
                               ArgArray<float> brightness, ArgArray<float> contrast) {
  require_rows(in.outline().size(), hue, saturation, value, brightness, contrast);
  return apply(in, Samples::outline_like(in.outline(), static_cast<DType>(type)),
               [hue = std::move(hue), saturation = std::move(saturation), value = std::move(value),
                brightness = std::move(brightness),
                contrast = std::move(contrast)](Samples& out, const Samples& from, int64_t first) {
                 color_twist(
                     out, from,
                     {rows_from(hue, first), rows_from(saturation, first), rows_from(value, first),
                      rows_from(brightness, first), rows_from(contrast, first)});
               });
}

std::span<const int64_t> span_of(const ArgArray<int64_t>& array) {
  return {array.data(), array.size()};
}

/// Refuses patches that do not lie in their source and in the image that they are pasted on.
void check_patches(const Samples& out, const std::vector<const Samples*>& inputs,
                   std::span<const int64_t> offsets, const std::vector<Patch>& patches) {
  bool fits = static_cast<int64_t>(offsets.size()) == out.size() + 1;
  for (int64_t i = 0; fits && i < out.size(); i++) {
    const int64_t first = offsets[static_cast<size_t>(i)],
                  stop = offsets[static_cast<size_t>(i) + 1];
    fits = 0 <= first && first <= stop && stop <= static_cast<int64_t>(patches.size());
    for (int64_t k = first; fits && k < stop; k++) {
      const Patch& p = patches[static_cast<size_t>(k)];
      fits = p.input >= 0 && p.input < static_cast<int64_t>(inputs.size());
      const Samples* in = fits ? inputs[static_cast<size_t>(p.input)] : nullptr;
      fits = in && in->ndim() == 3 && p.sample >= 0 && p.sample < in->size() && p.height >= 0 &&
             p.width >= 0;
      if (!fits || p.height == 0 || p.width == 0) continue;
      const Shape from = in->shape(p.sample), to = out.shape(i);
      fits = from[2] == to[2] && p.from_y >= 0 && p.from_y <= from[0] - p.height && p.from_x >= 0 &&
             p.from_x <= from[1] - p.width && p.to_y >= 0 && p.to_y <= to[0] - p.height &&
             p.to_x >= 0 && p.to_x <= to[1] - p.width;
    }
  }
  if (!fits) throw std::invalid_argument("a patch does not lie in its image");
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
  check_patches(out, pointers, span_of(offsets), list);
  multi_paste(out, pointers, span_of(offsets), list.data());
  return out;
}

KernelOutput bound_erase(const KernelInput& in, ArgArray<int64_t> offsets, ArgArray<int64_t> bounds,
                         ArgArray<float> fill, int channel_axis) {
  require_rows(in.outline().size(), fill);
  return apply(in, Samples::outline_like(in.outline()),
               [offsets = std::move(offsets), bounds = std::move(bounds), fill = std::move(fill),
                channel_axis](Samples& out, const Samples& from, int64_t first) {
                 const auto regions = span_of(offsets).subspan(static_cast<size_t>(first));
                 erase(out, dense(from), {regions, bounds.data()}, rows_from(fill, first),
                       channel_axis);
               });
}

KernelOutput bound_convert_color_space(const KernelInput& in, int target, int source) {
  const auto to = static_cast<ColorSpace>(target), from = static_cast<ColorSpace>(source);
  const Samples& like = in.outline();
  if (like.ndim() < 1) throw std::invalid_argument("pixels have an axis of channels");
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < like.size(); i++) {
    shapes.insert(shapes.end(), like.shape(i).begin(), like.shape(i).end());
    shapes.back() = channels(to);
  }
  return apply(
      in,
      Samples::outline(like.dtype(), like.ndim(), std::move(shapes), like.layout(), like.size()),
      [to, from](Samples& out, const Samples& pixels, int64_t) {
        convert_color_space(out, pixels, to, from);
      });
}

using AxesTuple = std::tuple<int, int, bool>;

FilterAxes filter_axes(const AxesTuple& axes) {
  return {std::get<0>(axes), std::get<1>(axes), std::get<2>(axes)};
}

KernelOutput bound_gaussian_blur(const KernelInput& in, int type, const AxesTuple& axes,
                                 ArgArray<float> sigma, ArgArray<int32_t> window_size) {
  require_rows(in.outline().size(), sigma, window_size);
  return apply(
      in, Samples::outline_like(in.outline(), static_cast<DType>(type)),
      [axes = filter_axes(axes), sigma = std::move(sigma), window_size = std::move(window_size)](
          Samples& out, const Samples& from, int64_t first) {
        gaussian_blur(out, from, axes, rows_from(sigma, first), rows_from(window_size, first));
      });
}

KernelOutput bound_laplacian(const KernelInput& in, int type, const AxesTuple& axes,
                             ArgArray<int32_t> window_size,
                             std::optional<ArgArray<int32_t>> smoothing_size, ArgArray<float> scale,
                             bool normalized) {
  require_rows(in.outline().size(), window_size, smoothing_size, scale);
  return apply(in, Samples::outline_like(in.outline(), static_cast<DType>(type)),
               [axes = filter_axes(axes), window_size = std::move(window_size),
                smoothing_size = std::move(smoothing_size), scale = std::move(scale),
                normalized](Samples& out, const Samples& from, int64_t first) {
                 laplacian(out, from, axes,
                           {rows_from(window_size, first), rows_from(smoothing_size, first),
                            rows_from(scale, first), normalized});
               });
}

KernelOutput bound_salt_and_pepper(const KernelInput& in, const random::PhiloxState& state,
                                   ArgArray<float> probability, ArgArray<float> salt_vs_pepper,
                                   std::optional<ArgArray<float>> salt,
                                   std::optional<ArgArray<float>> pepper, int channel_axis) {
  require_rows(in.outline().size(), probability, salt_vs_pepper, salt, pepper);
  return apply(
      in, Samples::outline_like(in.outline()),
      [state, probability = std::move(probability), salt_vs_pepper = std::move(salt_vs_pepper),
       salt = std::move(salt), pepper = std::move(pepper),
       channel_axis](Samples& out, const Samples& from, int64_t first) {
        salt_and_pepper_noise(out, from, sample_state(state, first),
                              {rows_from(probability, first), rows_from(salt_vs_pepper, first),
                               rows_from(salt, first), rows_from(pepper, first), channel_axis});
      });
}

KernelOutput bound_gaussian_noise(const KernelInput& in, const random::PhiloxState& state,
                                  ArgArray<float> mean, ArgArray<float> stddev) {
  require_rows(in.outline().size(), mean, stddev);
  return apply(in, Samples::outline_like(in.outline()),
               [state, mean = std::move(mean), stddev = std::move(stddev)](
                   Samples& out, const Samples& from, int64_t first) {
                 gaussian_noise(out, from, sample_state(state, first), rows_from(mean, first),
                                rows_from(stddev, first));
               });
}

KernelOutput bound_shot_noise(const KernelInput& in, const random::PhiloxState& state,
                              ArgArray<float> factor) {
  require_rows(in.outline().size(), factor);
  return apply(
      in, Samples::outline_like(in.outline()),
      [state, factor = std::move(factor)](Samples& out, const Samples& from, int64_t first) {
        shot_noise(out, from, sample_state(state, first), rows_from(factor, first));
      });
}

/// Mirrors samples of a layout along the axes that their flags name.
struct FlipKernel {
  std::string layout;
  ArgArray<int32_t> horizontal, vertical, depthwise;

  void operator()(Samples& out, const Samples& in, int64_t first) const {
    flip(out, in, axes_from(first));
  }

  bool keeps(int64_t i) const {
    const std::vector<FlipAxis> axes = axes_from(i);
    return std::all_of(axes.begin(), axes.end(), [](const auto& own) { return !own.flags[0]; });
  }

  std::vector<FlipAxis> axes_from(int64_t first) const {
    std::vector<FlipAxis> axes;
    const auto add = [&](char letter, const ArgArray<int32_t>& flags) {
      const size_t axis = layout.find(letter);
      if (axis == std::string::npos) return;
      axes.push_back({static_cast<int>(axis), rows_from(flags, first)});
    };
    add('W', horizontal);
    add('H', vertical);
    add('D', depthwise);
    return axes;
  }
};

KernelOutput bound_flip(const KernelInput& in, ArgArray<int32_t> horizontal,
                        ArgArray<int32_t> vertical, ArgArray<int32_t> depthwise) {
  const Samples& like = in.outline();
  require_rows(like.size(), horizontal, vertical, depthwise);
  return apply(
      in, Samples::outline_like(like),
      FlipKernel{like.layout(), std::move(horizontal), std::move(vertical), std::move(depthwise)});
}

KernelOutput bound_crop_mirror_normalize(const KernelInput& in, int type, ArgArray<int64_t> anchors,
                                         const ArgArray<int64_t>& shapes,
                                         std::vector<int> permutation, std::string layout,
                                         ArgArray<int32_t> mirror, ArgArray<float> mean,
                                         ArgArray<float> std, float scale, float shift,
                                         ArgArray<float> fill, int width_axis, int channel_axis) {
  const Samples& like = in.outline();
  if (scale == 0) throw UsageError("'scale' must not be 0.");
  if (std::find(std.data(), std.data() + std.size(), 0.0f) != std.data() + std.size()) {
    throw UsageError("'std' must not be 0.");
  }
  require_rows(like.size(), anchors, mirror, mean, std, fill);
  const PerSample<int64_t> rows = per_sample(shapes, like.size());
  std::vector<int64_t> extents;
  for (int64_t i = 0; i < like.size(); i++) {
    for (int axis : permutation) extents.push_back(rows.row(i)[axis]);
  }
  return apply(in,
               Samples::outline(static_cast<DType>(type), like.ndim(), std::move(extents),
                                std::move(layout), like.size()),
               [anchors = std::move(anchors), permutation = std::move(permutation),
                mirror = std::move(mirror), mean = std::move(mean), std = std::move(std), scale,
                shift, fill = std::move(fill), width_axis,
                channel_axis](Samples& out, const Samples& from, int64_t first) {
                 crop_mirror_normalize(
                     out, from,
                     {rows_from(anchors, first), permutation, rows_from(mirror, first),
                      rows_from(mean, first), rows_from(std, first), scale, shift,
                      rows_from(fill, first), width_axis, channel_axis});
               });
}

/// Anchor and shape, (height, width) each, of a random window for each row (height, width) of
/// `sizes`.
std::pair<Samples, Samples> bound_random_crop(const random::PhiloxState& state,
                                              const ArgArray<int64_t>& sizes,
                                              const RandomCropArgs& args) {
  const auto count = static_cast<int64_t>(sizes.ndim() ? sizes.shape(0) : 0);
  const PerSample<int64_t> rows = per_sample(sizes, count, 2);
  const std::vector<int64_t> shapes(static_cast<size_t>(count), 2);
  Samples anchors = Samples::empty(DType::int32, 1, shapes, "", count);
  Samples extents = Samples::empty(DType::int32, 1, shapes, "", count);
  for (int64_t i = 0; i < count; i++) {
    random::Philox generator(random_crop_state(state, i));
    const CropWindow window = random_crop(generator, rows.row(i)[0], rows.row(i)[1], args);
    anchors.data<int32_t>(i)[0] = static_cast<int32_t>(window.y);
    anchors.data<int32_t>(i)[1] = static_cast<int32_t>(window.x);
    extents.data<int32_t>(i)[0] = static_cast<int32_t>(window.height);
    extents.data<int32_t>(i)[1] = static_cast<int32_t>(window.width);
  }
  return {std::move(anchors), std::move(extents)};
}

/// The outline of an output of the given spatial sizes, (1 or N, dims).
Samples outline_of(const Samples& in, int type, const ArgArray<int64_t>& sizes) {
  const PerSample<int64_t> rows = per_sample(sizes, in.size());
  const int dims = in.ndim() - 1;
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < in.size(); i++) {
    shapes.insert(shapes.end(), rows.row(i), rows.row(i) + dims);
    shapes.push_back(in.shape(i)[static_cast<size_t>(dims)]);
  }
  return Samples::outline(static_cast<DType>(type), in.ndim(), std::move(shapes), in.layout(),
                          in.size());
}

Samples output(const Samples& in, int type, const ArgArray<int64_t>& sizes) {
  Samples out = outline_of(in, type, sizes);
  out.materialize();
  return out;
}

WarpOptions options(WarpInterp interp, Border border, std::vector<float> fill) {
  return {interp, border, std::move(fill)};
}

/// Moves pixels by a matrix for each image or volume.
struct AffineKernel {
  ArgArray<float> matrices;
  WarpOptions wanted;
  int dims;

  void operator()(Samples& out, const Samples& in, int64_t first) const {
    warp(out, dense(in), AffineMapping(rows_from(matrices, first), dims), wanted);
  }

  /// Only of images.
  void run_window(Samples& out, const Samples& in, int64_t i, const CropWindow& window) const {
    const int64_t origin[] = {window.y, window.x};
    const PerSample<int64_t> origins{origin, 1, 2};
    WarpOptions own = wanted;
    own.origins = &origins;
    warp(out, dense(in), AffineMapping(rows_from(matrices, i), dims), own);
  }
};

KernelOutput bound_warp_affine(const KernelInput& in, int type, const ArgArray<int64_t>& sizes,
                               ArgArray<float> matrices, WarpInterp interp, Border border,
                               std::vector<float> fill) {
  const Samples& like = in.outline();
  const int dims = like.ndim() - 1;
  per_sample(matrices, like.size(), dims * (dims + 1));
  return apply(in, outline_of(like, type, sizes),
               AffineKernel{std::move(matrices), options(interp, border, std::move(fill)), dims});
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
                               const ArgArray<double>& matrices, WarpInterp interp, Border border,
                               std::vector<float> fill) {
  Samples out = output(in, static_cast<int>(in.dtype()), sizes);
  const WarpOptions wanted = options(interp, border, std::move(fill));
  warp(out, dense(in),
       PerspectiveMapping(per_sample(matrices, in.size(), 9), out, rounding(wanted, in.dtype())),
       wanted);
  return out;
}

Samples bound_warp_map(const Samples& in, const Samples& x, const Samples& y,
                       const ArgArray<int64_t>& sizes, float shift, WarpInterp interp) {
  Samples out = output(in, static_cast<int>(in.dtype()), sizes);
  const Samples dense_x = dense(x), dense_y = dense(y);
  warp(out, dense(in), MapMapping(dense_x, dense_y, shift), options(interp, Border::constant, {}));
  return out;
}

Samples displaced(const Samples& in, const WarpMapping& mapping, const ArgArray<int32_t>& mask,
                  WarpInterp interp, float fill) {
  Samples out = Samples::empty_like(in);
  const PerSample<int32_t> flags = per_sample(mask, in.size());
  WarpOptions wanted = options(interp, Border::constant, {fill});
  wanted.mask = &flags;
  warp(out, in, mapping, wanted);
  return out;
}

void bind_color(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  m.def("brightness_contrast", &bound_brightness_contrast, "samples"_a, "type_id"_a, "brightness"_a,
        "shift"_a, "contrast"_a, "center"_a.none());
  m.def("color_twist", &bound_color_twist, "samples"_a, "type_id"_a, "hue"_a, "saturation"_a,
        "value"_a, "brightness"_a, "contrast"_a);
  m.def("convert_color_space", &bound_convert_color_space, "samples"_a, "target"_a, "source"_a);
  m.def(
      "equalize",
      [](const Samples& in, int outer) {
        Samples out = Samples::empty_like(in);
        equalize(out, in, outer);
        return out;
      },
      "samples"_a, "outer"_a, release());
  m.def(
      "clahe",
      [](const Samples& in, int tiles_x, int tiles_y, float clip_limit, bool luma_only) {
        Samples out = Samples::empty_like(in);
        clahe(out, in, {tiles_x, tiles_y, clip_limit, luma_only});
        return out;
      },
      "samples"_a, "tiles_x"_a, "tiles_y"_a, "clip_limit"_a, "luma_only"_a, release());
  nb::enum_<Demosaic>(m, "Demosaic", "How colors are made of a mosaic.")
      .value("bilinear", Demosaic::bilinear)
      .value("edge_aware", Demosaic::edge_aware)
      .value("variable_gradients", Demosaic::variable_gradients)
      .value("gray", Demosaic::gray);
  m.def(
      "debayer",
      [](Samples& out, const Samples& in, const ArgArray<int32_t>& blue_position,
         Demosaic algorithm) { debayer(out, in, per_sample(blue_position, in.size()), algorithm); },
      "out"_a, "samples"_a, "blue_position"_a, "algorithm"_a, release());
}

void bind_compose(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  m.def("erase", &bound_erase, "samples"_a, "offsets"_a, "bounds"_a, "fill"_a, "channel_axis"_a,
        "`bounds` holds begins and ends of regions, those of sample i from offsets[i] on.");
  m.def(
      "grid_mask",
      [](const Samples& in, const ArgArray<int32_t>& tile, const ArgArray<float>& ratio,
         const ArgArray<float>& angle, const ArgArray<float>& shift_x,
         const ArgArray<float>& shift_y) {
        Samples out = Samples::empty_like(in);
        grid_mask(out, dense(in),
                  {per_sample(tile, in.size()), per_sample(ratio, in.size()),
                   per_sample(angle, in.size()), per_sample(shift_x, in.size()),
                   per_sample(shift_y, in.size())});
        return out;
      },
      "samples"_a, "tile"_a, "ratio"_a, "angle"_a, "shift_x"_a, "shift_y"_a, release());
  m.def("multi_paste", &bound_multi_paste, "inputs"_a, "type_id"_a, "shapes"_a, "offsets"_a,
        "patches"_a, release(),
        "`patches` holds input, sample, anchor, size and target anchor of parts, those of sample i "
        "from offsets[i] on.");
}

void bind_filters(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  nb::enum_<Rank>(m, "Rank", "Which of the values of a window is taken.")
      .value("smallest", Rank::smallest)
      .value("median", Rank::median)
      .value("largest", Rank::largest);
  m.def("gaussian_blur", &bound_gaussian_blur, "samples"_a, "type_id"_a, "axes"_a, "sigma"_a,
        "window_size"_a);
  m.def("laplacian", &bound_laplacian, "samples"_a, "type_id"_a, "axes"_a, "window_size"_a,
        "smoothing_size"_a.none(), "scale"_a, "normalized"_a);
  m.def(
      "filter",
      [](Samples& out, const Samples& in, const AxesTuple& axes, const Samples& kernels,
         const ArgArray<int32_t>& anchor, Border border, const ArgArray<float>& fill) {
        filter(out, in, filter_axes(axes), kernels, per_sample(anchor, in.size()), border,
               per_sample(fill, in.size()));
      },
      "out"_a, "samples"_a, "axes"_a, "kernels"_a, "anchor"_a, "border"_a, "fill"_a, release());
  m.def(
      "rank_filter",
      [](const Samples& in, const AxesTuple& axes, Rank rank, const ArgArray<int32_t>& window,
         const ArgArray<int32_t>& anchor, Border border) {
        Samples out = Samples::empty_like(in);
        rank_filter(out, in, filter_axes(axes),
                    {rank, per_sample(window, in.size()), per_sample(anchor, in.size()), border});
        return out;
      },
      "samples"_a, "axes"_a, "rank"_a, "window"_a, "anchor"_a, "border"_a, release());
}

void bind_noise(nb::module_& m) {
  using namespace nb::literals;

  m.def("gaussian_noise", &bound_gaussian_noise, "samples"_a, "state"_a, "mean"_a, "stddev"_a);
  m.def("salt_and_pepper_noise", &bound_salt_and_pepper, "samples"_a, "state"_a, "probability"_a,
        "salt_vs_pepper"_a, "salt"_a.none(), "pepper"_a.none(), "channel_axis"_a);
  m.def("shot_noise", &bound_shot_noise, "samples"_a, "state"_a, "factor"_a);
}

void bind_crops(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  m.def("flip", &bound_flip, "samples"_a, "horizontal"_a, "vertical"_a, "depthwise"_a,
        "Samples mirrored along the axes W, H and D whose flags are set.");
  m.def("crop_mirror_normalize", &bound_crop_mirror_normalize, "samples"_a, "type_id"_a,
        "anchors"_a, "shapes"_a, "permutation"_a, "layout"_a, "mirror"_a, "mean"_a, "std"_a,
        "scale"_a, "shift"_a, "fill"_a, "width_axis"_a, "channel_axis"_a);
  m.def(
      "random_crop",
      [](const random::PhiloxState& state, const ArgArray<int64_t>& sizes,
         std::pair<float, float> aspect, std::pair<float, float> area, int attempts) {
        return bound_random_crop(state, sizes,
                                 {aspect.first, aspect.second, area.first, area.second, attempts});
      },
      "state"_a, "sizes"_a, "aspect"_a, "area"_a, "attempts"_a, release(),
      "Anchors and shapes of random windows in images of the given (height, width).");
}

void bind_warp(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  nb::enum_<WarpInterp>(m, "WarpInterp", "How pixels between pixels are made.")
      .value("nearest", WarpInterp::nearest)
      .value("linear", WarpInterp::linear)
      .value("cubic", WarpInterp::cubic);
  m.def("warp_affine", &bound_warp_affine, "samples"_a, "type_id"_a, "sizes"_a, "matrices"_a,
        "interp"_a, "border"_a, "fill"_a);
  m.def("warp_perspective", &bound_warp_perspective, "samples"_a, "sizes"_a, "matrices"_a,
        "interp"_a, "border"_a, "fill"_a, release());
  m.def("warp_map", &bound_warp_map, "samples"_a, "x"_a, "y"_a, "sizes"_a, "shift"_a, "interp"_a,
        release(), "Pixels from the positions that two arrays of coordinates name.");
  m.def(
      "sphere",
      [](const Samples& in, const ArgArray<int32_t>& mask, WarpInterp interp, float fill) {
        const Samples source = dense(in);
        return displaced(source, SphereMapping(source), mask, interp, fill);
      },
      "samples"_a, "mask"_a, "interp"_a, "fill"_a, release());
  m.def(
      "jitter",
      [](const Samples& in, const random::PhiloxState& state, const ArgArray<int32_t>& mask,
         int degree) {
        const Samples source = dense(in);
        return displaced(source, JitterMapping(source, state, degree), mask, WarpInterp::nearest,
                         0);
      },
      "samples"_a, "state"_a, "mask"_a, "degree"_a, release());
  m.def(
      "water",
      [](const Samples& in, const ArgArray<int32_t>& mask, WarpInterp interp, float fill,
         std::vector<float> x, std::vector<float> y) {
        return displaced(dense(in), WaterMapping({x[0], x[1], x[2]}, {y[0], y[1], y[2]}), mask,
                         interp, fill);
      },
      "samples"_a, "mask"_a, "interp"_a, "fill"_a, "x"_a, "y"_a, release(),
      "`x` and `y` are waves: amplitude, frequency and phase.");
}

}  // namespace

void bind_image(nb::module_& m) {
  bind_color(m);
  bind_compose(m);
  bind_filters(m);
  bind_noise(m);
  bind_crops(m);
  bind_warp(m);
}

}  // namespace daliesque::image
