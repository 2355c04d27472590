// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "core/meter.h"

namespace daliesque {

namespace {

thread_local bool in_loop = false;

PoolHandle& thread_pool() {
  thread_local PoolHandle pool;
  return pool;
}

struct DefaultPool {
  std::mutex mutex;
  PoolHandle pool;
};

/// Never destroyed: threads may still run at exit.
DefaultPool& default_slot() {
  static auto* slot = new DefaultPool;
  return *slot;
}

std::atomic<uint64_t> fork_count{0};

void watch_forks() {
  static const bool watching = [] {
    pthread_atfork([] { default_slot().mutex.lock(); }, [] { default_slot().mutex.unlock(); },
                   [] {
                     default_slot().mutex.unlock();
                     fork_count.fetch_add(1);
                   });
    return true;
  }();
  (void)watching;
}

/// Spinning this long before sleeping catches the next kernel of a busy pipeline without paying
/// for a wake-up, which takes tens of microseconds in a virtual machine.
constexpr auto kSpin = std::chrono::microseconds(30);

/// A thread that spun in vain does not spin the next few times: in a program with long pauses
/// between its kernels, that would only cost.
constexpr unsigned kSpinEvery = 8;

/// How long to make do with fewer threads before asking for them again.
constexpr auto kRetryThreads = std::chrono::seconds(1);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

template <class Ready>
bool spin_until(Ready&& ready) {
  const auto deadline = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; i++) {
      if (ready()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return ready();
}

/// The indices in the order of descending costs.
std::vector<int64_t> by_falling_cost(const std::vector<double>& costs) {
  std::vector<int64_t> order(costs.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return costs[static_cast<size_t>(a)] > costs[static_cast<size_t>(b)];
  });
  return order;
}

}  // namespace

/// One loop in progress. Threads draw iterations from `next`.
struct ParallelLoop {
  ParallelLoop(int64_t count, const int64_t* order, ThreadPool::Body body, void* context)
      : count(count), order(order), body(body), context(context) {}

  int64_t count;
  const int64_t* order;
  ThreadPool::Body body;
  void* context;
  std::atomic<int64_t> next{0};
  std::mutex error_mutex;
  int64_t error_index = std::numeric_limits<int64_t>::max();
  std::exception_ptr error;
  // What the loop is part of.
  Meter* meter = thread_clock().meter();

  // NOLINTNEXTLINE(bugprone-exception-escape): a mutex that is used properly does not throw.
  void help() noexcept {
    const HelperScope scope(meter);
    work();
  }

  void work() {
    in_loop = true;
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      const int64_t index = order ? order[i] : i;
      try {
        body(context, index);
      } catch (...) {
        std::lock_guard lock(error_mutex);
        if (index < error_index) {
          error_index = index;
          error = std::current_exception();
        }
      }
    }
    in_loop = false;
  }
};

struct ThreadPool::State {
  std::mutex submit;  // one loop at a time
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<uint64_t> generation{0};
  ParallelLoop* loop = nullptr;  // guarded by mutex
  std::atomic<int> helpers{0};   // workers inside the current loop; raised under mutex
  bool stopping = false;         // guarded by mutex
  uint64_t fork_number = fork_count.load();
  std::vector<std::thread> workers;  // guarded by submit
  size_t wanted;
  std::chrono::steady_clock::time_point retry{};

  explicit State(int worker_count) : wanted(static_cast<size_t>(worker_count)) {
    workers.reserve(wanted);
  }

  /// Starts the threads that are missing. If the system has none to give (a limit of processes, of
  /// memory), loops run with those that there are, and it is asked again from time to time.
  void start_missing() {
    if (std::chrono::steady_clock::now() < retry) return;
    try {
      while (workers.size() < wanted) workers.emplace_back([this] { serve(); });
    } catch (const std::exception&) {
      retry = std::chrono::steady_clock::now() + kRetryThreads;
    }
  }

  void stop() {
    {
      std::lock_guard lock(mutex);
      stopping = true;
      generation.fetch_add(1);
    }
    wake.notify_all();
    for (auto& worker : workers) worker.join();
  }

  // NOLINTNEXTLINE(bugprone-exception-escape): a mutex that is used properly does not throw.
  void serve() noexcept {
    uint64_t seen = 0;
    unsigned in_vain = 0;  // how often there was nothing to do since spinning was of use
    thread_clock().role = kPoolRole;
    for (;;) {
      const auto has_work = [&] { return generation.load(std::memory_order_acquire) != seen; };
      if (in_vain % kSpinEvery == 0 && spin_until(has_work)) {
        in_vain = 0;
      } else {
        in_vain++;
      }
      ParallelLoop* mine = nullptr;
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return generation.load() != seen; });
        if (stopping) return;
        seen = generation.load();
        mine = loop;
        if (mine) helpers.fetch_add(1);
      }
      if (!mine) continue;
      mine->help();
      if (helpers.fetch_sub(1, std::memory_order_acq_rel) == 1) helpers.notify_one();
    }
  }

  void run(ParallelLoop& work) {
    if (workers.size() < wanted) start_missing();
    {
      std::lock_guard lock(mutex);
      loop = &work;
      generation.fetch_add(1, std::memory_order_release);
    }
    const int64_t useful = std::min<int64_t>(work.count - 1, static_cast<int64_t>(workers.size()));
    if (useful < static_cast<int64_t>(workers.size())) {
      for (int64_t i = 0; i < useful; i++) wake.notify_one();
    } else {
      wake.notify_all();
    }
    work.work();
    {
      std::lock_guard lock(mutex);
      loop = nullptr;  // a worker that wakes late finds nothing and is not waited for
    }
    spin_until([&] { return helpers.load(std::memory_order_acquire) == 0; });
    for (int left; (left = helpers.load(std::memory_order_acquire)) != 0;) helpers.wait(left);
  }
};

