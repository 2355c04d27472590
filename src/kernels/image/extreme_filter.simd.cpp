// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <type_traits>

#include "image/extreme_loops.h"
#include "image/row_vectors.simd.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

template <bool largest, class Value>
DALIESQUE_INLINE Value extreme(Value a, Value b) {
  if constexpr (largest) {
    return a > b ? a : b;
  } else {
    return a < b ? a : b;
  }
}

template <class Value, bool largest, int inputs>
DALIESQUE_INLINE void combine_inputs(void* out, const void* const* rows, int64_t count) {
  for_vectors<Value>(count, [&]<class Part>(int64_t at) {
    Part best = load_part<Part>(rows[0], at);
    for (int k = 1; k < inputs; k++) best = extreme<largest>(best, load_part<Part>(rows[k], at));
    store_part(out, at, best);
  });
}

template <class Value, bool largest>
void combine(void* out, const void* const* rows, int inputs, int64_t count) {
  switch (inputs) {
    case 1:
      return combine_inputs<Value, largest, 1>(out, rows, count);
    case 2:
      return combine_inputs<Value, largest, 2>(out, rows, count);
    case 3:
      return combine_inputs<Value, largest, 3>(out, rows, count);
    case 4:
      return combine_inputs<Value, largest, 4>(out, rows, count);
    case 5:
      return combine_inputs<Value, largest, 5>(out, rows, count);
    default:
      return combine_inputs<Value, largest, 6>(out, rows, count);
  }
}

template <class Value, bool largest>
void extend(void* out, void* prefix, const void* row, const void* suffix, int64_t count) {
  // Doing the same twice changes nothing, so that vectors may overlap.
  for_vectors<Value>(count, [&]<class Part>(int64_t at) {
    const Part best = extreme<largest>(load_part<Part>(prefix, at), load_part<Part>(row, at));
    store_part(prefix, at, best);
    store_part(out, at, extreme<largest>(best, load_part<Part>(suffix, at)));
  });
}

/// Negative numbers are stored by magnitude: the larger the bits, the lower the number. All bits
/// but the sign are inverted; to do that again gives the number back.
template <class Value>
void flip_negative(void* values, int64_t count) {
  if constexpr (std::is_signed_v<Value>) {
    auto* all = static_cast<Value*>(values);
    constexpr int kSignBit = 8 * sizeof(Value) - 1;
    for (int64_t i = 0; i < count; i++) {
      const auto inverted = static_cast<Value>(all[i] >> kSignBit);
      all[i] = static_cast<Value>(all[i] ^ (inverted & std::numeric_limits<Value>::max()));
    }
  }
}

template <class Value, bool largest>
void fill_extreme(void* out, int64_t count) {
  using Limits = std::numeric_limits<Value>;
  auto* all = static_cast<Value*>(out);
  for (int64_t i = 0; i < count; i++) all[i] = largest ? Limits::min() : Limits::max();
}

template <class Value, bool largest>
constexpr ExtremeLoops kLoops = {combine<Value, largest>, extend<Value, largest>,
                                 flip_negative<Value>, fill_extreme<Value, largest>};

template <bool largest>
DALIESQUE_INLINE const ExtremeLoops& loops_of(int size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? kLoops<int8_t, largest> : kLoops<uint8_t, largest>;
    case 2:
      return is_signed ? kLoops<int16_t, largest> : kLoops<uint16_t, largest>;
    case 4:
      return is_signed ? kLoops<int32_t, largest> : kLoops<uint32_t, largest>;
    default:
      return is_signed ? kLoops<int64_t, largest> : kLoops<uint64_t, largest>;
  }
}

}  // namespace

const ExtremeLoops& find_extreme_loops(int size, bool is_signed, bool largest) {
  return largest ? loops_of<true>(size, is_signed) : loops_of<false>(size, is_signed);
}

}  // namespace daliesque::image::DALIESQUE_ISA
