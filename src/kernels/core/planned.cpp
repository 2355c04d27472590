// SPDX-License-Identifier: Apache-2.0
#include "core/planned.h"

#include <span>

#include "core/parallel.h"

namespace daliesque {

namespace {

/// Nanoseconds to write a byte of a result.
constexpr double kWriteCost = 0.3;

double bytes_of(const Samples& samples, int64_t i) {
  return static_cast<double>(samples.volume(i)) * static_cast<double>(samples.itemsize());
}

Samples sample_of(const Samples& samples, int64_t i) { return samples.select(std::span(&i, 1)); }

}  // namespace

void PlannedSamples::append(std::shared_ptr<const Stage> stage) {
  outline_ = stage->outline();
  stages_.push_back(std::move(stage));
}

double PlannedSamples::cost(int64_t i) const {
  double total = 0, read = bytes_of(*source_, i);
  for (const auto& stage : stages_) {
    const double written = bytes_of(stage->outline(), i);
    total += stage->read_cost(i, read) + written * kWriteCost;
    read = written;
  }
  return total;
}

void PlannedSamples::make_sample(Samples& out, int64_t i) const {
  Samples data = sample_of(*source_, i);
  for (const auto& stage : stages_) {
    const bool is_last = stage == stages_.back();
    Samples next = sample_of(is_last ? out : stage->outline(), i);
    if (!is_last) next.materialize();
    stage->run(next, data, i);
    data = std::move(next);
  }
}

Samples PlannedSamples::make() const {
  Samples out = outline_;
  out.materialize();
  parallel_for(
      out.size(), [&](int64_t i) { return cost(i); }, [&](int64_t i) { make_sample(out, i); });
  return out;
}

}  // namespace daliesque
