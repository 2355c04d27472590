// SPDX-License-Identifier: Apache-2.0
#include "resize/resample_plan.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <numeric>
#include <utility>

namespace daliesque::resize {

namespace {

/// Most recently used first.
constexpr size_t kCachedTables = 32;

TablePtr find_table(const AxisSampling& key) {
  thread_local std::list<std::pair<AxisSampling, TablePtr>> cache;
  for (auto entry = cache.begin(); entry != cache.end(); ++entry) {
    if (entry->first == key) {
      cache.splice(cache.begin(), cache, entry);
      return cache.front().second;
    }
  }
  cache.emplace_front(key, build_table(key));
  if (cache.size() > kCachedTables) cache.pop_back();
  return cache.front().second;
}

/// The cheapest order of passes by the reference's estimate, which counts taps and output volume
/// of each pass. Axes are numbered from the innermost here, as in the reference.
class OrderSearch {
 public:
  OrderSearch(std::vector<int64_t> in, std::vector<int64_t> out, std::vector<int> support)
      : size_(std::move(in)), out_(std::move(out)), support_(std::move(support)) {
    used_.assign(size_.size(), false);
    current_.resize(size_.size());
    std::iota(current_.begin(), current_.end(), 0);
    best_ = current_;
  }

  std::vector<int> run() {
    visit(0, 0);
    return best_;
  }

 private:
  float pass_cost(size_t axis) const {
    int64_t volume = 1;
    for (const int64_t extent : size_) volume *= extent;
    const float weight = axis == 0 ? 1.4f : axis > 1 ? 1.2f : 1.0f;
    const auto base = static_cast<float>(support_[axis] * volume);
    return weight * base + static_cast<float>(volume) * 3.0f;
  }

  void visit(size_t pass, float total) {
    if (total >= best_cost_) return;
    if (pass == size_.size()) {
      best_cost_ = total;
      best_ = current_;
      return;
    }
    for (size_t axis = 0; axis < size_.size(); axis++) {
      if (used_[axis]) continue;
      used_[axis] = true;
      const int64_t before = std::exchange(size_[axis], out_[axis]);
      current_[pass] = static_cast<int>(axis);
      visit(pass + 1, total + pass_cost(axis));
      size_[axis] = before;
      used_[axis] = false;
    }
  }

  std::vector<int64_t> size_, out_;
  std::vector<int> support_, current_, best_;
  std::vector<bool> used_;
  float best_cost_ = 1e30f;
};

/// The part of the input that an axis needs, by the reference's estimate.
InputRange needed_range(const AxisRequest& axis, const ResampleFilter& filter) {
  const float low = std::min(axis.start, axis.end) - filter.anchor;
  const float high =
      std::max(axis.start, axis.end) - filter.anchor + static_cast<float>(filter.support());
  const auto limit = static_cast<float>(axis.in_size);
  return {static_cast<int64_t>(std::clamp(std::floor(low), 0.0f, limit)),
          static_cast<int64_t>(std::clamp(std::ceil(high), 0.0f, limit))};
}

}  // namespace

ResamplePlan make_resample_plan(std::span<const AxisRequest> axes) {
  const size_t count = axes.size();
  std::vector<ResampleFilter> filters;
  std::vector<InputRange> needed;
  std::vector<int64_t> extents, out;
  std::vector<int> support;
  for (size_t i = count; i-- > 0;) {  // innermost first
    const AxisRequest& axis = axes[i];
    filters.push_back(choose_filter(axis.min_filter, axis.mag_filter, axis.antialias,
                                    std::abs(axis.end - axis.start),
                                    static_cast<float>(axis.out_size)));
    needed.push_back(needed_range(axis, filters.back()));
    extents.push_back(needed.back().end - needed.back().begin);
    out.push_back(axis.out_size);
    support.push_back(filters.back().support());
  }
  const auto order = OrderSearch(std::move(extents), std::move(out), std::move(support)).run();
  ResamplePlan plan;
  plan.axes.resize(count);
  plan.pure_nearest = true;
  for (size_t inner = 0; inner < count; inner++) {
    const AxisRequest& axis = axes[count - 1 - inner];
    plan.pure_nearest &= filters[inner].type == Interp::nearest;
    // The first pass works on the whole input, the others on the part that is needed.
    const int64_t shift = order[0] == static_cast<int>(inner) ? 0 : needed[inner].begin;
    plan.axes[count - 1 - inner] =
        find_table({.in_size = axis.in_size,
                    .out_size = axis.out_size,
                    .shift = shift,
                    .origin = axis.start - static_cast<float>(shift),
                    .step = (axis.end - axis.start) / static_cast<float>(axis.out_size),
                    .filter = filters[inner],
                    .innermost = inner == 0});
  }
  for (const int inner : order) plan.order.push_back(static_cast<int>(count) - 1 - inner);
  return plan;
}

}  // namespace daliesque::resize
