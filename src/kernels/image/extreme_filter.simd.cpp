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

template <class Value, bool largest, int parts>
DALIESQUE_INLINE void combine_parts(void* out, const void* const* inputs, int64_t count,
                                    bool streamed) {
  const auto body = [&]<class Part>(auto store, int64_t at) __attribute__((always_inline)) {
    Part best = load_part<Part>(inputs[0], at);
    for (int k = 1; k < parts; k++) best = extreme<largest>(best, load_part<Part>(inputs[k], at));
    store(out, at, best);
  };
  for_results<Value>(out, count, streamed, body);
}

template <class Value, bool largest>
void combine(void* out, const void* const* inputs, int parts, int64_t count, bool streamed) {
  switch (parts) {
    case 1:
      return combine_parts<Value, largest, 1>(out, inputs, count, streamed);
    case 2:
      return combine_parts<Value, largest, 2>(out, inputs, count, streamed);
    case 3:
      return combine_parts<Value, largest, 3>(out, inputs, count, streamed);
    case 4:
      return combine_parts<Value, largest, 4>(out, inputs, count, streamed);
    case 5:
      return combine_parts<Value, largest, 5>(out, inputs, count, streamed);
    default:
      return combine_parts<Value, largest, 6>(out, inputs, count, streamed);
  }
}

/// Rows [outputs - 1, height) are in all windows. Each window is these, some of the rows before
/// them and some of those behind them: both are added one by one.
template <class Value, bool largest, int outputs>
DALIESQUE_INLINE void combine_windows(void* out, int64_t stride, const void* const* rows,
                                      int64_t height, int64_t count) {
  for_vectors<Value>(count, [&]<class Part>(int64_t at) __attribute__((always_inline)) {
    const auto load = [&](int64_t row)
                          __attribute__((always_inline)) { return load_part<Part>(rows[row], at); };
    Part best[outputs];
    best[outputs - 1] = load(outputs - 1);
    for (int64_t k = outputs; k < height; k++) {
      best[outputs - 1] = extreme<largest>(best[outputs - 1], load(k));
    }
#pragma GCC unroll 8
    for (int k = outputs - 2; k >= 0; k--) best[k] = extreme<largest>(best[k + 1], load(k));
    store_part(out, at, best[0]);
    if constexpr (outputs > 1) {
      Part behind = load(height);
#pragma GCC unroll 8
      for (int k = 1; k < outputs; k++) {
        if (k > 1) behind = extreme<largest>(behind, load(height + k - 1));
        store_part(out, at + k * stride, extreme<largest>(best[k], behind));
      }
    }
  });
}

template <class Value, bool largest>
void combine_rows(void* out, int64_t stride, const void* const* rows, int64_t height,
                  int64_t count) {
  switch (extreme_rows(height)) {
    case 8:
      return combine_windows<Value, largest, 8>(out, stride, rows, height, count);
    case 4:
      return combine_windows<Value, largest, 4>(out, stride, rows, height, count);
    case 2:
      return combine_windows<Value, largest, 2>(out, stride, rows, height, count);
    default:
      return combine_windows<Value, largest, 1>(out, stride, rows, height, count);
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
void flip_negative(void* out, const void* in, int64_t count, bool streamed) {
  if constexpr (std::is_signed_v<Value>) {
    constexpr int kSignBit = 8 * sizeof(Value) - 1;
    const auto body = [&]<class Part>(auto store, int64_t at) __attribute__((always_inline)) {
      const auto values = load_part<Part>(in, at);
      const auto inverted = static_cast<Part>(values >> kSignBit);
      store(out, at, static_cast<Part>(values ^ (inverted & std::numeric_limits<Value>::max())));
    };
    for_results<Value>(out, count, streamed, body);
  }
}

template <class Value, bool largest>
void fill_extreme(void* out, int64_t count) {
  using Limits = std::numeric_limits<Value>;
  auto* all = static_cast<Value*>(out);
  for (int64_t i = 0; i < count; i++) all[i] = largest ? Limits::min() : Limits::max();
}

template <class Value, bool largest>
constexpr ExtremeLoops kLoops = {combine<Value, largest>, combine_rows<Value, largest>,
                                 extend<Value, largest>, flip_negative<Value>,
                                 fill_extreme<Value, largest>};

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
