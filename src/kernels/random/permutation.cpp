// SPDX-License-Identifier: Apache-2.0
#include "random/permutation.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "random/std_random.h"

namespace daliesque::random {

void batch_permutation(Samples& out, const PhiloxState& state, bool repetitions,
                       bool no_fixed_points) {
  const auto count = static_cast<int32_t>(out.size());
  if (count == 0) return;
  Philox generator(sample_state(state, 0));
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  no_fixed_points &= count > 1;
  if (repetitions) {
    for (int32_t i = 0; i < count; i++) {
      int32_t number = uniform_int(generator, 0, count - 1 - no_fixed_points);
      if (no_fixed_points && number >= i) number++;
      numbers[static_cast<size_t>(i)] = number;
    }
  } else if (no_fixed_points) {
    for (int32_t i = 0; i + 1 < count; i++) {
      const int32_t other = uniform_int(generator, i + 1, count - 1);
      std::swap(numbers[static_cast<size_t>(i)], numbers[static_cast<size_t>(other)]);
    }
  } else {
    shuffle(numbers.data(), numbers.size(), generator);
  }
  for (int64_t i = 0; i < count; i++) *out.data<int32_t>(i) = numbers[static_cast<size_t>(i)];
}

void roi_random_crop(Samples& out, const PhiloxState& state, const PerSample<int64_t>& crop,
                     const PerSample<int64_t>& roi_start, const PerSample<int64_t>& roi_shape,
                     const PerSample<int64_t>* input_shape) {
  for (int64_t i = 0; i < out.size(); i++) {
    Philox generator(sample_state(state, i));
    for (int64_t d = 0; d < out.shape(i)[0]; d++) {
      const int64_t extent = crop.row(i)[d], start = roi_start.row(i)[d];
      const int64_t slack = roi_shape.row(i)[d] - extent;
      int64_t& result = out.data<int64_t>(i)[d];
      result = start;
      if (slack == 0) continue;
      int64_t low = std::min(start, start + slack), high = std::max(start, start + slack);
      if (input_shape) {
        low = std::max<int64_t>(0, low);
        high = std::min(input_shape->row(i)[d] - extent, high);
      }
      result = uniform_int(generator, low, high);
    }
  }
}

}  // namespace daliesque::random
