// SPDX-License-Identifier: Apache-2.0
// What everything costs: counters that are always on.
//
// Whoever does something under a name (an operator, a reader) opens a Scope with the Meter of that
// name, which adds what happens until it is closed. Scopes are nested; what an inner one has
// counted is not counted by the outer one. Threads that help with a loop count for the scope that
// the loop belongs to. All numbers only grow: whoever wants to know about a stretch of time takes
// the difference.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace daliesque {

/// Nanoseconds of a clock that never goes back, by a counter of the processor if it has a steady
/// one, and of the processor's work for this thread.
int64_t clock_now() noexcept;
int64_t thread_cpu_now() noexcept;

/// A number that only threads which hold the interpreter's lock add to. That takes a fifth of the
/// time that a Count takes.
class Tally {
 public:
  void add(int64_t amount) { value_.store(value() + amount, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }
  void clear() { value_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

/// A number that any threads add to.
class Count {
 public:
  void add(int64_t amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }
  void clear() { value_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

/// What all that has one name has cost. Times are in nanoseconds.
struct Meter {
  enum class Kind { operation, reader };

  Meter(Kind kind, std::string name) : kind(kind), name(std::move(name)) {}

  const Kind kind;
  const std::string name;
  Tally calls, failures, samples, bytes_in, bytes_out;
  Tally wall, cpu;               // of the calls themselves, and of the thread that runs them
  Count helpers_cpu;             // of threads that help
  Count shared_wall;             // of calls that run together with others, sample by sample
  Tally queued;                  // from the call to its beginning
  Count file_time, file_bytes;   // opening and reading files, in all threads together
  std::atomic<int64_t> last{0};  // how long the last call took
};

/// The meter of a name, which lives as long as the process.
Meter& make_meter(Meter::Kind kind, std::string_view name);
std::vector<const Meter*> all_meters();

/// What belongs to no name. A loop is what a user iterates over; its consumer is whoever asks for
/// the steps and reads the results.
struct Totals {
  Tally consumer_wait;         // for results, steps and synchronous calls
  Tally producer_wait;         // of readers and loops that are as far ahead as they may be
  Tally busy;                  // running calls
  Count divided;               // of that, in loops that threads share
  Tally loop_wall, loop_wait;  // of loops, as their consumer sees it
  Tally loop_steps, loop_samples;
  Tally ahead_steps;  // of loops that run ahead of their consumer
  Tally replay_wall, replay_steps, replay_samples;
  std::atomic<int64_t> first{0}, last{0};  // when a consumer waited
};
extern Totals totals;

/// A number that changes when all counts begin at zero again: in a forked child.
int64_t meter_generation();

/// What threads of pools are for.
inline constexpr const char* kPoolRole = "pool";
inline constexpr const char* kReaderPoolRole = "reader pool";

class Scope;

/// A call in a trace: its number, and the line of the user's program. Both are zero without one.
struct CallMark {
  uint64_t number = 0;
  const std::string* site = nullptr;
};

/// What a thread is doing.
struct ThreadClock {
  Scope* top = nullptr;                  // the innermost scope
  bool helps = false;                    // with a loop of another thread
  Meter* helping = nullptr;              // whose loop that is, if it has a name
  const char* role = nullptr;            // of a thread in the background; others are consumers
  bool stepping = false;                 // inside of a loop's step
  int divisions = 0;                     // how deep inside of loops that threads share
  int waits = 0;                         // how deep inside of waiting
  int64_t waited = 0;                    // as a consumer
  int64_t loop_wall = 0, loop_wait = 0;  // counted for loops
  int64_t queued_since = 0;              // when the call that is about to run was queued
  CallMark queued;                       // what it is in a trace
  CallMark calling;                      // the call that this thread is making
  uint32_t row = 0;                      // in a trace
  uint64_t trace = 0;                    // which one

  Meter* meter() const noexcept;
};
ThreadClock& thread_clock() noexcept;

/// Counts for a meter until it is closed, or for nobody if that is null. Must be closed by the
/// thread that made it, innermost first.
class Scope {
 public:
  explicit Scope(Meter* meter) noexcept;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { close(); }

  /// What is closed counts as so many calls, samples and bytes.
  void count(int64_t calls, int64_t samples, int64_t bytes_in, int64_t bytes_out);
  void count_failure();
  /// Another name for what is inside, or none: it counts by itself.
  void rename(Meter* meter) { meter_ = meter; }
  Meter* meter() const { return meter_; }
  const Scope* outer() const { return outer_; }

  void close() noexcept;

 private:
  friend class HelperScope;

  Meter* meter_;
  ThreadClock& thread_;
  Scope* outer_;
  int64_t begin_, begin_cpu_ = -1;
  int64_t inner_wall_ = 0, inner_cpu_ = 0;
  int64_t samples_ = -1, bytes_ = -1;  // for the trace
  CallMark mark_;
  bool waits_ = false, open_ = true;
};

/// Waiting of a consumer; that inside of other waiting, or in the background, does not count.
class ConsumerWait {
 public:
  ConsumerWait();
  ~ConsumerWait();
  ConsumerWait(const ConsumerWait&) = delete;
  ConsumerWait& operator=(const ConsumerWait&) = delete;

 private:
  ThreadClock& thread_;
  int64_t begin_;
};

/// Waiting of somebody who is as far ahead of the consumer as it may be.
class ProducerWait {
 public:
  ProducerWait() : begin_(clock_now()) {}
  ~ProducerWait();
  ProducerWait(const ProducerWait&) = delete;
  ProducerWait& operator=(const ProducerWait&) = delete;

 private:
  int64_t begin_;
};

/// Time in which threads share the work of a call.
class DividedTime {
 public:
  DividedTime();
  ~DividedTime();
  DividedTime(const DividedTime&) = delete;
  DividedTime& operator=(const DividedTime&) = delete;

 private:
  ThreadClock& thread_;
  int64_t begin_ = -1;
};

/// What a thread other than the one of the scope does for a meter.
class HelperScope {
 public:
  explicit HelperScope(Meter* meter) noexcept;
  ~HelperScope();
  HelperScope(const HelperScope&) = delete;
  HelperScope& operator=(const HelperScope&) = delete;

 private:
  Meter* meter_;
  ThreadClock& thread_;
  Meter* previous_;
  bool helped_;
  Scope scope_;
  int64_t begin_, begin_cpu_;
};

/// Time in the file system.
class FileTime {
 public:
  FileTime();
  ~FileTime();
  FileTime(const FileTime&) = delete;
  FileTime& operator=(const FileTime&) = delete;

  void count(int64_t bytes) { bytes_ += bytes; }

 private:
  Meter* meter_;
  int64_t begin_, bytes_ = 0;
};

/// The steps of a loop, as its consumer sees them.
class Pace {
 public:
  enum class Kind { plain, ahead, replay };

  explicit Pace(Kind kind) : kind_(kind) {}

  /// The consumer asks for a step.
  void arrive();
  /// It gets one of so many samples, or learns that there are no more (0).
  void depart(int64_t samples);

 private:
  void count_step(ThreadClock& thread, int64_t now);

  Kind kind_;
  int64_t arrived_ = 0, departed_ = 0;
  // The samples of the step that the consumer is busy with.
  int64_t samples_ = 0;
  // What the thread had counted when it departed.
  ThreadClock* thread_ = nullptr;
  int64_t waited_ = 0, loop_wall_ = 0, loop_wait_ = 0;
};

}  // namespace daliesque
