// SPDX-License-Identifier: Apache-2.0
#include "core/meter.h"

#include <pthread.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <utility>

#include "core/trace.h"

namespace daliesque {

Totals totals;

namespace {

// Shorter calls are taken to use the processor all the time: the clock that says it takes a call of
// the system. Every so many calls are looked at nevertheless.
constexpr int64_t kLeastMeasured = 20'000;
constexpr int64_t kSampledCalls = 64;

struct MeterList {
  std::mutex mutex;
  std::deque<Meter> meters;
  std::atomic<int64_t> generation{0};
};

int64_t steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

#if defined(__x86_64__)
/// The processor's counter of time, which is read in half the time that the system's clock takes.
/// How fast it counts is found by comparing both, from when the library is loaded on.
struct Ticks {
  static constexpr int64_t kLeastNanoseconds = 20'000'000;

  uint64_t first = __rdtsc();
  int64_t began = steady_now();
  // Nanoseconds for each tick, times 2^32; 0 until that is known.
  std::atomic<uint64_t> scale{0};
  bool steady = is_steady();

  static bool is_steady() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
  }

  /// The time by the system's clock; as soon as that is good enough, the scale as well.
  int64_t find_scale() {
    const int64_t now = steady_now();
    const uint64_t passed = __rdtsc() - first;
    if (steady && now - began >= kLeastNanoseconds && passed > 0) {
      scale.store(static_cast<uint64_t>(static_cast<double>(now - began) * 4294967296.0 /
                                        static_cast<double>(passed)),
                  std::memory_order_relaxed);
    }
    return now;
  }
};

Ticks ticks;
#endif

void clear_meters();

/// Never destroyed: threads may still run at exit.
MeterList& meter_list() {
  static auto* list = [] {
    auto* made = new MeterList;
    pthread_atfork([] { meter_list().mutex.lock(); }, [] { meter_list().mutex.unlock(); },
                   [] {
                     clear_meters();
                     meter_list().mutex.unlock();
                   });
    return made;
  }();
  return *list;
}

void clear_meters() {
  for (Meter& meter : meter_list().meters) {
    for (Tally* tally : {&meter.calls, &meter.failures, &meter.samples, &meter.bytes_in,
                         &meter.bytes_out, &meter.wall, &meter.cpu, &meter.queued}) {
      tally->clear();
    }
    for (Count* count :
         {&meter.helpers_cpu, &meter.shared_wall, &meter.file_time, &meter.file_bytes}) {
      count->clear();
    }
  }
  totals.divided.clear();
  for (Tally* tally :
       {&totals.consumer_wait, &totals.producer_wait, &totals.busy, &totals.loop_wall,
        &totals.loop_wait, &totals.loop_steps, &totals.loop_samples, &totals.ahead_steps,
        &totals.replay_wall, &totals.replay_steps, &totals.replay_samples}) {
    tally->clear();
  }
  totals.first = totals.last = 0;
  meter_list().generation++;
}

/// Notes that a consumer waited.
void count_wait(ThreadClock& thread, int64_t begin, int64_t end) {
  thread.waited += end - begin;
  totals.consumer_wait.add(end - begin);
  if (totals.first.load(std::memory_order_relaxed) == 0) totals.first = begin;
  totals.last.store(end, std::memory_order_relaxed);
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): to read the processor's counter throws nothing.
int64_t clock_now() noexcept {
#if defined(__x86_64__)
  const uint64_t scale = ticks.scale.load(std::memory_order_relaxed);
  if (scale != 0) {
    __extension__ using Wide = unsigned __int128;
    const Wide passed = static_cast<Wide>(__rdtsc() - ticks.first) * scale;
    return ticks.began + static_cast<int64_t>(passed >> 32);
  }
  return ticks.find_scale();
#else
  return steady_now();
#endif
}

int64_t thread_cpu_now() noexcept {
  timespec now;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return 0;
  return int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

Meter& make_meter(Meter::Kind kind, std::string_view name) {
  std::lock_guard lock(meter_list().mutex);
  auto& meters = meter_list().meters;
  const auto found = std::ranges::find_if(
      meters, [&](const Meter& meter) { return meter.kind == kind && meter.name == name; });
  return found != meters.end() ? *found : meters.emplace_back(kind, std::string(name));
}

std::vector<const Meter*> all_meters() {
  std::lock_guard lock(meter_list().mutex);
  std::vector<const Meter*> found;
  for (const Meter& meter : meter_list().meters) found.push_back(&meter);
  return found;
}

int64_t meter_generation() { return meter_list().generation; }

ThreadClock& thread_clock() noexcept {
  thread_local ThreadClock clock;
  return clock;
}

Meter* ThreadClock::meter() const noexcept {
  for (const Scope* scope = top; scope; scope = scope->outer()) {
    if (scope->meter()) return scope->meter();
  }
  return helping;
}

Scope::Scope(Meter* meter) noexcept
    : meter_(meter), thread_(thread_clock()), outer_(thread_.top), begin_(clock_now()) {
  thread_.top = this;
  waits_ = !outer_ && !thread_.role && !thread_.stepping && thread_.waits == 0;
  if (meter && (meter->last.load(std::memory_order_relaxed) >= kLeastMeasured ||
                meter->calls.value() % kSampledCalls == 0)) {
    begin_cpu_ = thread_cpu_now();
  }
  if (thread_.queued_since) {
    if (meter) meter->queued.add(begin_ - thread_.queued_since);
    thread_.queued_since = 0;
    mark_ = thread_.queued;
  } else if (!outer_) {
    mark_ = thread_.calling;
  }
}

void Scope::count(int64_t calls, int64_t samples, int64_t bytes_in, int64_t bytes_out) {
  samples_ = samples;
  bytes_ = bytes_out;
  if (!meter_) return;
  meter_->calls.add(calls);
  meter_->samples.add(samples);
  meter_->bytes_in.add(bytes_in);
  meter_->bytes_out.add(bytes_out);
}

void Scope::count_failure() {
  if (!meter_) return;
  meter_->calls.add(1);
  meter_->failures.add(1);
}

void Scope::close() noexcept {
  if (!open_) return;
  open_ = false;
  const int64_t end = clock_now(), wall = end - begin_;
  const int64_t cpu = begin_cpu_ < 0 ? wall : thread_cpu_now() - begin_cpu_;
  thread_.top = outer_;
  if (outer_) {
    outer_->inner_wall_ += wall;
    outer_->inner_cpu_ += cpu;
  } else if (!thread_.helps && (!meter_ || meter_->kind == Meter::Kind::operation)) {
    totals.busy.add(wall);
  }
  if (waits_) count_wait(thread_, begin_, end);
  if (meter_) {
    meter_->wall.add(wall - inner_wall_);
    meter_->cpu.add(std::max<int64_t>(0, cpu - inner_cpu_));
    meter_->last.store(wall, std::memory_order_relaxed);
    if (tracing()) {
      trace({.kind = TraceEvent::Kind::run,
             .begin = begin_,
             .end = end,
             .name = meter_->name,
             .site = mark_.site,
             .samples = samples_,
             .bytes = bytes_,
             .flow = mark_.number,
             .part = TraceEvent::Flow::goes_on});
    }
  }
}

ConsumerWait::ConsumerWait() : thread_(thread_clock()), begin_(-1) {
  const bool outermost = thread_.waits++ == 0;
  if ((outermost && !thread_.role && !thread_.stepping && !thread_.top) || tracing()) {
    begin_ = clock_now();
  }
}

ConsumerWait::~ConsumerWait() {
  const bool outermost = --thread_.waits == 0;
  if (begin_ < 0) return;
  const int64_t end = clock_now();
  if (outermost && !thread_.role && !thread_.stepping && !thread_.top) {
    count_wait(thread_, begin_, end);
  }
  if (outermost && tracing()) {
    trace({.kind = TraceEvent::Kind::wait, .begin = begin_, .end = end, .name = "wait"});
  }
}

ProducerWait::~ProducerWait() {
  const int64_t end = clock_now();
  totals.producer_wait.add(end - begin_);
  if (tracing()) {
    trace({.kind = TraceEvent::Kind::wait, .begin = begin_, .end = end, .name = "is ahead"});
  }
}

DividedTime::DividedTime() : thread_(thread_clock()) {
  if (thread_.divisions++ > 0 || !thread_.top || thread_.helps) return;
  const Meter* meter = thread_.meter();
  if (!meter || meter->kind == Meter::Kind::operation) begin_ = clock_now();
}

DividedTime::~DividedTime() {
  thread_.divisions--;
  if (begin_ >= 0) totals.divided.add(clock_now() - begin_);
}

HelperScope::HelperScope(Meter* meter) noexcept
    : meter_(meter),
      thread_(thread_clock()),
      previous_(std::exchange(thread_.helping, meter)),
      helped_(std::exchange(thread_.helps, true)),
      scope_(nullptr),
      begin_(clock_now()),
      begin_cpu_(thread_cpu_now()) {
  // The threads of a reader's pool help nobody else.
  if (meter && meter->kind == Meter::Kind::reader && thread_.role == kPoolRole) {
    thread_.role = kReaderPoolRole;
  }
}

HelperScope::~HelperScope() {
  const int64_t cpu = thread_cpu_now() - begin_cpu_ - scope_.inner_cpu_;
  scope_.close();
  thread_.helping = previous_;
  thread_.helps = helped_;
  if (!meter_) return;
  meter_->helpers_cpu.add(std::max<int64_t>(0, cpu));
  if (tracing()) {
    trace({.kind = TraceEvent::Kind::loop,
           .begin = begin_,
           .end = clock_now(),
           .name = meter_->name});
  }
}

FileTime::FileTime() : meter_(thread_clock().meter()), begin_(clock_now()) {
  if (meter_) return;
  static Meter& other = make_meter(Meter::Kind::reader, "other files");
  meter_ = &other;
}

FileTime::~FileTime() {
  const int64_t end = clock_now();
  meter_->file_time.add(end - begin_);
  meter_->file_bytes.add(bytes_);
  if (tracing()) {
    trace({.kind = TraceEvent::Kind::file,
           .begin = begin_,
           .end = end,
           .name = "read",
           .bytes = bytes_});
  }
}

void Pace::arrive() {
  ThreadClock& thread = thread_clock();
  if (thread.role) return;
  thread.stepping = true;
  arrived_ = clock_now();
}

void Pace::depart(int64_t samples) {
  ThreadClock& thread = thread_clock();
  thread.stepping = false;
  if (thread.role || arrived_ == 0) return;
  const int64_t now = clock_now();
  if (kind_ == Kind::replay) {
    totals.replay_wall.add(now - (departed_ ? departed_ : arrived_));
    totals.replay_steps.add(samples_ > 0);
    totals.replay_samples.add(samples_);
  } else {
    count_step(thread, now);
  }
  if (tracing()) {
    trace({.kind = TraceEvent::Kind::wait,
           .begin = arrived_,
           .end = now,
           .name = "next step",
           .samples = samples});
  }
  departed_ = now;
  arrived_ = 0;
  samples_ = samples;
}

void Pace::count_step(ThreadClock& thread, int64_t now) {
  if (departed_ == 0 || thread_ != &thread) {
    // The first step of the loop, on this thread: what was before does not count.
    departed_ = arrived_;
    waited_ = thread.waited;
    loop_wall_ = thread.loop_wall;
    loop_wait_ = thread.loop_wait;
    thread_ = &thread;
  }
  count_wait(thread, arrived_, now);
  // Loops inside of this one, or side by side with it, may have counted part of the time.
  const int64_t wall = now - departed_ - (thread.loop_wall - loop_wall_);
  const int64_t wait = thread.waited - waited_ - (thread.loop_wait - loop_wait_);
  thread.loop_wall += std::max<int64_t>(0, wall);
  thread.loop_wait += std::max<int64_t>(0, wait);
  totals.loop_wall.add(std::max<int64_t>(0, wall));
  totals.loop_wait.add(std::max<int64_t>(0, wait));
  if (2 * wall >= now - departed_) {
    // Otherwise it is part of a step of another loop.
    totals.loop_steps.add(samples_ > 0);
    totals.loop_samples.add(samples_);
    if (kind_ == Kind::ahead) totals.ahead_steps.add(samples_ > 0);
  }
  waited_ = thread.waited;
  loop_wall_ = thread.loop_wall;
  loop_wait_ = thread.loop_wait;
}

}  // namespace daliesque
