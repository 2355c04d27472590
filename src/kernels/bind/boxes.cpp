// SPDX-License-Identifier: Apache-2.0
// Operators on boxes, masks and points.
#include "bind/bind.h"
#include "boxes/encoder.h"
#include "boxes/masks.h"
#include "boxes/points.h"
#include "boxes/polygons.h"
#include "boxes/random_bbox_crop.h"

namespace daliesque::boxes {

namespace {

template <class T>
const PerSample<T>* pointer(const std::optional<PerSample<T>>& rows) {
  return rows ? &*rows : nullptr;
}

using OptionalInts = std::optional<ArgArray<int32_t>>;
using OptionalLongs = std::optional<ArgArray<int64_t>>;
using FourSamples = std::tuple<Samples, Samples, Samples, Samples, int64_t, int64_t>;

FourSamples bound_bbox_crop(const Samples& boxes, const random::PhiloxState& state,
                            std::vector<int> columns, bool extents, std::vector<float> thresholds,
                            std::vector<float> aspect_ratio, float min_scale, float max_scale,
                            int64_t attempts, int64_t total_attempts, float prune_threshold,
                            bool allow_no_crop, bool all_boxes, bool overlap,
                            const OptionalLongs& input_shape, const OptionalLongs& crop_shape) {
  const int ndim = static_cast<int>(columns.size() / 2);
  const BoxFormat format{ndim, std::move(columns), extents};
  const BBoxCropOptions options{
      std::move(thresholds), std::move(aspect_ratio), min_scale,     max_scale, attempts,
      total_attempts,        prune_threshold,         allow_no_crop, all_boxes, overlap};
  const auto inputs = per_sample(input_shape, boxes.size(), ndim);
  const auto crops = per_sample(crop_shape, boxes.size(), ndim);
  BBoxCrops out = random_bbox_crop(boxes, state, format, options, pointer(inputs), pointer(crops));
  return {out.anchors, out.shapes, out.boxes, out.indices, out.unsuited, out.exhausted};
}

void bound_object_bbox(Samples& starts, Samples& ends, Samples& classes,
                       const random::PhiloxState& state, const Samples& masks,
                       const ArgArray<float>& foreground_prob, const OptionalInts& background,
                       const Samples* class_list, const Samples* weights,
                       const OptionalInts& threshold, int64_t k_largest, bool ignore_class) {
  const int64_t count = masks.size();
  const auto backgrounds = per_sample(background, count);
  const auto thresholds = per_sample(threshold, count, masks.ndim());
  if (class_list) require_samples(*class_list, count);
  if (weights) require_samples(*weights, count);
  const ObjectChoice choice{per_sample(foreground_prob, count),
                            pointer(backgrounds),
                            class_list,
                            weights,
                            pointer(thresholds),
                            k_largest,
                            ignore_class};
  random_object_bbox(starts, ends, classes, state, masks, choice);
}

void bound_mask_pixel(Samples& out, const random::PhiloxState& state, const Samples& masks,
                      const ArgArray<int32_t>& foreground, const OptionalInts& value,
                      const ArgArray<float>& threshold) {
  const auto values = per_sample(value, masks.size());
  random_mask_pixel(out, state, masks, per_sample(foreground, masks.size()), pointer(values),
                    per_sample(threshold, masks.size()));
}

void bound_encode_boxes(Samples& out_boxes, Samples& out_labels, const Samples& boxes,
                        const Samples& labels, const Samples& anchors, float criteria, bool offset,
                        float scale, const ArgArray<float>& means, const ArgArray<float>& stds) {
  if (means.size() != 4 || stds.size() != 4) {
    throw std::invalid_argument("boxes need four means and four deviations");
  }
  encode_boxes(out_boxes, out_labels, boxes, labels, anchors,
               {criteria, offset, scale, means.data(), stds.data()});
}

std::tuple<Samples, Samples, int64_t, std::string> bound_select_polygons(const Samples& masks,
                                                                         const Samples& polygons,
                                                                         const Samples& vertices,
                                                                         bool renumber) {
  SelectedPolygons out = select_polygons(masks, polygons, vertices, renumber);
  return {out.polygons, out.vertices, out.failed, std::move(out.reason)};
}

void bound_transform_points(Samples& out, const Samples& in, const ArgArray<float>& matrix,
                            const ArgArray<float>& translation) {
  transform_points(out, in, per_sample(matrix, in.size()), per_sample(translation, in.size()));
}

}  // namespace

void bind_boxes(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  m.def("random_bbox_crop", &bound_bbox_crop, release(), "boxes"_a, "state"_a, "columns"_a,
        "extents"_a, "thresholds"_a, "aspect_ratio"_a, "min_scale"_a, "max_scale"_a, "attempts"_a,
        "total_attempts"_a, "prune_threshold"_a, "allow_no_crop"_a, "all_boxes"_a, "overlap"_a,
        "input_shape"_a.none(), "crop_shape"_a.none(),
        "Anchors, shapes, boxes and their indices; the first sample for which no window suits, and "
        "the first whose search was given up (or -1).");
  m.def("random_object_bbox", &bound_object_bbox, release(), "starts"_a, "ends"_a, "classes"_a,
        "state"_a, "masks"_a, "foreground_prob"_a, "background"_a.none(), "class_list"_a.none(),
        "weights"_a.none(), "threshold"_a.none(), "k_largest"_a, "ignore_class"_a);
  m.def("random_mask_pixel", &bound_mask_pixel, release(), "out"_a, "state"_a, "masks"_a,
        "foreground"_a, "value"_a.none(), "threshold"_a);
  m.def("encode_boxes", &bound_encode_boxes, release(), "out_boxes"_a, "out_labels"_a, "boxes"_a,
        "labels"_a, "anchors"_a, "criteria"_a, "offset"_a, "scale"_a, "means"_a, "stds"_a);
  m.def("select_polygons", &bound_select_polygons, release(), "masks"_a, "polygons"_a, "vertices"_a,
        "renumber"_a,
        "Polygons and vertices; the first sample for which that fails (or -1), and why.");
  m.def("transform_points", &bound_transform_points, release(), "out"_a, "input"_a, "matrix"_a,
        "translation"_a);
}

}  // namespace daliesque::boxes
