// SPDX-License-Identifier: Apache-2.0
#include "core/saturate.h"
#include "random/draws.h"
#include "random/random_loops.h"

namespace daliesque::random::DALIESQUE_ISA {

template <class T>
void uniform(T* out, const uint32_t* words, int64_t count, const UniformRange<DrawType<T>>& range) {
  using Real = DrawType<T>;
  const Real low = range.low, high = range.high, factor = range.factor;
  for (int64_t i = 0; i < count; i++) {
    const Real value = fused(drawn<Real>(words, i, 0), factor, low);
    out[i] = saturate<T>(high < value ? high : value);
  }
}

template <class T>
void normal(T* out, const uint32_t* words, int64_t count, DrawType<T> mean, DrawType<T> stddev) {
  if constexpr (std::is_floating_point_v<T>) {
    normals(out, words, count, mean, stddev);
  } else {
    DrawType<T> values[kPhiloxTile];
    normals(values, words, count, mean, stddev);
    for (int64_t i = 0; i < count; i++) out[i] = saturate<T>(values[i]);
  }
}

bool scale_words(int64_t* __restrict out, const uint32_t* words, int64_t count, uint32_t choices) {
  bool doubtful = false;
  for (int64_t i = 0; i < count; i++) {
    const uint64_t product = uint64_t{words[i]} * choices;
    out[i] = static_cast<int64_t>(product >> 32);
    doubtful |= (product & 0xFFFFFFFFu) < choices;
  }
  return !doubtful;
}

template <class T>
void at_most(T* out, const uint32_t* words, int64_t count, uint32_t threshold) {
  for (int64_t i = 0; i < count; i++) out[i] = static_cast<T>(words[i] <= threshold);
}

#define DALIESQUE_INSTANTIATE(T)                                                         \
  template void uniform(T*, const uint32_t*, int64_t, const UniformRange<DrawType<T>>&); \
  template void normal(T*, const uint32_t*, int64_t, DrawType<T>, DrawType<T>);

DALIESQUE_INSTANTIATE(uint8_t)
DALIESQUE_INSTANTIATE(uint16_t)
DALIESQUE_INSTANTIATE(uint32_t)
DALIESQUE_INSTANTIATE(uint64_t)
DALIESQUE_INSTANTIATE(int8_t)
DALIESQUE_INSTANTIATE(int16_t)
DALIESQUE_INSTANTIATE(int32_t)
DALIESQUE_INSTANTIATE(int64_t)
DALIESQUE_INSTANTIATE(float)
DALIESQUE_INSTANTIATE(double)
template void at_most(bool*, const uint32_t*, int64_t, uint32_t);
template void at_most(uint8_t*, const uint32_t*, int64_t, uint32_t);
template void at_most(int32_t*, const uint32_t*, int64_t, uint32_t);

}  // namespace daliesque::random::DALIESQUE_ISA
