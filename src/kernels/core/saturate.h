// SPDX-License-Identifier: Apache-2.0
// Conversion between element types with the reference's rules: floating point to integer rounds
// half away from zero, and everything that does not fit is clamped to the nearest legal value.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/half.h"

namespace daliesque {

template <class T>
constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
constexpr bool is_float = std::is_floating_point_v<T> || is_half<T>;

namespace saturate_detail {

template <class Out, class In>
DALIESQUE_INLINE Out float_to_integer(In value) {
  // The comparisons are written so that NaN falls through to zero. The upper bound may round up
  // to 2^n, which is out of range itself: hence >=.
  constexpr In low = static_cast<In>(std::numeric_limits<Out>::min());
  constexpr In high = static_cast<In>(std::numeric_limits<Out>::max());
  // Truncating this sum rounds half away from zero, and unlike std::round it vectorizes. The
  // constant is the number below 0.5: 0.5 itself would lift the number below 0.5 to 1.
  constexpr In half = sizeof(In) == 4 ? In(0x1.fffffep-2) : In(0x1.fffffffffffffp-2);
  const In rounded = value + std::copysign(half, value);
  if (rounded >= high) return std::numeric_limits<Out>::max();
  if (rounded > low) return static_cast<Out>(rounded);
  return value == value ? std::numeric_limits<Out>::min() : Out{0};
}

template <class Out, class In>
DALIESQUE_INLINE Out integer_to_integer(In value) {
  using Limits = std::numeric_limits<Out>;
  if constexpr (std::is_signed_v<In>) {
    if constexpr (std::is_unsigned_v<Out>) {
      if (value < 0) return 0;
      if constexpr (sizeof(Out) < sizeof(In)) {
        if (value > static_cast<In>(Limits::max())) return Limits::max();
      }
    } else if constexpr (sizeof(Out) < sizeof(In)) {
      if (value < static_cast<In>(Limits::min())) return Limits::min();
      if (value > static_cast<In>(Limits::max())) return Limits::max();
    }
  } else if constexpr (sizeof(Out) < sizeof(In) ||
                       (std::is_signed_v<Out> && sizeof(Out) == sizeof(In))) {
    if (value > static_cast<In>(Limits::max())) return Limits::max();
  }
  return static_cast<Out>(value);
}

}  // namespace saturate_detail

/// Converts `value` to `Out`, rounding and clamping.
template <class Out, class In>
DALIESQUE_INLINE Out saturate(In value) {
  if constexpr (std::is_same_v<Out, In>) {
    return value;
  } else if constexpr (is_half<In>) {
    return saturate<Out>(static_cast<float>(value));
  } else if constexpr (is_half<Out>) {
    return Out(static_cast<float>(value));
  } else if constexpr (std::is_same_v<Out, bool>) {
    if constexpr (std::is_floating_point_v<In>) {
      return std::round(value) != 0;
    } else {
      return value != 0;
    }
  } else if constexpr (std::is_same_v<In, bool> || is_float<Out>) {
    return static_cast<Out>(value);
  } else if constexpr (std::is_floating_point_v<In>) {
    return saturate_detail::float_to_integer<Out>(value);
  } else {
    return saturate_detail::integer_to_integer<Out>(value);
  }
}

}  // namespace daliesque
