// SPDX-License-Identifier: Apache-2.0
// Ways in and out that share memory: the buffer protocol, NumPy views and DLPack.
#include <cstring>
#include <optional>

#include "bind/bind.h"
#include "bind/dlpack.h"
#include "core/errors.h"

namespace daliesque {

namespace {

std::optional<dlpack::DataType> to_dlpack_type(DType type) {
  const auto bits = static_cast<uint8_t>(dtype_size(type) * 8);
  switch (type) {
    case DType::boolean:
      return dlpack::DataType{dlpack::kBool, 8, 1};
    case DType::bfloat16:
      return dlpack::DataType{dlpack::kBfloat, 16, 1};
    case DType::float16:
    case DType::float32:
    case DType::float64:
      return dlpack::DataType{dlpack::kFloat, bits, 1};
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
      return dlpack::DataType{dlpack::kUInt, bits, 1};
    default:
      return dlpack::DataType{dlpack::kInt, bits, 1};
  }
}

std::optional<DType> from_dlpack_type(dlpack::DataType type) {
  if (type.lanes != 1) return std::nullopt;
  for (DType candidate : {DType::uint8, DType::uint16, DType::uint32, DType::uint64, DType::int8,
                          DType::int16, DType::int32, DType::int64, DType::float16, DType::float32,
                          DType::float64, DType::boolean, DType::bfloat16}) {
    const auto known = to_dlpack_type(candidate);
    if (known->code == type.code && known->bits == type.bits) return candidate;
  }
  return std::nullopt;
}

std::vector<int64_t> element_strides(const Samples& samples, int64_t i) {
  auto strides = samples.strides(i);
  for (auto& stride : strides) stride /= static_cast<int64_t>(samples.itemsize());
  return strides;
}

/// Keeps a Python buffer exported until the last user of the memory is gone.
Buffer buffer_owner(Py_buffer* view) {
  return Buffer(view->buf, [view](void*) {
    if (Py_IsInitialized()) {
      const AcquireGil gil;
      survive_exit([view] { PyBuffer_Release(view); });
    }
    delete view;
  });
}

Samples wrap_buffer(nb::handle object, int type, const std::string& layout) {
  auto* view = new Py_buffer;
  if (PyObject_GetBuffer(object.ptr(), view, PyBUF_STRIDED_RO)) {
    delete view;
    throw nb::python_error();
  }
  const auto dtype = static_cast<DType>(type);
  const auto ndim = static_cast<size_t>(view->ndim);
  std::vector<int64_t> shape(view->shape, view->shape + ndim);
  std::vector<int64_t> strides(view->strides, view->strides + ndim);
  Buffer owner = buffer_owner(view);
  Samples out = Samples::wrap(dtype, std::move(shape), std::move(strides), view->buf, owner,
                              view->readonly != 0, true);
  out.set_layout(layout);
  // Elements that lie across their natural boundaries (fields of records) cannot be exported again.
  const auto itemsize = static_cast<int64_t>(out.itemsize());
  bool aligned = reinterpret_cast<intptr_t>(view->buf) % itemsize == 0;
  for (int64_t stride : out.strides(0)) aligned &= stride % itemsize == 0;
  return aligned ? out : clone(out);
}

Samples wrap_buffers(const nb::sequence& objects, int type, const std::string& layout) {
  std::vector<Samples> parts;
  std::vector<const Samples*> pointers;
  for (nb::handle object : objects) parts.push_back(wrap_buffer(object, type, layout));
  for (const Samples& part : parts) pointers.push_back(&part);
  return Samples::join(pointers);
}

nb::object numpy_view(const Samples& samples, int64_t i) {
  if (i < 0 || i >= samples.size()) throw std::out_of_range("there is no such sample");
  const Shape extents = samples.shape(i);
  std::vector<size_t> shape(extents.begin(), extents.end());
  const auto strides = element_strides(samples, i);
  nb::capsule owner(new Buffer(samples.owner(i)),
                    [](void* held) noexcept { delete static_cast<Buffer*>(held); });
  nb::dlpack::dtype type{};
  const DType stored =
      samples.dtype() == DType::bfloat16 ? DType::uint16 : storage_type(samples.dtype());
  const auto known = *to_dlpack_type(stored);
  type.code = known.code;
  type.bits = known.bits;
  type.lanes = 1;
  // NumPy refuses a null pointer even for empty arrays.
  static std::byte nothing;
  void* data = samples.data(i) ? samples.data(i) : &nothing;
  if (samples.readonly()) {
    return nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, shape.size(), shape.data(), owner,
                                                   strides.data(), type));
  }
  return nb::cast(
      nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), owner, strides.data(), type));
}

/// What a DLPack consumer holds on to.
template <class Managed>
struct Export {
  Managed managed{};
  Buffer owner;
  std::vector<int64_t> shape, strides;
};

