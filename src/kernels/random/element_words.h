// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "random/philox.h"

namespace daliesque::random {

/// Words of one element, as a standard uniform random bit generator. Those of the first blocks were
/// made together with those of its neighbors, by philox_blocks().
template <int blocks>
class ElementWords {
 public:
  using result_type = uint32_t;
  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return 0xFFFFFFFFu; }

  ElementWords(const uint32_t* words, const PhiloxState& sample, int64_t element)
      : words_(words),
        sample_(sample),
        element_(element),
        used_(static_cast<int>((sample.phase + element) & 3)) {}

  uint32_t operator()() {
    if (used_ < 4 * blocks) return words_[used_++ * kPhiloxTile];
    if (used_++ == 4 * blocks) {
      PhiloxState state = element_state(sample_, element_);
      state.skip(4 * blocks - state.phase);
      rest_ = Philox(state);
    }
    return rest_();
  }

 private:
  const uint32_t* words_;
  const PhiloxState& sample_;
  int64_t element_;
  int used_;
  Philox rest_;
};

}  // namespace daliesque::random
