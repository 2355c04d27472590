// SPDX-License-Identifier: Apache-2.0
// Threads, memory, processor features and the Samples class.
#include <algorithm>
#include <numeric>

#include "bind/bind.h"
#include "bind/planning.h"
#include "bind/pool_handle.h"
#include "bind/shape_array.h"
#include "core/border.h"
#include "core/byte_order.h"
#include "core/convert.h"
#include "core/errors.h"
#include "core/gather.h"
#include "core/memory_limit.h"
#include "core/parallel.h"
#include "core/ragged.h"
#include "core/simd.h"

namespace daliesque {

namespace {

void check_index(const Samples& samples, int64_t i) {
  if (i < 0 || i >= samples.size()) throw std::out_of_range("there is no such sample");
}

nb::tuple to_tuple(Shape shape) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (size_t axis = 0; axis < shape.size(); axis++) {
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(axis), PyLong_FromLongLong(shape[axis]));
  }
  return nb::borrow<nb::tuple>(tuple);
}

nb::list shapes_of(const Samples& samples) {
  nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(samples.size())));
  for (int64_t i = 0; i < samples.size(); i++) {
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                    to_tuple(samples.shape(i)).release().ptr());
  }
  return nb::borrow<nb::list>(list);
}

std::vector<int64_t> repeat_shape(const std::vector<int64_t>& shape, int64_t count) {
  std::vector<int64_t> out;
  out.reserve(shape.size() * static_cast<size_t>(count));
  for (int64_t i = 0; i < count; i++) out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

nb::ndarray<nb::numpy, int64_t, nb::ndim<2>> shape_array(const Samples& samples) {
  const auto rows = static_cast<size_t>(samples.size()), ndim = static_cast<size_t>(samples.ndim());
  auto* copy = new int64_t[std::max<size_t>(1, rows * ndim)];
  for (int64_t i = 0; i < samples.size(); i++) {
    std::ranges::copy(samples.shape(i), copy + static_cast<size_t>(i) * ndim);
  }
  nb::capsule owner(copy, [](void* data) noexcept { delete[] static_cast<int64_t*>(data); });
  return {copy, {rows, ndim}, owner};
}

Samples flat_view(const Samples& samples) {
  if (!samples.packed()) throw std::invalid_argument("the samples do not lie together");
  if (samples.size() == 0) {
    return Samples::wrap(samples.dtype(), {0}, {}, nullptr, nullptr, false, false);
  }
  return Samples::wrap(samples.dtype(), {samples.total_volume()}, {}, samples.data(0),
                       samples.owner(0), samples.readonly(), samples.external());
}

Samples padded_copy(const Samples& in) {
  std::vector<int64_t> largest(static_cast<size_t>(in.ndim()), 0);
  for (int64_t i = 0; i < in.size(); i++) {
    const Shape shape = in.shape(i);
    for (size_t axis = 0; axis < largest.size(); axis++) {
      largest[axis] = std::max(largest[axis], shape[axis]);
    }
  }
  Samples out = Samples::empty(in.dtype(), in.ndim(), repeat_shape(largest, in.size()), in.layout(),
                               in.size());
  copy_padded(out, in);
  return out;
}

Samples sliced(const Samples& in, const ShapeArray& ranges, const std::vector<bool>& dropped,
               const std::string& layout) {
  // Each row of `ranges` holds start, extent, step of one axis, for one sample or for all.
  const size_t rows = ranges.shape(0), ndim = dropped.size();
  std::vector<Samples::Range> list(static_cast<size_t>(in.size()) * ndim);
  if (rows != ndim && rows != list.size()) throw std::invalid_argument("ranges do not fit");
  for (size_t k = 0; k < list.size(); k++) {
    const int64_t* row = ranges.data() + (rows == ndim ? k % ndim : k) * 3;
    list[k] = {row[0], row[1], row[2]};
  }
  return in.slice(list, dropped, layout);
}

KernelOutput cast_to(const KernelInput& in, int type_id) {
  const auto type = static_cast<DType>(type_id);
  check_cast(type, in.outline().dtype());
  return apply(in, Samples::outline_like(in.outline(), type),
               [](Samples& out, const Samples& from, int64_t) { cast(out, dense(from)); });
}

using Numbers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Samples read_big_endian(int type_id,
                        const nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig>& shapes,
                        const Samples& in, const Numbers& offsets) {
  const auto count = static_cast<int64_t>(shapes.shape(0));
  if (in.size() != count || offsets.size() != shapes.shape(0)) {
    throw std::invalid_argument("shapes, offsets and samples must have equal length");
  }
  std::vector<int64_t> extents(shapes.data(), shapes.data() + shapes.size());
  const ReleaseGil release;
  Samples out = Samples::empty(static_cast<DType>(type_id), static_cast<int>(shapes.shape(1)),
                               std::move(extents), "", count);
  copy_big_endian(out, in, {offsets.data(), offsets.size()});
  return out;
}

Samples picked(const nb::typed<nb::list, Samples>& parts, const Numbers& which, const Numbers& at,
               bool copied) {
  if (which.size() != at.size()) throw std::invalid_argument("which and at must have equal length");
  std::vector<const Samples*> pointers;
  for (nb::handle part : parts) pointers.push_back(nb::cast<const Samples*>(part));
  const ReleaseGil release;
  const auto choose = copied ? gather : Samples::pick;
  return choose(pointers, {which.data(), which.size()}, {at.data(), at.size()});
}

Samples selected_between(const Samples& samples, int64_t begin, int64_t end) {
  if (begin < 0 || end < begin || end > samples.size()) throw std::out_of_range("no such samples");
  std::vector<int64_t> indices(static_cast<size_t>(end - begin));
  std::iota(indices.begin(), indices.end(), begin);
  return samples.select(indices);
}

Samples copied_rows(const Samples& table, const Numbers& begins, const Numbers& counts) {
  if (table.size() != 1 || table.ndim() < 1 || !table.contiguous()) {
    throw std::invalid_argument("a table is one contiguous array");
  }
  if (begins.size() != counts.size()) {
    throw std::invalid_argument("begins and counts must have equal length");
  }
  const ReleaseGil release;
  return copy_rows(table, {begins.data(), begins.size()}, {counts.data(), counts.size()});
}

/// What C++ throws, as Python sees it. Translators that are registered later are asked first.
void bind_errors(nb::module_& m) {
  const nb::object internal =
      nb::exception<std::logic_error>(m, "InternalError", PyExc_RuntimeError);
  internal.attr("__module__") = "daliesque";
  internal.attr("__doc__") = "A fault of the library itself: please report it.";
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const std::logic_error& error) {
          const std::string text =
              std::string(error.what()) + ". This is a fault of daliesque: please report it.";
          PyErr_SetString(static_cast<PyObject*>(type), text.c_str());
        } catch (const UsageError& error) {
          PyErr_SetString(PyExc_ValueError, error.what());
        }
      },
      internal.ptr());
  nb::exception<OutOfMemory>(m, "OutOfMemory", PyExc_MemoryError);
}

