// SPDX-License-Identifier: Apache-2.0
#include "core/planned.h"

#include <span>

#include "core/parallel.h"
#include "core/trace.h"

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
  steps_.push_back({std::move(stage), thread_clock().meter()});
}

double PlannedSamples::cost(int64_t i) const {
  double total = 0, read = bytes_of(*source_, i);
  for (const Step& step : steps_) {
    if (&step != &steps_.back() && step.stage->keeps(i)) continue;
    const double written = bytes_of(step.stage->outline(), i);
    total += step.stage->read_cost(i, read) + written * kWriteCost;
    read = written;
  }
  return total;
}

/// Runs step k for sample i, or if the next one takes a window of what it makes, both at once: the
/// rest is not made. Returns which step was the last.
size_t PlannedSamples::run_step(Samples& data, const Samples& out, int64_t i, size_t k) const {
  const Stage& stage = *steps_[k].stage;
  std::optional<CropWindow> window;
  if (k + 1 < steps_.size() && stage.makes_windows()) {
    window = steps_[k + 1].stage->window(i, stage.outline());
  }
  const size_t last = window ? k + 1 : k;
  const bool is_last = last + 1 == steps_.size();
  Samples next = sample_of(is_last ? out : steps_[last].stage->outline(), i);
  if (!is_last) next.materialize();
  if (window) {
    stage.run_window(next, data, i, *window);
  } else {
    stage.run(next, data, i);
  }
  data = std::move(next);
  return last;
}

void PlannedSamples::make_sample(Samples& out, int64_t i, std::vector<Count>& spent) const {
  Samples data = sample_of(*source_, i);
  for (size_t k = 0, last = 0; k < steps_.size(); k = last + 1) {
    const auto& [stage, meter] = steps_[k];
    last = k;
    if (k + 1 < steps_.size() && stage->keeps(i)) continue;
    const int64_t begin = clock_now();
    last = run_step(data, out, i, k);
    const int64_t end = clock_now();
    spent[k].add(end - begin);
    if (meter && tracing()) {
      trace({.kind = TraceEvent::Kind::loop,
             .begin = begin,
             .end = end,
             .name = meter->name,
             .samples = 1});
    }
  }
}

Samples PlannedSamples::make() const {
  Samples out = outline_;
  out.materialize();
  std::vector<Count> spent(steps_.size());
  const int64_t begin = clock_now();
  parallel_for(
      out.size(), [&](int64_t i) { return cost(i); },
      [&](int64_t i) { make_sample(out, i, spent); });
  const auto wall = static_cast<double>(clock_now() - begin);
  // Each kernel has its part of the time that all of them took together.
  double total = 0;
  for (const Count& nanoseconds : spent) total += static_cast<double>(nanoseconds.value());
  for (size_t k = 0; total > 0 && k < steps_.size(); k++) {
    if (!steps_[k].meter) continue;
    const int64_t own = spent[k].value();
    steps_[k].meter->helpers_cpu.add(own);
    steps_[k].meter->shared_wall.add(static_cast<int64_t>(wall * static_cast<double>(own) / total));
  }
  return out;
}

Samples PlannedSamples::run_on(const Samples& in) const {
  Samples data = in;
  for (const Step& step : steps_) {
    Samples next = &step == &steps_.back() ? outline_ : step.stage->outline();
    next.materialize();
    step.stage->run(next, data, 0);
    data = std::move(next);
  }
  return data;
}

}  // namespace daliesque
