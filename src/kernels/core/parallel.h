// SPDX-License-Identifier: Apache-2.0
// The native thread pool and the loops that kernels run on it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace daliesque {

/// A fixed number of threads that share the iterations of a loop; the calling thread is one of
/// them. Threads start on first use. A pool found in a forked child starts new threads.
class ThreadPool {
 public:
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return num_threads_; }

  using Body = void (*)(void* context, int64_t index);

  /// Runs body(context, order[i]) (or i, if `order` is null) for i in [0, count), in that order as
  /// far as threads allow. If iterations throw, all others still run and the exception of the
  /// lowest index comes out.
  void run(int64_t count, const int64_t* order, Body body, void* context);

 private:
  struct State;
  State* live_state();

  int num_threads_;
  std::atomic<State*> state_{nullptr};
};

using PoolHandle = std::shared_ptr<ThreadPool>;

/// The pool that loops on this thread use: its own, if set, or the process-wide default.
PoolHandle current_pool();

/// Sets this thread's pool (null: the default one) and returns the previous setting.
PoolHandle exchange_current_pool(PoolHandle pool);

/// The process-wide default pool and its replacement.
PoolHandle default_pool();
void set_default_pool(PoolHandle pool);

/// Work below this many nanoseconds is done by the caller alone: waking a thread costs more.
constexpr double kInlineCost = 150e3;

namespace parallel_detail {
/// Sorts indices by descending cost.
std::vector<int64_t> by_falling_cost(const std::vector<double>& costs);
bool inside_loop();
}  // namespace parallel_detail

/// Runs body(i) for i in [0, count). `cost(i)` estimates nanoseconds; big iterations start first.
template <class Cost, class Body>
void parallel_for(int64_t count, Cost&& cost, Body&& body) {
  const PoolHandle pool = current_pool();
  double total = 0;
  bool worth = count > 1 && pool->num_threads() > 1 && !parallel_detail::inside_loop();
  if (worth) {
    for (int64_t i = 0; i < count; i++) total += static_cast<double>(cost(i));
    worth = total >= kInlineCost;
  }
  using Plain = std::remove_reference_t<Body>;
  if (!worth) {
    for (int64_t i = 0; i < count; i++) body(i);
    return;
  }
  std::vector<double> costs(static_cast<size_t>(count));
  bool uneven = false;
  for (int64_t i = 0; i < count; i++) {
    costs[static_cast<size_t>(i)] = static_cast<double>(cost(i));
    uneven |= costs[static_cast<size_t>(i)] != costs[0];
  }
  std::vector<int64_t> order;
  if (uneven) order = parallel_detail::by_falling_cost(costs);
  pool->run(
      count, uneven ? order.data() : nullptr,
      [](void* context, int64_t i) { (*static_cast<Plain*>(context))(i); }, &body);
}

/// Cuts [0, extent(i)) of each of `count` samples into pieces of similar cost, so that one big
/// sample keeps all threads busy, and runs body(i, begin, end) for each piece.
/// `unit_cost(i)` estimates the nanoseconds of one unit of sample i.
template <class Extent, class UnitCost, class Body>
void parallel_slices(int64_t count, Extent&& extent, UnitCost&& unit_cost, Body&& body) {
  double total = 0;
  for (int64_t i = 0; i < count; i++) {
    total += static_cast<double>(extent(i)) * static_cast<double>(unit_cost(i));
  }
  const PoolHandle pool = current_pool();
  if (total < kInlineCost || pool->num_threads() == 1 || parallel_detail::inside_loop()) {
    for (int64_t i = 0; i < count; i++) {
      const int64_t units = extent(i);
      if (units > 0) body(i, int64_t{0}, units);
    }
    return;
  }
  struct Piece {
    int64_t sample, begin, end;
    double cost;
  };
  const double target = std::max(total / (pool->num_threads() * 4), 20e3);
  std::vector<Piece> pieces;
  for (int64_t i = 0; i < count; i++) {
    const int64_t units = extent(i);
    if (units <= 0) continue;
    const double unit = static_cast<double>(unit_cost(i));
    const double wanted = static_cast<double>(units) * unit / target;
    const int64_t parts = std::max<int64_t>(1, std::min(units, static_cast<int64_t>(wanted)));
    for (int64_t p = 0; p < parts; p++) {
      const int64_t begin = units * p / parts, end = units * (p + 1) / parts;
      pieces.push_back({i, begin, end, static_cast<double>(end - begin) * unit});
    }
  }
  parallel_for(
      static_cast<int64_t>(pieces.size()),
      [&](int64_t p) { return pieces[static_cast<size_t>(p)].cost; },
      [&](int64_t p) {
        const Piece& piece = pieces[static_cast<size_t>(p)];
        body(piece.sample, piece.begin, piece.end);
      });
}

}  // namespace daliesque
