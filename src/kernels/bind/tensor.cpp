// SPDX-License-Identifier: Apache-2.0
// Operators on arrays of any number of axes.
#include "bind/bind.h"
#include "bind/planning.h"
#include "bind/shape_array.h"
#include "core/convert.h"
#include "tensor/arithmetic.h"
#include "tensor/fill.h"
#include "tensor/join.h"
#include "tensor/lookup.h"
#include "tensor/normalize.h"
#include "tensor/reduce.h"
#include "tensor/slice.h"
#include "tensor/transpose.h"
#include "tensor/windows.h"

namespace daliesque::tensor {

namespace {

Samples arithmetic_by_name(const std::string& name, const nb::list& operands) {
  std::vector<const Samples*> pointers;
  for (nb::handle operand : operands) pointers.push_back(nb::cast<const Samples*>(operand));
  ReleaseGil release;
  return arithmetic(arithmetic_op(name), pointers);
}

Samples expression_by_names(const std::vector<std::string>& names,
                            std::vector<std::vector<size_t>> operands, const nb::list& inputs) {
  std::vector<const Samples*> pointers;
  for (nb::handle input : inputs) pointers.push_back(nb::cast<const Samples*>(input));
  if (names.size() != operands.size()) throw nb::value_error("each operation has operands");
  std::vector<Operation> operations;
  for (size_t i = 0; i < names.size(); i++) {
    operations.push_back({arithmetic_op(names[i]), std::move(operands[i])});
  }
  ReleaseGil release;
  return arithmetic_expression(operations, pointers);
}

int type_by_name(const std::string& name, const std::vector<int>& type_ids) {
  std::vector<DType> types;
  for (int id : type_ids) types.push_back(static_cast<DType>(id));
  return static_cast<int>(arithmetic_type(arithmetic_op(name), types));
}

Samples bound_concatenate(const nb::list& parts, int axis, std::string layout) {
  std::vector<const Samples*> pointers;
  for (nb::handle part : parts) pointers.push_back(nb::cast<const Samples*>(part));
  ReleaseGil release;
  return concatenate(pointers, axis, std::move(layout));
}

Samples bound_reduce(const Samples& in, Reduction kind, int type, std::vector<bool> reduced,
                     bool keep_dims, std::string layout, const Samples* means, int64_t ddof) {
  const ReduceAxes axes{std::move(reduced), keep_dims};
  Samples out = reduced_like(in, static_cast<DType>(type), axes, std::move(layout));
  reduce(out, in, kind, axes, means, ddof);
  return out;
}

/// A value for each axis of each sample.
PerSample<int64_t> per_axis(const ArgArray<int64_t>& array, const Samples& in) {
  return in.ndim() ? per_sample(array, in.size(), in.ndim()) : per_sample(array);
}

/// Cuts windows out of samples.
struct SliceKernel {
  ArgArray<int64_t> anchors;
  Border border;
  ArgArray<float> fill;
  int channel_axis;

  void operator()(Samples& out, const Samples& in, int64_t first) const {
    slice(out, in, rows_from(anchors, first), border, rows_from(fill, first), channel_axis);
  }

