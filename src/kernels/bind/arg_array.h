// SPDX-License-Identifier: Apache-2.0
// Per-sample arguments as operators pass them, taken through the buffer protocol: a fraction of the
// cost of a general array conversion, which would dominate calls on small batches.
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "bind/gil.h"
#include "core/per_sample.h"

namespace daliesque {

/// A read-only C-contiguous array of T, held for the duration of a call, or as long as the plan
/// that the call is part of. The GIL must be held when it is made and destroyed.
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
    if (view_.obj) survive_exit([this] { PyBuffer_Release(&view_); });
  }

  /// Takes the memory of `object` if it holds elements of type T in C order.
  bool acquire(PyObject* object) noexcept {
    return survive_exit([&] { return take(object); });
  }

  /// Takes a converted copy of `object`, which is something NumPy can make an array of T from.
  bool acquire_copy(PyObject* object) noexcept {
    return survive_exit([&] { return take_copy(object); });
  }

  const T* data() const { return static_cast<const T*>(view_.buf); }
  size_t ndim() const { return static_cast<size_t>(view_.ndim); }
  size_t shape(size_t axis) const { return static_cast<size_t>(view_.shape[axis]); }
  size_t size() const { return static_cast<size_t>(view_.len) / sizeof(T); }

 private:
  bool take(PyObject* object) {
    if (PyObject_GetBuffer(object, &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      return false;
    }
    const char code = view_.format[0];
    if (view_.itemsize == sizeof(T) && code && std::strchr(codes(), code)) return true;
    PyBuffer_Release(&view_);
    view_.obj = nullptr;
    return false;
  }

  bool take_copy(PyObject* object) {
    const nanobind::object numpy = nanobind::steal(PyImport_ImportModule("numpy"));
    if (!numpy.is_valid()) return PyErr_Clear(), false;
    const nanobind::object copy = nanobind::steal(
        PyObject_CallMethod(numpy.ptr(), "ascontiguousarray", "Os", object, numpy_type()));
    if (!copy.is_valid()) return PyErr_Clear(), false;
    return take(copy.ptr());
  }

  /// The format letters of types like T; the item size distinguishes them.
  static constexpr const char* codes() {
    if constexpr (std::is_same_v<T, bool>) return "?";
    if constexpr (std::is_floating_point_v<T>) return "fd";
    return std::is_signed_v<T> ? "bhilq" : "BHILQ";
  }

  static constexpr const char* numpy_type() {
    if constexpr (std::is_same_v<T, bool>) return "?";
    if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? "f4" : "f8";
    constexpr const char* kNames[2][4] = {{"u1", "u2", "u4", "u8"}, {"i1", "i2", "i4", "i8"}};
    constexpr int kPower = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return kNames[std::is_signed_v<T>][kPower];
  }

  Py_buffer view_{};
};

template <class T>
PerSample<T> per_sample(const ArgArray<T>& array) {
  const auto rows = static_cast<int64_t>(array.ndim() ? array.shape(0) : 1);
  const int64_t width = rows ? static_cast<int64_t>(array.size()) / rows : 0;
  return PerSample<T>(array.data(), rows, width);
}

/// The same for a batch of `count` samples, whose rows, of `width` values if that is given, the
/// kernel is going to read.
template <class T>
PerSample<T> per_sample(const ArgArray<T>& array, int64_t count, int64_t width = 0) {
  const PerSample<T> rows = per_sample(array);
  if (rows.rows() != 1 && rows.rows() < count) {
    throw std::invalid_argument("an argument has " + std::to_string(rows.rows()) + " rows for " +
                                std::to_string(count) + " samples");
  }
  if (count > 0 && (rows.width() == 0 || (width && rows.width() != width))) {
    throw std::invalid_argument("an argument has rows of " + std::to_string(rows.width()) +
                                " values");
  }
  return rows;
}

template <class T, class... Count>
std::optional<PerSample<T>> per_sample(const std::optional<ArgArray<T>>& array, Count... count) {
  if (!array) return std::nullopt;
  return per_sample(*array, count...);
}

/// Refuses arguments with too few rows for `count` samples.
template <class... Arrays>
void require_rows(int64_t count, const Arrays&... arrays) {
  (per_sample(arrays, count), ...);
}

/// The rows of samples from number `first` on.
template <class T>
PerSample<T> rows_from(const ArgArray<T>& array, int64_t first) {
  return per_sample(array).from(first);
}

template <class T>
std::optional<PerSample<T>> rows_from(const std::optional<ArgArray<T>>& array, int64_t first) {
  if (!array) return std::nullopt;
  return rows_from(*array, first);
}

}  // namespace daliesque

namespace nanobind::detail {

template <class T>
struct type_caster<daliesque::ArgArray<T>> {
  NB_TYPE_CASTER(daliesque::ArgArray<T>, const_name("numpy.typing.NDArray[typing.Any]"))

  bool from_python(handle source, uint8_t flags, cleanup_list*) noexcept {
    if (value.acquire(source.ptr())) return true;
    return (flags & static_cast<uint8_t>(cast_flags::convert)) && value.acquire_copy(source.ptr());
  }
};

}  // namespace nanobind::detail
