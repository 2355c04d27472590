// SPDX-License-Identifier: Apache-2.0
// The inner loops of the random kernels, one set for each instruction set.
#pragma once

#include <cstdint>
#include <type_traits>

#include "random/philox.h"

namespace daliesque::random {

/// The floating-point type in which numbers for an output of type T are made.
template <class T>
using DrawType =
    std::conditional_t<(sizeof(T) > 4 || (std::is_integral_v<T> && sizeof(T) == 4)), double, float>;

/// A range [low, high] and the factor that spreads a random word over it.
template <class Real>
struct UniformRange {
  Real low, high, factor;
};

#define DALIESQUE_RANDOM_LOOPS                                                                     \
  void philox_words(uint32_t* out, const PhiloxState& sample, int64_t first, int64_t count,        \
                    int words);                                                                    \
  void philox_blocks(uint32_t* out, const PhiloxState& sample, int64_t first, int64_t count,       \
                     int blocks);                                                                  \
  template <class T>                                                                               \
  void uniform(T* out, const uint32_t* words, int64_t count,                                       \
               const UniformRange<DrawType<T>>& range);                                            \
  template <class T>                                                                               \
  void normal(T* out, const uint32_t* words, int64_t count, DrawType<T> mean, DrawType<T> stddev); \
  /* Of elements in a tile of planes that philox_words() filled. */                                \
  void normals(float* out, const uint32_t* words, int64_t count, float mean, float stddev);        \
  void normals(double* out, const uint32_t* words, int64_t count, double mean, double stddev);     \
  /* The upper halves of products with `choices`; false if a lower half is less than that. */      \
  bool scale_words(int64_t* out, const uint32_t* words, int64_t count, uint32_t choices);          \
  template <class T>                                                                               \
  void at_most(T* out, const uint32_t* words, int64_t count, uint32_t threshold);

namespace portable {
DALIESQUE_RANDOM_LOOPS
}
namespace avx2 {
DALIESQUE_RANDOM_LOOPS
}
namespace avx512 {
DALIESQUE_RANDOM_LOOPS
}

#undef DALIESQUE_RANDOM_LOOPS

}  // namespace daliesque::random
