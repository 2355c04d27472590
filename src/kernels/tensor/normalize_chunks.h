// SPDX-License-Identifier: Apache-2.0
// How normalize sees a sample: runs of values that share parameters.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/samples.h"

namespace daliesque::tensor {

// Values converted at a time, in the first-level cache.
constexpr int64_t kNormalizeBlock = 1024;

constexpr double kNormalizeNanoseconds = 0.5;  // per value

/// Neighboring axes along which both parameters vary, or do not, taken as one.
struct Group {
  int64_t extent;
  std::array<bool, 2> varies;
  std::array<int64_t, 2> steps;  // in the parameters; 0 where they do not vary
};

/// A sample as chunks: dense runs of `repeats` times `period` values. Within a chunk a parameter is
/// constant (period 1) or depends on the index in the period.
struct Chunks {
  std::vector<Group> outer;
  std::array<int64_t, 2> inner_steps{};  // 1 if the parameter varies along the period
  int64_t count = 1, repeats = 1, period = 1;

  int64_t length() const { return repeats * period; }

  /// Chunks so short that calls for each of them would take longer than their values.
  bool has_short_runs() const { return period == 1 && repeats < 64 && count > 1; }

  /// Where the parameters of a chunk begin.
  std::array<int64_t, 2> parameters(int64_t chunk) const {
    std::array<int64_t, 2> offsets{};
    for (size_t k = outer.size(); k-- > 0;) {
      const int64_t index = chunk % outer[k].extent;
      chunk /= outer[k].extent;
      for (size_t p = 0; p < 2; p++) offsets[p] += index * outer[k].steps[p];
    }
    return offsets;
  }
};

/// Goes from chunk to chunk and knows where the parameters of each begin.
class ChunkWalk {
 public:
  ChunkWalk(const Chunks& chunks, int64_t chunk) : chunks_(chunks), chunk_(chunk) { look_up(); }

  int64_t offset(size_t parameter) const { return offsets_[parameter]; }

  void next() {
    chunk_++;
    if (left_-- > 1) {
      for (size_t p = 0; p < 2; p++) offsets_[p] += chunks_.outer.back().steps[p];
    } else {
      look_up();
    }
  }

 private:
  void look_up() {
    offsets_ = chunks_.parameters(chunk_);
    left_ = 0;
    if (!chunks_.outer.empty()) {
      const int64_t extent = chunks_.outer.back().extent;
      left_ = extent - chunk_ % extent;
    }
  }

  const Chunks& chunks_;
  int64_t chunk_, left_ = 0;
  std::array<int64_t, 2> offsets_{};
};

/// Chunks of a sample for two parameters with the given shapes.
Chunks find_chunks(Shape shape, Shape first, Shape second);

/// Writes a parameter several times, one period after the other.
void repeat(float* out, const float* values, int64_t period, int64_t step, int64_t repeats);

}  // namespace daliesque::tensor