void bind_runtime(nb::module_& m) {
  using namespace nb::literals;

  bind_errors(m);
  nb::class_<ThreadPool>(m, "ThreadPool")
      .def(nb::init<int>(), "num_threads"_a)
      .def_prop_ro("num_threads", &ThreadPool::num_threads);
  m.def(
      "set_default_pool", [](nb::handle pool) { set_default_pool(pool_handle(pool)); }, "pool"_a,
      nb::sig("def set_default_pool(pool: ThreadPool) -> None"));
  m.def(
      "exchange_current_pool",
      [](nb::handle pool) { return exchange_current_pool(pool_handle(pool)); }, "pool"_a.none(),
      nb::sig("def exchange_current_pool(pool: ThreadPool | None) -> ThreadPool"),
      "Set this thread's pool (None: the default); returns the previous setting.");
  m.def(
      "memory_info",
      [] {
        const MemoryInfo info = memory_info();
        nb::dict out;
        out["used_bytes"] = info.used_bytes;
        out["used_buffers"] = info.used_buffers;
        out["cached_bytes"] = info.cached_bytes;
        out["cached_buffers"] = info.cached_buffers;
        out["peak_bytes"] = info.peak_bytes;
        out["peak_buffers"] = info.peak_buffers;
        out["limit_bytes"] = info.limit_bytes;
        return out;
      },
      nb::sig("def memory_info() -> dict[str, int]"));
  m.def("set_memory_limit", &set_memory_limit, "bytes"_a);
  m.def("is_main_interpreter",
        [] { return PyInterpreterState_Get() == PyInterpreterState_Main(); });
  m.def("available_memory", &available_memory);
  m.def("total_limit", &total_limit);
  m.def("set_total_limit", &set_total_limit, "bytes"_a);
  m.def("release_memory", &release_memory);
  m.def("reset_memory_peak", &reset_memory_peak);
  m.def("set_simd_enabled", &set_simd_enabled, "enabled"_a, "avx512"_a = true);
  m.def(
      "instruction_sets",
      [] {
        std::vector<std::string> found;
        if (cpu_has_avx2()) found.emplace_back("AVX2");
        if (cpu_has_avx512()) found.emplace_back("AVX-512");
        return found;
      },
      "What the processor has beyond what every one of its kind has, as far as kernels use it.");
  m.def("current_pool", &current_pool, "The pool that kernels called from this thread use.");
}

