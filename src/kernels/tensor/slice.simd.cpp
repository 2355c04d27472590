// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <type_traits>

#include "core/half.h"
#include "tensor/slice_loops.h"

namespace daliesque::tensor::DALIESQUE_ISA {

namespace {

template <class T>
constexpr bool is_16bit_float = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// Clamps to the range of the output; NaN becomes zero in integers.
template <class Out, class In>
DALIESQUE_INLINE Out truncate(In value) {
  if constexpr (is_16bit_float<In>) {
    return truncate<Out>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<Out, float>) {
    return static_cast<float>(value);
  } else if constexpr (std::is_same_v<Out, float16>) {
    constexpr float kLargest = 65504;
    const float number = static_cast<float>(value);
    const float low = number < -kLargest ? -kLargest : number;
    return float16(low > kLargest ? kLargest : low);
  } else if constexpr (std::is_floating_point_v<In>) {
    constexpr In kLargest = static_cast<In>(std::numeric_limits<Out>::max());
    const In positive = value > In{0} ? value : In{0};
    return static_cast<Out>(static_cast<int32_t>(positive < kLargest ? positive : kLargest));
  } else {
    constexpr In kLargest =
        static_cast<In>(sizeof(In) > sizeof(Out) ? std::numeric_limits<Out>::max()
                                                 : std::numeric_limits<In>::max());
    const In positive = value > In{0} ? value : In{0};
    return static_cast<Out>(positive < kLargest ? positive : kLargest);
  }
}

template <class Out, class In>
void convert(void* out, const void* in, int64_t count) {
  auto* __restrict to = static_cast<Out*>(out);
  const auto* __restrict from = static_cast<const In*>(in);
  for (int64_t i = 0; i < count; i++) to[i] = truncate<Out>(from[i]);
}

template <class Out>
ConvertRow find_source(DType in) {
  switch (in) {
    case DType::uint8:
    case DType::boolean:
      return convert<Out, uint8_t>;
    case DType::uint16:
      return convert<Out, uint16_t>;
    case DType::uint32:
      return convert<Out, uint32_t>;
    case DType::uint64:
      return convert<Out, uint64_t>;
    case DType::int8:
      return convert<Out, int8_t>;
    case DType::int16:
      return convert<Out, int16_t>;
    case DType::int32:
      return convert<Out, int32_t>;
    case DType::int64:
      return convert<Out, int64_t>;
    case DType::float16:
      return convert<Out, float16>;
    case DType::bfloat16:
      return convert<Out, bfloat16>;
    case DType::float32:
      return convert<Out, float>;
    case DType::float64:
      return convert<Out, double>;
    default:
      return nullptr;
  }
}

}  // namespace

ConvertRow find_truncation(DType out, DType in) {
  switch (out) {
    case DType::uint8:
      return find_source<uint8_t>(in);
    case DType::float16:
      return find_source<float16>(in);
    case DType::float32:
      return find_source<float>(in);
    default:
      return nullptr;
  }
}

}  // namespace daliesque::tensor::DALIESQUE_ISA
