// SPDX-License-Identifier: Apache-2.0
// The native thread pool and the loops that kernels run on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/function_ref.h"

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

/// Runs body(i) for i in [0, count). `cost(i)` estimates nanoseconds; big iterations start first.
void parallel_for(int64_t count, FunctionRef<double(int64_t)> cost,
                  FunctionRef<void(int64_t)> body);

/// Cuts [0, extent(i)) of each of `count` samples into pieces of similar cost, so that one big
/// sample keeps all threads busy, and runs body(i, begin, end) for each piece.
/// `unit_cost(i)` estimates the nanoseconds of one unit of sample i.
void parallel_slices(int64_t count, FunctionRef<int64_t(int64_t)> extent,
                     FunctionRef<double(int64_t)> unit_cost,
                     FunctionRef<void(int64_t, int64_t, int64_t)> body);

}  // namespace daliesque