  /// The window of an image (HWC), if it keeps the type and all channels and is within the image.
  std::optional<CropWindow> window(int64_t i, const Samples& in, const Samples& out) const {
    if (in.ndim() != 3 || in.dtype() != out.dtype()) return std::nullopt;
    const int64_t* anchor = rows_from(anchors, i).row(0);
    const Shape from = in.shape(i), to = out.shape(i);
    for (size_t axis = 0; axis < 3; axis++) {
      if (anchor[axis] < 0 || anchor[axis] > from[axis] - to[axis]) return std::nullopt;
    }
    if (to[2] != from[2]) return std::nullopt;
    return CropWindow{anchor[0], anchor[1], to[0], to[1]};
  }
};

KernelOutput bound_slice(const KernelInput& in, int type, ArgArray<int64_t> anchors,
                         const ArgArray<int64_t>& shapes, Border border, ArgArray<float> fill,
                         int channel_axis) {
  const Samples& like = in.outline();
  const PerSample<int64_t> rows = per_axis(shapes, like);
  per_axis(anchors, like);
  require_rows(like.size(), fill);
  std::vector<int64_t> extents;
  for (int64_t i = 0; i < like.size(); i++) {
    extents.insert(extents.end(), rows.row(i), rows.row(i) + like.ndim());
  }
  return apply(in,
               Samples::outline(static_cast<DType>(type), like.ndim(), std::move(extents),
                                like.layout(), like.size()),
               SliceKernel{std::move(anchors), border, std::move(fill), channel_axis});
}

KernelOutput bound_transpose(const KernelInput& in, std::vector<int> permutation,
                             std::string layout) {
  const Samples& like = in.outline();
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < like.size(); i++) {
    for (int axis : permutation) shapes.push_back(like.shape(i)[static_cast<size_t>(axis)]);
  }
  return apply(in,
               Samples::outline(like.dtype(), like.ndim(), std::move(shapes), std::move(layout),
                                like.size()),
               [permutation = std::move(permutation)](Samples& out, const Samples& from, int64_t) {
                 transpose(out, from, permutation);
               });
}

KernelOutput bound_look_up(const KernelInput& in, const Samples& table, const Samples& otherwise) {
  return apply(
      in, Samples::outline_like(in.outline(), table.dtype()),
      [table = Samples(table), otherwise = Samples(otherwise)](
          Samples& out, const Samples& from, int64_t) { look_up(out, from, table, otherwise); });
}

KernelOutput bound_one_hot(const KernelInput& in, int type, const ShapeArray& shapes,
                           std::string layout, int axis, const Samples& values) {
  const int64_t count = in.outline().size();
  return apply(in,
               Samples::outline(static_cast<DType>(type), static_cast<int>(shapes.shape(1)),
                                repeat_rows(shapes, count), std::move(layout), count),
               [axis, values = Samples(values)](Samples& out, const Samples& from, int64_t) {
                 one_hot(out, from, axis, values);
               });
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

Samples bound_deviation_factors(const Samples& deviations, double epsilon, float scale) {
  if (deviations.dtype() != DType::float32 || !deviations.contiguous()) {
    throw std::invalid_argument("deviations must be contiguous and of type float32");
  }
  return deviation_factors(deviations, epsilon, scale);
}

using WindowTable = nb::ndarray<nb::numpy, int64_t, nb::ndim<2>>;
/// Anchors, extents and, if something is wrong, what.
using WindowResult = std::tuple<WindowTable, WindowTable, std::optional<WindowFault>>;

WindowTable to_table(std::vector<int64_t> values, const Windows& windows) {
  auto* memory = new std::vector<int64_t>(std::move(values));
  memory->reserve(1);  // an array needs an address, even without elements
  nb::capsule owner(memory,
                    [](void* data) noexcept { delete static_cast<std::vector<int64_t>*>(data); });
  return {memory->data(),
          {static_cast<size_t>(windows.rows), static_cast<size_t>(windows.ndim)},
          owner};
}

WindowResult to_result(Windows windows, const WindowFault& fault, const ArgArray<int64_t>& shapes) {
  if (shapes.ndim() != 2) throw std::invalid_argument("shapes need a row for each sample");
  windows.ndim = static_cast<int64_t>(shapes.shape(1));  // known even without rows
  WindowTable anchors = to_table(std::move(windows.anchors), windows);
  WindowTable extents = to_table(std::move(windows.extents), windows);
  if (fault.kind == WindowFault::none) return {anchors, extents, std::nullopt};
  return {anchors, extents, fault};
}

WindowResult bound_crop_windows(const ArgArray<int64_t>& shapes, const std::string& layout,
                                const std::optional<ArgArray<float>>& crop,
                                const ArgArray<float>& depth, const ArgArray<float>& height,
                                const ArgArray<float>& width, const ArgArray<float>& x,
                                const ArgArray<float>& y, const ArgArray<float>& z, bool truncate) {
  Windows windows;
  const auto fault = crop_windows(windows, per_sample(shapes), layout,
                                  {per_sample(crop),
                                   {per_sample(depth), per_sample(height), per_sample(width)},
                                   {per_sample(z), per_sample(y), per_sample(x)},
                                   truncate});
  return to_result(std::move(windows), fault, shapes);
}

WindowResult bound_slice_windows(const ArgArray<int64_t>& shapes, const ArgArray<int32_t>& axes,
                                 const std::optional<ArgArray<double>>& begin,
                                 const std::optional<ArgArray<double>>& end,
                                 const std::optional<ArgArray<double>>& size,
                                 std::tuple<bool, bool, bool> relative, bool single_precision) {
  Windows windows;
  const auto fault = slice_windows(windows, per_sample(shapes),
                                   {per_sample(axes),
                                    {per_sample(begin), std::get<0>(relative)},
                                    {per_sample(end), std::get<1>(relative)},
                                    {per_sample(size), std::get<2>(relative)},
                                    single_precision});
  return to_result(std::move(windows), fault, shapes);
}

WindowResult bound_fit_windows(const ArgArray<int64_t>& anchors, const ArgArray<int64_t>& extents,
                               const ArgArray<int64_t>& shapes, bool trim) {
  if (anchors.ndim() != 2 || anchors.size() != extents.size()) {
    throw std::invalid_argument("windows need as many anchors as extents");
  }
  Windows windows{static_cast<int64_t>(anchors.shape(0)),
                  static_cast<int64_t>(anchors.shape(1)),
                  {anchors.data(), anchors.data() + anchors.size()},
                  {extents.data(), extents.data() + extents.size()}};
  const auto fault = fit_windows(windows, per_sample(shapes), trim);
  return to_result(std::move(windows), fault, shapes);
}

WindowResult bound_pad_windows(const ArgArray<int64_t>& shapes, const ArgArray<int32_t>& axes,
                               const std::optional<ArgArray<int32_t>>& extents,
                               const std::optional<ArgArray<int32_t>>& align) {
  Windows windows;
  const auto fault = pad_windows(windows, per_sample(shapes),
                                 {per_sample(axes), per_sample(extents), per_sample(align)});
  return to_result(std::move(windows), fault, shapes);
}

void bind_arithmetic(nb::module_& m) {
  using namespace nb::literals;

  m.def("arithmetic", &arithmetic_by_name,
        nb::sig("def arithmetic(name: str, operands: list[Samples]) -> Samples"), "name"_a,
        "operands"_a, "Apply an element-wise operation to one to three Samples, broadcasting.");
  m.def(
      "arithmetic_expression", &expression_by_names,
      nb::sig("def arithmetic_expression(names: list[str], operands: list[list[int]], "
              "inputs: list[Samples]) -> Samples"),
      "names"_a, "operands"_a, "inputs"_a,
      "Apply operations to contiguous inputs, by their numbers, and to what the operations before "
      "have made, whose numbers follow; returns what the last one makes.");
  m.def("arithmetic_type", &type_by_name, "name"_a, "type_ids"_a,
        "The type id of the result of an element-wise operation.");
}

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
  m.def("crop_windows", &bound_crop_windows, "shapes"_a, "layout"_a, "crop"_a.none(), "depth"_a,
        "height"_a, "width"_a, "x"_a, "y"_a, "z"_a, "truncate"_a);
  m.def("slice_windows", &bound_slice_windows, "shapes"_a, "axes"_a, "begin"_a.none(),
        "end"_a.none(), "size"_a.none(), "relative"_a, "single_precision"_a);
  m.def("fit_windows", &bound_fit_windows, "anchors"_a, "extents"_a, "shapes"_a, "trim"_a);
  m.def("pad_windows", &bound_pad_windows, "shapes"_a, "axes"_a, "extents"_a.none(),
        "align"_a.none());
}

void bind_tensors(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  m.def("concatenate", &bound_concatenate, "parts"_a, "axis"_a, "layout"_a,
        nb::sig("def concatenate(parts: list[Samples], axis: int, layout: str) -> Samples"),
        "Samples joined along an axis.");
  m.def("fill", &fill, release(), "out"_a, "values"_a, "Broadcast values to the output.");
  m.def("one_hot", &bound_one_hot, "input"_a, "type_id"_a, "shapes"_a, "layout"_a, "axis"_a,
        "values"_a,
        "`axis` is the new one of `shapes`; `values` are that of the class and others.");
  nb::enum_<Reduction>(m, "Reduction", "What is computed along axes.")
      .value("sum", Reduction::sum)
      .value("mean", Reduction::mean)
      .value("mean_square", Reduction::mean_square)
      .value("rms", Reduction::rms)
      .value("variance", Reduction::variance)
      .value("std_dev", Reduction::std_dev)
      .value("min", Reduction::min)
      .value("max", Reduction::max);
  m.def("reduce", &bound_reduce, release(), "samples"_a, "kind"_a, "type_id"_a, "reduced"_a,
        "keep_dims"_a, "layout"_a, "means"_a.none(), "ddof"_a);
  m.def("slice", &bound_slice, "samples"_a, "type_id"_a, "anchors"_a, "shapes"_a, "border"_a,
        "fill"_a, "channel_axis"_a, "A window of each sample, which may leave it.");
  m.def("transpose", &bound_transpose, "samples"_a, "permutation"_a, "layout"_a);
  m.def("normalize", &bound_normalize, "samples"_a, "type_id"_a, "means"_a.none(),
        "factors"_a.none(), "reduced"_a, "batch"_a, "ddof"_a, "epsilon"_a, "scale"_a, "shift"_a,
        release(), "(samples - mean) * factor + shift; what is None is computed.");
  m.def("deviation_factors", &bound_deviation_factors, "deviations"_a, "epsilon"_a, "scale"_a,
        "What normalize multiplies with, for given deviations.");
  m.def("look_up", &bound_look_up, "samples"_a, "table"_a, "otherwise"_a,
        "The entries of a table at the indices that the samples hold.");
}

}  // namespace

void bind_tensor(nb::module_& m) {
  bind_arithmetic(m);
  bind_windows(m);
  bind_tensors(m);
}

}  // namespace daliesque::tensor
