// SPDX-License-Identifier: Apache-2.0
// How strings, lists and optional arguments of Python become C++. Those that come with nanobind
// promise not to throw, and end the process if there is no memory; these raise MemoryError.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/detail/nb_list.h>
#include <nanobind/stl/detail/nb_optional.h>

#include <optional>
#include <string>
#include <vector>

#include "bind/gil.h"

namespace nanobind::detail {

template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, uint32_t, cleanup_list*) {
    if (!PyUnicode_Check(source.ptr())) return false;
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(source.ptr(), &size);
    if (!text) {
      PyErr_Clear();
      return false;
    }
    value.assign(text, static_cast<size_t>(size));
    return true;
  }

  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return daliesque::survive_exit([&] {
      return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    });
  }
};

template <class Type, class Allocator>
struct type_caster<std::vector<Type, Allocator>> : list_caster<std::vector<Type, Allocator>, Type> {
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) {
    PyObject* object = source.ptr();
    if (!PySequence_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object)) return false;
    const nanobind::object items = steal(PySequence_Fast(object, ""));
    if (!items.is_valid()) {
      PyErr_Clear();
      return false;
    }
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items.ptr());
    this->value.clear();
    this->value.reserve(static_cast<size_t>(count));
    make_caster<Type> caster;
    flags = flags_for_local_caster<Type>(flags);
    for (Py_ssize_t i = 0; i < count; i++) {
      const handle item = PySequence_Fast_GET_ITEM(items.ptr(), i);
      if (!caster.from_python(item, flags, cleanup) || !caster.template can_cast<Type>()) {
        return false;
      }
      this->value.push_back(caster.operator cast_t<Type>());
    }
    return true;
  }
};

template <class Type>
struct type_caster<std::optional<Type>> : optional_caster<std::optional<Type>> {
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) {
    this->value.reset();
    if (source.is_none()) return true;
    make_caster<Type> caster;
    flags = flags_for_local_caster<Type>(flags);
    if (!caster.from_python(source, flags, cleanup) || !caster.template can_cast<Type>()) {
      return false;
    }
    this->value.emplace(caster.operator cast_t<Type>());
    return true;
  }
};

template <class Type>
struct has_arg_defaults<std::optional<Type>> : std::true_type {};

template <class Type>
struct remove_opt_mono<std::optional<Type>> : remove_opt_mono<Type> {};

}  // namespace nanobind::detail