void bind_samples(nb::module_& m) {
  // For intermediate results; other types come from the caller.
  m.attr("FLOAT32") = static_cast<int>(DType::float32);
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  nb::class_<Samples>(m, "Samples")
      .def("__len__", &Samples::size)
      .def_prop_ro("type_id", [](const Samples& s) { return static_cast<int>(s.dtype()); })
      .def_prop_ro("ndim", &Samples::ndim)
      .def_prop_ro("layout", &Samples::layout)
      .def_prop_ro("itemsize", &Samples::itemsize)
      .def_prop_ro("volume", &Samples::total_volume)
      .def_prop_ro(
          "nbytes",
          [](const Samples& s) { return s.total_volume() * static_cast<int64_t>(s.itemsize()); })
      .def_prop_ro("shapes", &shapes_of, nb::sig("def shapes(self) -> list[tuple[int, ...]]"))
      .def(
          "shape",
          [](const Samples& s, int64_t i) {
            check_index(s, i);
            return to_tuple(s.shape(i));
          },
          "index"_a, nb::sig("def shape(self, index: int) -> tuple[int, ...]"))
      .def("strides", &Samples::strides, "index"_a, "Byte strides of a sample.")
      .def("shape_array", &shape_array, "All shapes as an (N, ndim) int64 array.")
      .def_prop_ro("uniform", &Samples::uniform)
      .def_prop_ro("packed", &Samples::packed)
      .def_prop_ro("contiguous", &Samples::contiguous)
      .def_prop_ro("readonly", &Samples::readonly)
      .def_prop_ro("external", &Samples::external)
      // The functions for this data: those of the module, which outlives every sample.
      .def_prop_ro(
          "kernels", [module = nb::handle(m)](const Samples&) { return module; },
          nb::sig("def kernels(self) -> daliesque._engine.samples.Kernels"))
      .def(
          "pointer",
          [](const Samples& s, int64_t i) { return reinterpret_cast<uintptr_t>(s.data(i)); },
          "index"_a)
      .def(
          "select",
          [](const Samples& s, const std::vector<int64_t>& indices) { return s.select(indices); },
          "indices"_a)
      .def("between", &selected_between, "begin"_a, "end"_a, "The samples from one to another.")
      .def(
          "sample", [](const Samples& s, int64_t i) { return s.select(std::span(&i, 1)); },
          "index"_a)
      .def(
          "with_layout",
          [](const Samples& s, std::string layout) {
            Samples out = s;
            out.set_layout(std::move(layout));
            return out;
          },
          "layout"_a)
      .def("as_internal",
           [](const Samples& s) {
             Samples out = s;
             out.set_external(false);
             return out;
           })
      .def("unfold", &Samples::unfold)
      .def(
          "fold",
          [](const Samples& s, const std::vector<int64_t>& counts, const std::string& layout) {
            return s.fold(counts, layout);
          },
          "counts"_a, "layout"_a)
      .def(
          "reshape",
          [](const Samples& s, const ShapeArray& shapes, std::string layout) {
            return s.reshape(static_cast<int>(shapes.shape(1)), repeat_rows(shapes, s.size()),
                             std::move(layout));
          },
          "shapes"_a, "layout"_a)
      .def(
          "reshape",
          [](const Samples& s, int type, const ShapeArray& shapes, std::string layout) {
            return s.reshape(static_cast<DType>(type), static_cast<int>(shapes.shape(1)),
                             repeat_rows(shapes, s.size()), std::move(layout));
          },
          "type_id"_a, "shapes"_a, "layout"_a)
      .def("stack_view", &Samples::stack_view)
      .def("flat_view", &flat_view, "One vector of all elements of all samples, which are packed.")
      .def(
          "reinterpret",
          [](const Samples& s, int type) { return s.reinterpret(static_cast<DType>(type)); },
          "type_id"_a)
      .def("slice", &sliced, "ranges"_a, "dropped"_a, "layout"_a)
      .def_static("pick", &picked, "parts"_a, "which"_a, "at"_a, "copied"_a = false,
                  "Samples of several parts, in their memory or in a buffer of their own: for each "
                  "which has it, and where.")
      .def("copy", &clone, release(), "A contiguous copy in one buffer from the pool.")
      .def("padded", &padded_copy, release(), "A uniform copy, zero-padded to the largest extents.")
      .def("empty_like", [](const Samples& s) { return Samples::empty_like(s); })
      .def(
          "empty_like",
          [](const Samples& s, int type) {
            return Samples::empty_like(s, static_cast<DType>(type));
          },
          "type_id"_a)
      .attr("is_on_device") = false;
  m.def(
      "empty",
      [](int type, const ShapeArray& shapes, std::string layout, int64_t count) {
        return Samples::empty(static_cast<DType>(type), static_cast<int>(shapes.shape(1)),
                              repeat_rows(shapes, count), std::move(layout), count);
      },
      "type_id"_a, "shapes"_a, "layout"_a, "count"_a,
      "Uninitialized samples; `shapes` is (count, ndim) or (1, ndim).");
  m.def(
      "empty_uniform",
      [](int type, const std::vector<int64_t>& shape, std::string layout, int64_t count) {
        return Samples::empty(static_cast<DType>(type), static_cast<int>(shape.size()),
                              repeat_shape(shape, count), std::move(layout), count);
      },
      "type_id"_a, "shape"_a, "layout"_a, "count"_a);
  m.def(
      "join",
      [](const nb::list& parts) {
        std::vector<const Samples*> pointers;
        for (nb::handle part : parts) pointers.push_back(nb::cast<const Samples*>(part));
        return Samples::join(pointers);
      },
      "parts"_a, nb::sig("def join(parts: list[Samples]) -> Samples"),
      "The samples of several Samples, without copying.");
}

