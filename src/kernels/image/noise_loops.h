// SPDX-License-Identifier: Apache-2.0
// The inner loops behind noise.h, one set for each instruction set.
#pragma once

#include <cstdint>

#include "random/random_loops.h"

namespace daliesque::image {

#define DALIESQUE_NOISE_LOOPS                                                            \
  template <class T>                                                                     \
  void add_normal(T* out, const T* in, const uint32_t* words, int64_t count,             \
                  random::DrawType<T> mean, random::DrawType<T> stddev);                 \
  /* kinds[i]: how many of the two limits words[i] is below */                           \
  void count_below(uint8_t* kinds, const uint32_t* words, int64_t count, uint32_t limit, \
                   uint32_t lower_limit);

namespace portable {
DALIESQUE_NOISE_LOOPS
}
namespace avx2 {
DALIESQUE_NOISE_LOOPS
}
namespace avx512 {
DALIESQUE_NOISE_LOOPS
}

#undef DALIESQUE_NOISE_LOOPS

}  // namespace daliesque::image