template <class Managed>
Managed* make_export(const Samples& samples) {
  auto* held = new Export<Managed>;
  const Shape extents = samples.shape(0);
  held->owner = samples.owner(0);
  held->shape.assign(extents.begin(), extents.end());
  held->strides = element_strides(samples, 0);
  dlpack::Array& array = held->managed.array;
  array.data = samples.data(0);
  array.device = {dlpack::kCPU, 0};
  array.ndim = samples.ndim();
  array.dtype = *to_dlpack_type(storage_type(samples.dtype()));
  array.shape = held->shape.data();
  array.strides = held->strides.data();
  held->managed.context = held;
  held->managed.deleter = [](Managed* self) {
    delete static_cast<Export<Managed>*>(self->context);
  };
  return &held->managed;
}

template <class Managed>
nb::object make_capsule(Managed* managed, const char* name) {
  // A consumer renames the capsule when it takes over; only an unused one still owns its content.
  return nb::steal(PyCapsule_New(managed, name, [](PyObject* capsule) {
    for (const char* unused : {"dltensor", "dltensor_versioned"}) {
      if (PyCapsule_IsValid(capsule, unused)) {
        auto* content = static_cast<Managed*>(PyCapsule_GetPointer(capsule, unused));
        content->deleter(content);
      }
    }
  }));
}

nb::object to_dlpack(const Samples& samples, bool versioned, bool copied) {
  if (!versioned) return make_capsule(make_export<dlpack::Managed>(samples), "dltensor");
  auto* managed = make_export<dlpack::ManagedVersioned>(samples);
  managed->version = {1, 0};
  managed->flags = (samples.readonly() ? dlpack::kReadOnly : 0) | (copied ? dlpack::kCopied : 0);
  return make_capsule(managed, "dltensor_versioned");
}

template <class Managed>
Samples take_capsule(PyObject* capsule, const char* name, const char* used, bool readonly) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  const dlpack::Array& array = managed->array;
  if (array.device.type != dlpack::kCPU && array.device.type != dlpack::kCUDAHost) {
    throw UsageError("the DLPack capsule does not hold CPU memory");
  }
  const auto dtype = from_dlpack_type(array.dtype);
  if (!dtype) throw nb::type_error("the DLPack element type is not supported");
  const auto ndim = static_cast<size_t>(array.ndim);
  std::vector<int64_t> shape(array.shape, array.shape + ndim), strides;
  if (array.strides) {
    strides.assign(array.strides, array.strides + ndim);
    for (auto& stride : strides) stride *= static_cast<int64_t>(dtype_size(*dtype));
  }
  auto* data = static_cast<std::byte*>(array.data) + array.byte_offset;
  PyCapsule_SetName(capsule, used);
  Buffer owner(data, [managed](void*) {
    // The producer's deleter may touch Python objects.
    if (managed->deleter && Py_IsInitialized()) {
      const AcquireGil gil;
      survive_exit([managed] { managed->deleter(managed); });
    }
  });
  return Samples::wrap(*dtype, std::move(shape), std::move(strides), data, owner, readonly, true);
}

Samples from_dlpack(nb::handle capsule) {
  PyObject* object = capsule.ptr();
  if (PyCapsule_IsValid(object, "dltensor_versioned")) {
    auto* managed =
        static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(object, "dltensor_versioned"));
    if (managed->version.major != 1) {
      throw UsageError("the DLPack capsule has an unknown version");
    }
    return take_capsule<dlpack::ManagedVersioned>(object, "dltensor_versioned",
                                                  "used_dltensor_versioned",
                                                  (managed->flags & dlpack::kReadOnly) != 0);
  }
  if (PyCapsule_IsValid(object, "dltensor")) {
    return take_capsule<dlpack::Managed>(object, "dltensor", "used_dltensor", false);
  }
  throw nb::type_error("not an unused DLPack capsule");
}

}  // namespace

void bind_interop(nb::module_& m) {
  using namespace nb::literals;

  m.def("wrap_buffer", &wrap_buffer, "buffer"_a, "type_id"_a, "layout"_a,
        "One sample over the memory of an object with the buffer protocol.");
  m.def("wrap_buffers", &wrap_buffers,
        nb::sig("def wrap_buffers(buffers: typing.Sequence[typing.Any], type_id: int, layout: str) "
                "-> Samples"),
        "buffers"_a, "type_id"_a, "layout"_a,
        "One sample over the memory of each object, which must agree in the number of axes.");
  m.def("numpy_view", &numpy_view,
        nb::sig("def numpy_view(samples: Samples, index: int) -> typing.Any"), "samples"_a,
        "index"_a, "Sample `index` as a NumPy array over the same memory (bfloat16 as uint16).");
  m.def("to_dlpack", &to_dlpack, "samples"_a, "versioned"_a, "copied"_a,
        "The first sample as a DLPack capsule.");
  m.def("from_dlpack", &from_dlpack, "capsule"_a,
        "One sample over the memory of a DLPack capsule.");
}

}  // namespace daliesque
