// SPDX-License-Identifier: Apache-2.0
// Exercises the thread pool, the buffer pool and Samples from several threads at once. Run under a
// sanitizer, which is what finds the faults; the checks here only make sure that work was done.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "core/convert.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/planned.h"
#include "core/samples.h"

using namespace daliesque;
using testing::check;
using testing::passed;

namespace {

Samples ramp(int64_t count, int64_t extent) {
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < count; i++) shapes.insert(shapes.end(), {extent + i, extent});
  Samples samples = Samples::empty(DType::int32, 2, shapes, "HW", count);
  for (int64_t i = 0; i < count; i++) {
    auto* data = samples.data<int32_t>(i);
    std::iota(data, data + samples.volume(i), 0);
  }
  return samples;
}

void loops_share_the_pool() {
  ThreadPool pool(4);
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int k = 0; k < 4; k++) {
    callers.emplace_back([&] {
      auto handle = std::make_shared<ThreadPool>(3);
      exchange_current_pool(handle);
      for (int round = 0; round < 200; round++) {
        parallel_for(
            64, [](int64_t i) { return 10e3 * static_cast<double>(i % 5 + 1); },
            [&](int64_t i) { total.fetch_add(i); });
      }
      exchange_current_pool(nullptr);
    });
  }
  for (auto& caller : callers) caller.join();
  check(total.load() == 4 * 200 * (64 * 63 / 2), "every iteration runs once");
}

void lowest_error_wins() {
  ThreadPool pool(4);
  for (int round = 0; round < 50; round++) {
    std::atomic<int> ran{0};
    int caught = -1;
    try {
      auto body = [&](int64_t i) {
        ran.fetch_add(1);
        if (i % 7 == 3) throw static_cast<int>(i);
      };
      pool.run(
          40, nullptr,
          [](void* context, int64_t i) { (*static_cast<decltype(body)*>(context))(i); }, &body);
    } catch (int index) {
      caught = index;
    }
    check(caught == 3, "the error of the lowest index comes out");
    check(ran.load() == 40, "the other iterations run all the same");
  }
}

void buffers_are_never_shared() {
  std::vector<std::thread> users;
  for (int k = 0; k < 4; k++) {
    users.emplace_back([k] {
      for (int round = 0; round < 300; round++) {
        const size_t bytes = 5000 + static_cast<size_t>(round % 13) * 9000;
        Buffer buffer = allocate(bytes);
        auto* data = static_cast<uint8_t*>(buffer.get());
        std::fill(data, data + bytes, static_cast<uint8_t>(k));
        for (size_t i = 0; i < bytes; i += 97) check(data[i] == k, "nobody else writes here");
        if (round % 50 == 0) release_memory();
      }
    });
  }
  for (auto& user : users) user.join();
  release_memory();
  check(memory_info().cached_bytes == 0, "released memory is gone");
}

void views_and_copies() {
  const Samples samples = ramp(5, 40);
  Samples sum = Samples::empty_like(samples, DType::float32);
  cast(sum, samples);
  check(sum.data<float>(4)[7] == 7.0f, "cast");
  const std::vector<int64_t> chosen{4, 0, 4};
  const Samples some = samples.select(chosen);
  check(some.size() == 3 && some.data(0) == samples.data(4), "select shares memory");
  std::vector<Samples::Range> ranges;
  for (int64_t i = 0; i < samples.size(); i++) {
    ranges.push_back({samples.shape(i)[0] - 1, samples.shape(i)[0], -1});
    ranges.push_back({3, 1, 1});
  }
  const Samples flipped = clone(samples.slice(ranges, {false, true}, "H"));
  check(flipped.ndim() == 1 && flipped.data<int32_t>(1)[0] == 40 * 40 + 3, "slice and copy");
  const Samples frames = samples.unfold();
  check(frames.size() == 40 + 41 + 42 + 43 + 44, "unfold");
  const std::vector<int64_t> counts{40, 41, 42, 43, 44};
  check(frames.fold(counts, "HW").data(3) == samples.data(3), "fold");
}

/// Adds the number of the sample to each of its elements, and fails for one of them.
class AddNumber : public Stage {
 public:
  AddNumber(Samples outline, int64_t failing) : Stage(std::move(outline)), failing_(failing) {}
  void run(Samples& out, const Samples& in, int64_t first) const override {
    for (int64_t i = 0; i < in.size(); i++) {
      if (first + i >= failing_) throw std::runtime_error(std::to_string(first + i));
      for (int64_t k = 0; k < in.volume(i); k++) {
        out.data<int32_t>(i)[k] = in.data<int32_t>(i)[k] + static_cast<int32_t>(first + i);
      }
    }
  }

 private:
  int64_t failing_;
};

void plans_run_sample_by_sample() {
  constexpr int64_t kCount = 50, kNever = 1000;
  const auto pool = std::make_shared<ThreadPool>(4);
  exchange_current_pool(pool);
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < kCount; i++) shapes.push_back(5000 + i);
  Samples source = Samples::empty(DType::int32, 1, shapes, "", kCount);
  for (int64_t i = 0; i < kCount; i++) std::fill_n(source.data<int32_t>(i), source.volume(i), 7);
  const Samples outline = Samples::outline_like(source);
  check(outline.data(3) == nullptr, "an outline has no memory");
  PlannedSamples planned(source, std::make_shared<AddNumber>(outline, kNever));
  for (int k = 0; k < 2; k++) planned.append(std::make_shared<AddNumber>(outline, kNever));
  reset_memory_peak();
  const int64_t before = memory_info().used_buffers;
  const Samples made = planned.make();
  // The result, and of each thread the input and output of a kernel.
  check(memory_info().peak_buffers - before <= 1 + 2 * 4, "nothing is kept in between");
  check(made.packed(), "one buffer");
  for (int64_t i = 0; i < kCount; i++) {
    const auto* data = made.data<int32_t>(i);
    check(std::all_of(data, data + made.volume(i), [&](int32_t v) { return v == 7 + 3 * i; }),
          "each sample goes through all stages");
  }
  planned.append(std::make_shared<AddNumber>(outline, 20));
  std::string thrown;
  try {
    planned.make();
  } catch (const std::runtime_error& error) {
    thrown = error.what();
  }
  check(thrown == "20", "the first failure comes out");
  exchange_current_pool(nullptr);
}

void a_forked_child_has_a_working_pool() {
  ThreadPool pool(3);
  std::atomic<int> ran{0};
  auto body = [&](int64_t) { ran.fetch_add(1); };
  const auto run = [&] {
    pool.run(
        100, nullptr, [](void* context, int64_t i) { (*static_cast<decltype(body)*>(context))(i); },
        &body);
  };
  run();
  const pid_t child = fork();
  if (child == 0) {
    run();
    _exit(ran.load() == 200 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  check(status == 0, "the child's loop ran");
}

}  // namespace

int main() {
  loops_share_the_pool();
  lowest_error_wins();
  buffers_are_never_shared();
  views_and_copies();
  plans_run_sample_by_sample();
#ifndef __SANITIZE_THREAD__
  a_forked_child_has_a_working_pool();
#endif
  return passed("core_test");
}
