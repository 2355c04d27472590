// SPDX-License-Identifier: Apache-2.0
#include "tensor/normalize_chunks.h"

#include <algorithm>
#include <utility>

namespace daliesque::tensor {

Chunks find_chunks(Shape shape, Shape first, Shape second) {
  std::vector<Group> groups;
  for (size_t axis = 0; axis < shape.size(); axis++) {
    if (shape[axis] == 1) continue;
    const std::array<bool, 2> varies = {first[axis] != 1, second[axis] != 1};
    if (!groups.empty() && groups.back().varies == varies) {
      groups.back().extent *= shape[axis];
    } else {
      groups.push_back({shape[axis], varies, {}});
    }
  }
  std::array<int64_t, 2> steps = {1, 1};
  for (size_t k = groups.size(); k-- > 0;) {
    for (size_t p = 0; p < 2; p++) {
      if (!groups[k].varies[p]) continue;
      groups[k].steps[p] = steps[p];
      steps[p] *= groups[k].extent;
    }
  }
  const auto is_constant = [](const Group& group) { return !group.varies[0] && !group.varies[1]; };
  Chunks chunks;
  if (!groups.empty() && !is_constant(groups.back())) {
    chunks.period = groups.back().extent;
    chunks.inner_steps = groups.back().steps;
    groups.pop_back();
  }
  if (!groups.empty() && is_constant(groups.back())) {
    chunks.repeats = groups.back().extent;
    groups.pop_back();
  }
  for (const Group& group : groups) chunks.count *= group.extent;
  chunks.outer = std::move(groups);
  return chunks;
}

void repeat(float* out, const float* values, int64_t period, int64_t step, int64_t repeats) {
  for (int64_t k = 0; k < period; k++) out[k] = values[k * step];
  for (int64_t done = period; done < period * repeats;) {
    const int64_t more = std::min(done, period * repeats - done);
    std::copy_n(out, more, out + done);
    done += more;
  }
}

}  // namespace daliesque::tensor
