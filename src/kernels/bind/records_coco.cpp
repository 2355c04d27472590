// SPDX-License-Identifier: Apache-2.0
// Annotations in the format of COCO.
#include <nanobind/stl/variant.h>

#include "bind/bind.h"
#include "records/coco.h"
#include "records/coco_masks.h"
#include "records/json_reader.h"

namespace daliesque::records {

namespace {

/// Hands a vector over to NumPy, as rows of `width`.
template <class T>
nb::object to_numpy(std::vector<T>& values, size_t width = 1) {
  auto* memory = new std::vector<T>(std::move(values));
  memory->reserve(1);  // an array needs an address, even without elements
  nb::capsule owner(memory, [](void* data) noexcept { delete static_cast<std::vector<T>*>(data); });
  const size_t rows = memory->size() / width;
  if (width == 1) return nb::cast(nb::ndarray<nb::numpy, T>(memory->data(), {rows}, owner));
  return nb::cast(nb::ndarray<nb::numpy, T>(memory->data(), {rows, width}, owner));
}

nb::list to_list(const std::vector<std::string>& names) {
  nb::list out;
  for (const std::string& name : names) out.append(nb::bytes(name.data(), name.size()));
  return out;
}

nb::typed<nb::dict, nb::str, nb::any> to_dict(CocoAnnotations& data) {
  nb::typed<nb::dict, nb::str, nb::any> out;
  out["names"] = to_list(data.names);
  out["unlisted"] = to_list(data.unlisted);
  out["category_names"] = to_list(data.category_names);
  out["category_ids"] = to_numpy(data.category_ids);
  out["ids"] = to_numpy(data.ids);
  out["widths"] = to_numpy(data.widths);
  out["heights"] = to_numpy(data.heights);
  out["counts"] = to_numpy(data.counts);
  out["boxes"] = to_numpy(data.boxes, 4);
  out["labels"] = to_numpy(data.labels);
  out["polygon_counts"] = to_numpy(data.polygon_counts);
  out["polygons"] = to_numpy(data.polygons, 3);
  out["vertex_counts"] = to_numpy(data.vertex_counts);
  out["vertices"] = to_numpy(data.vertices, 2);
  out["mask_counts"] = to_numpy(data.mask_counts);
  out["mask_boxes"] = to_numpy(data.mask_boxes);
  out["run_counts"] = to_numpy(data.run_counts);
  out["runs"] = to_numpy(data.runs);
  out["faults"] = nb::cast(std::move(data.faults));
  return out;
}

/// Annotations, or why there are none.
std::variant<nb::typed<nb::dict, nb::str, nb::any>, JsonFault, CocoMissing> parse(
    const nb::bytes& text, float size_threshold, bool include_crowds, bool ltrb, bool ratio,
    bool remap_classes, bool skip_empty, bool polygons, bool runs,
    std::optional<std::vector<std::string>> images) {
  const CocoOptions options{size_threshold, include_crowds, ltrb,
                            ratio,          remap_classes,  skip_empty,
                            polygons,       runs,           std::move(images)};
  CocoAnnotations data;
  std::optional<JsonFault> fault;
  std::optional<CocoMissing> missing;
  {
    const ReleaseGil release;
    try {
      data = parse_coco({text.c_str(), text.size()}, options);
    } catch (const JsonFault& found) {
      fault = found;
    } catch (const CocoMissing& found) {
      missing = found;
    }
  }
  if (fault) return *fault;
  if (missing) return *missing;
  return to_dict(data);
}

template <class T>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

/// Rows [first, last) of an array of rows.
template <class T>
std::span<const T> rows(const Array<T>& array, int64_t first, int64_t last, int64_t width) {
  const auto total = static_cast<int64_t>(array.size());
  if (first < 0 || last < first || last * width > total) throw std::out_of_range("no such row");
  return {array.data() + first * width, static_cast<size_t>((last - first) * width)};
}

/// Where the outlines and runs of an image lie in the arrays: for each kind its begin and end.
struct MaskRows {
  int64_t boxes, polygons, polygons_end, vertices, masks, masks_end;
};

Samples paint(const Array<int64_t>& sizes, const Array<int64_t>& mask_rows,
              const Array<int32_t>& labels, const Array<int32_t>& polygons,
              const Array<float>& vertices, const Array<int32_t>& mask_boxes,
              const Array<int64_t>& run_ends, const Array<uint32_t>& runs, bool relative) {
  const auto count = static_cast<int64_t>(sizes.size() / 2);
  std::vector<int64_t> shapes;
  std::vector<std::vector<CocoMask>> masks(static_cast<size_t>(count));
  const auto label_of = [&](const MaskRows& at, int64_t box) {
    return rows(labels, at.boxes + box, at.boxes + box + 1, 1)[0];
  };
  for (int64_t i = 0; i < count; i++) {
    shapes.insert(shapes.end(), {sizes.data()[2 * i], sizes.data()[2 * i + 1], 1});
    const auto row = rows(mask_rows, i, i + 1, 6);
    const MaskRows at{row[0], row[1], row[2], row[3], row[4], row[5]};
    auto& own = masks[static_cast<size_t>(i)];
    for (int64_t k = at.polygons; k < at.polygons_end; k++) {
      const auto polygon = rows(polygons, k, k + 1, 3);
      const auto outline = rows(vertices, at.vertices + polygon[1], at.vertices + polygon[2], 2);
      own.push_back({label_of(at, polygon[0]), outline, {}});
    }
    for (int64_t k = at.masks; k < at.masks_end; k++) {
      const int64_t begin = k == 0 ? 0 : rows(run_ends, k - 1, k, 1)[0];
      const auto lengths = rows(runs, begin, rows(run_ends, k, k + 1, 1)[0], 1);
      own.push_back({label_of(at, rows(mask_boxes, k, k + 1, 1)[0]), {}, lengths});
    }
  }
  const ReleaseGil release;
  Samples out = Samples::empty(DType::int32, 3, std::move(shapes), "HWC", count);
  paint_masks(out, masks, relative);
  return out;
}

}  // namespace

void bind_coco(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<JsonFault> json_fault(m, "JsonFault", "Where a text is not the JSON expected.");
  nb::enum_<JsonFault::Kind>(json_fault, "Kind")
      .value("early_end", JsonFault::early_end)
      .value("syntax", JsonFault::syntax)
      .value("no_object", JsonFault::no_object)
      .value("no_array", JsonFault::no_array)
      .value("no_string", JsonFault::no_string)
      .value("no_number", JsonFault::no_number)
      .value("no_integer", JsonFault::no_integer);
  json_fault.def_ro("kind", &JsonFault::kind).def_ro("position", &JsonFault::position);
  nb::class_<CocoMissing>(m, "CocoMissing", "An entry of an annotation file lacks a key.")
      .def_ro("list", &CocoMissing::list)
      .def_ro("entry", &CocoMissing::entry)
      .def_ro("key", &CocoMissing::key);
  nb::class_<CocoFault> fault(m, "CocoFault", "Something that makes one image useless.");
  nb::enum_<CocoFault::Kind>(fault, "Kind")
      .value("box_outside", CocoFault::box_outside)
      .value("odd_polygon", CocoFault::odd_polygon)
      .value("bad_runs", CocoFault::bad_runs)
      .value("no_size", CocoFault::no_size)
      .value("unknown_class", CocoFault::unknown_class);
  fault.def_ro("image", &CocoFault::image)
      .def_ro("kind", &CocoFault::kind)
      .def_ro("annotation", &CocoFault::annotation)
      .def_ro("value", &CocoFault::value);
  m.def("parse_coco", &parse, "text"_a, "size_threshold"_a, "include_crowds"_a, "ltrb"_a, "ratio"_a,
        "remap_classes"_a, "skip_empty"_a, "polygons"_a, "runs"_a, "images"_a.none(),
        "Annotations, or why there are none.");
  m.def("paint_coco_masks", &paint, "sizes"_a, "mask_rows"_a, "labels"_a, "polygons"_a,
        "vertices"_a, "mask_boxes"_a, "run_ends"_a, "runs"_a, "relative"_a,
        "Pictures of the labels of segmentations.");
}

}  // namespace daliesque::records
