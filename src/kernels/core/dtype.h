// SPDX-License-Identifier: Apache-2.0
// Element types: their numbers (those of the reference's DALIDataType), sizes and dispatch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/errors.h"
#include "core/half.h"

namespace daliesque {

enum class DType : int32_t {
  uint8 = 0,
  uint16 = 1,
  uint32 = 2,
  uint64 = 3,
  int8 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  float16 = 8,
  float32 = 9,
  float64 = 10,
  boolean = 11,
  image_type = 20,
  data_type = 21,
  interp_type = 22,
  // The reference has no number for bfloat16; this one is never shown to users.
  bfloat16 = 100,
};

constexpr size_t dtype_size(DType type) {
  switch (type) {
    case DType::uint8:
    case DType::int8:
    case DType::boolean:
      return 1;
    case DType::uint16:
    case DType::int16:
    case DType::float16:
    case DType::bfloat16:
      return 2;
    case DType::uint64:
    case DType::int64:
    case DType::float64:
      return 8;
    default:
      return 4;
  }
}

const char* dtype_name(DType type);

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <>
struct DTypeOf<uint16_t> {
  static constexpr DType value = DType::uint16;
};
template <>
struct DTypeOf<uint32_t> {
  static constexpr DType value = DType::uint32;
};
template <>
struct DTypeOf<uint64_t> {
  static constexpr DType value = DType::uint64;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::int8;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::int16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct DTypeOf<float16> {
  static constexpr DType value = DType::float16;
};
template <>
struct DTypeOf<bfloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};

template <class T>
constexpr DType dtype_of = DTypeOf<T>::value;

template <class... Ts>
struct Types {};

using IntegerTypes =
    Types<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t>;
using NumericTypes = Types<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t,
                           float16, bfloat16, float, double>;
using AllTypes = Types<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t,
                       float16, bfloat16, float, double, bool>;

template <class T>
struct Tag {
  using type = T;
};

/// Maps the enum types onto the int32 that stores them; other types stay.
constexpr DType storage_type(DType type) {
  return type == DType::image_type || type == DType::data_type || type == DType::interp_type
             ? DType::int32
             : type;
}

/// Calls `body(Tag<T>{})` for the type of the list that `type` names; throws if it is not listed.
template <class... Ts, class Body>
void dispatch(Types<Ts...>, DType type, Body&& body) {
  const DType stored = storage_type(type);
  const bool found = ((dtype_of<Ts> == stored ? (body(Tag<Ts>{}), true) : false) || ...);
  if (!found) throw UsageError(std::string("unsupported type ") + dtype_name(type));
}

}  // namespace daliesque
