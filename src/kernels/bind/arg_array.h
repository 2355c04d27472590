// SPDX-License-Identifier: Apache-2.0
// Per-sample arguments as operators pass them, taken through the buffer protocol: a fraction of the
// cost of a general array conversion, which would dominate calls on small batches.
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>
#include <type_traits>
#include <utility>

#include "../per_sample.h"

namespace daliesque {

/// A read-only C-contiguous array of T, held for the duration of a call. The GIL must be held when
/// it is made and destroyed.
template <class T>
class ArgArray {
 public:
  ArgArray() = default;
  ArgArray(ArgArray&& other) noexcept : view_(other.view_) { other.view_.obj = nullptr; }
  ArgArray& operator=(ArgArray&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  ~ArgArray() {
    if (view_.obj) PyBuffer_Release(&view_);
  }

  /// Takes the memory of `object` if it holds elements of type T in C order.
  bool acquire(PyObject* object) noexcept {
    if (PyObject_GetBuffer(object, &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      return false;
    }
    return view_.itemsize == sizeof(T) && std::strchr(codes(), view_.format[0]) != nullptr &&
           view_.format[0] != 0;
  }

  const T* data() const { return static_cast<const T*>(view_.buf); }
  size_t ndim() const { return static_cast<size_t>(view_.ndim); }
  size_t shape(size_t axis) const { return static_cast<size_t>(view_.shape[axis]); }
  size_t size() const { return static_cast<size_t>(view_.len) / sizeof(T); }

 private:
  /// The format letters of types like T; the item size tells them apart.
  static constexpr const char* codes() {
    if constexpr (std::is_same_v<T, bool>) return "?";
    if constexpr (std::is_floating_point_v<T>) return "fd";
    return std::is_signed_v<T> ? "bhilq" : "BHILQ";
  }

  Py_buffer view_{};
};

template <class T>
PerSample<T> per_sample(const ArgArray<T>& array) {
  const auto rows = static_cast<int64_t>(array.ndim() ? array.shape(0) : 1);
  const int64_t width = rows ? static_cast<int64_t>(array.size()) / rows : 0;
  return PerSample<T>(array.data(), rows, width);
}

}  // namespace daliesque

namespace nanobind::detail {

template <class T>
struct type_caster<daliesque::ArgArray<T>> {
  NB_TYPE_CASTER(daliesque::ArgArray<T>, const_name("numpy.typing.NDArray[typing.Any]"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    return value.acquire(source.ptr());
  }
};

}  // namespace nanobind::detail