/// Plans for samples, with the same properties as samples have.
void bind_planned(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<PlanSource, Samples>(m, "PlanSource",
                                  "Samples that kernels plan to process, and do not yet.")
      .def(nb::init<const Samples&>(), "samples"_a);
  nb::class_<PlannedSamples>(m, "PlannedSamples",
                             "Samples that do not exist yet, and what is known about them.")
      .def("__len__", [](const PlannedSamples& s) { return s.outline().size(); })
      .def_prop_ro("type_id",
                   [](const PlannedSamples& s) { return static_cast<int>(s.outline().dtype()); })
      .def_prop_ro("ndim", [](const PlannedSamples& s) { return s.outline().ndim(); })
      .def_prop_ro("layout", [](const PlannedSamples& s) { return s.outline().layout(); })
      .def_prop_ro(
          "shapes", [](const PlannedSamples& s) { return shapes_of(s.outline()); },
          nb::sig("def shapes(self) -> list[tuple[int, ...]]"))
      .def("shape_array", [](const PlannedSamples& s) { return shape_array(s.outline()); })
      .def_prop_ro("nbytes",
                   [](const PlannedSamples& s) {
                     return s.outline().total_volume() *
                            static_cast<int64_t>(s.outline().itemsize());
                   })
      .def_prop_ro("uniform", [](const PlannedSamples& s) { return s.outline().uniform(); })
      .def_prop_ro("contiguous", [](const PlannedSamples&) { return true; })
      .def_prop_ro(
          "kernels", [module = nb::handle(m)](const PlannedSamples&) { return module; },
          nb::sig("def kernels(self) -> daliesque._engine.samples.Kernels"))
      .def(
          "with_layout",
          [](const PlannedSamples& s, std::string layout) {
            PlannedSamples out = s;
            out.set_layout(std::move(layout));
            return out;
          },
          "layout"_a)
      .def("make", &PlannedSamples::make, nb::call_guard<ReleaseGil>(),
           "Run all kernels, sample by sample.")
      .attr("is_on_device") = false;
}

void bind_border(nb::module_& m) {
  nb::enum_<Border>(m, "Border", "What stands for elements outside of an array.")
      .value("constant", Border::constant)
      .value("clamp", Border::clamp)
      .value("reflect_1001", Border::reflect_1001)
      .value("reflect_101", Border::reflect_101)
      .value("wrap", Border::wrap);
}

void bind_copies(nb::module_& m) {
  using namespace nb::literals;

  m.def("cast", &cast_to, "samples"_a, "type_id"_a,
        "Convert to another type, rounding and clamping.");
  m.def("read_big_endian", &read_big_endian, "type_id"_a, "shapes"_a, "bytes"_a, "offsets"_a,
        "Arrays that begin at an offset of each sample of bytes.");
  m.def("copy_rows", &copied_rows, "table"_a, "begins"_a, "counts"_a,
        "Some consecutive rows of a table for each sample.");
}

}  // namespace

void bind_core(nb::module_& m) {
  bind_border(m);
  bind_runtime(m);
  bind_samples(m);
  bind_planned(m);
  bind_copies(m);
}

}  // namespace daliesque