ThreadPool::ThreadPool(int num_threads) : num_threads_(num_threads) { watch_forks(); }

// A thread of the pool is never the one that destroys it: whoever runs a loop holds a handle.
// NOLINTNEXTLINE(bugprone-exception-escape): hence locks and joins do not throw.
ThreadPool::~ThreadPool() {
  State* state = state_.load();
  // The threads of a pool inherited through fork do not exist: its state is left alone.
  if (!state || state->fork_number != fork_count.load()) return;
  state->stop();
  delete state;
}

ThreadPool::State* ThreadPool::live_state() {
  State* state = state_.load(std::memory_order_acquire);
  if (state && state->fork_number == fork_count.load()) return state;
  auto fresh = std::make_unique<State>(num_threads_ - 1);
  if (state_.compare_exchange_strong(state, fresh.get())) return fresh.release();
  return state;
}

void ThreadPool::run(int64_t count, const int64_t* order, Body body, void* context) {
  ParallelLoop loop(count, order, body, context);
  State* state = num_threads_ > 1 && !in_loop ? live_state() : nullptr;
  if (state && state->submit.try_lock()) {
    std::lock_guard lock(state->submit, std::adopt_lock);
    const DividedTime divided;
    state->run(loop);
  } else {
    // Another thread uses the workers: the caller's own core is the one that is left.
    const bool nested = in_loop;
    loop.work();
    in_loop = nested;
  }
  if (loop.error) std::rethrow_exception(loop.error);
}

PoolHandle default_pool() {
  auto& slot = default_slot();
  std::lock_guard lock(slot.mutex);
  if (!slot.pool) {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    slot.pool = std::make_shared<ThreadPool>(static_cast<int>(cores));
  }
  return slot.pool;
}

void set_default_pool(PoolHandle pool) {
  auto& slot = default_slot();
  std::lock_guard lock(slot.mutex);
  slot.pool.swap(pool);
}

PoolHandle current_pool() { return thread_pool() ? thread_pool() : default_pool(); }

PoolHandle exchange_current_pool(PoolHandle pool) {
  thread_pool().swap(pool);
  return pool;
}

namespace {

/// A loop that more threads would share, if there were any.
void run_alone(int64_t count, FunctionRef<void(int64_t)> body) {
  const DividedTime divided;
  for (int64_t i = 0; i < count; i++) body(i);
}

}  // namespace

void parallel_for(int64_t count, FunctionRef<double(int64_t)> cost,
                  FunctionRef<void(int64_t)> body) {
  const PoolHandle pool = current_pool();
  double total = 0;
  bool worth = count > 1 && !in_loop;
  if (worth) {
    for (int64_t i = 0; i < count; i++) total += cost(i);
    worth = total >= kInlineCost;
  }
  if (!worth) {
    for (int64_t i = 0; i < count; i++) body(i);
    return;
  }
  if (pool->num_threads() == 1) return run_alone(count, body);
  std::vector<double> costs(static_cast<size_t>(count));
  bool uneven = false;
  for (int64_t i = 0; i < count; i++) {
    costs[static_cast<size_t>(i)] = cost(i);
    uneven |= costs[static_cast<size_t>(i)] != costs[0];
  }
  std::vector<int64_t> order;
  if (uneven) order = by_falling_cost(costs);
  pool->run(
      count, uneven ? order.data() : nullptr,
      [](void* context, int64_t i) { (*static_cast<FunctionRef<void(int64_t)>*>(context))(i); },
      &body);
}

void parallel_slices(int64_t count, FunctionRef<int64_t(int64_t)> extent,
                     FunctionRef<double(int64_t)> unit_cost,
                     FunctionRef<void(int64_t, int64_t, int64_t)> body) {
  double total = 0;
  for (int64_t i = 0; i < count; i++) total += static_cast<double>(extent(i)) * unit_cost(i);
  const PoolHandle pool = current_pool();
  if (total < kInlineCost || pool->num_threads() == 1 || in_loop) {
    const auto whole = [&](int64_t i) {
      const int64_t units = extent(i);
      if (units > 0) body(i, 0, units);
    };
    if (total >= kInlineCost && !in_loop) return run_alone(count, whole);
    for (int64_t i = 0; i < count; i++) whole(i);
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
    const double unit = unit_cost(i);
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
