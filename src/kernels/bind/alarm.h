// SPDX-License-Identifier: Apache-2.0
// Wakes the background thread of a queue, unless somebody else does its work first.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace daliesque {

/// Used by one thread that sleeps, and by others that hold the interpreter's lock.
///
/// The thread that wakes waits a little before it asks for that lock. Most programs call a few
/// operators and then read the result: whoever reads runs the calls, and the two threads do not
/// get into each other's way. The calls of a program that goes on with something else begin that
/// much later.
class Alarm {
 public:
  /// Wakes the thread: at once if it is `urgent`, else when there has been no other ring for a
  /// while.
  void ring(bool urgent) {
    std::lock_guard lock(mutex_);
    state_ = urgent ? State::kUrgent : State::kRung;
    rings_++;
    if (urgent || !drowsy_) wake_.notify_one();
  }

  /// Takes back what was not urgent. False if the thread is awake already.
  bool dismiss() {
    std::lock_guard lock(mutex_);
    if (state_ != State::kRung) return false;
    state_ = State::kQuiet;
    return true;
  }

  /// Sleeps until the alarm rings.
  void wait() {
    std::unique_lock lock(mutex_);
    do {
      wake_.wait(lock, [&] { return state_ != State::kQuiet; });
      drowsy_ = true;
      for (uint64_t heard = 0; state_ == State::kRung && heard != rings_;) {
        heard = rings_;
        wake_.wait_for(lock, kPatience, [&] { return state_ == State::kUrgent; });
      }
      drowsy_ = false;
    } while (state_ == State::kQuiet);
    state_ = State::kQuiet;
  }

 private:
  enum class State { kQuiet, kRung, kUrgent };

  /// Longer than it takes to make a call when kernels have just filled the caches with other data,
  /// and much shorter than to run the calls of a usual step.
  static constexpr auto kPatience = std::chrono::microseconds(300);

  std::mutex mutex_;
  std::condition_variable wake_;
  State state_ = State::kQuiet;
  uint64_t rings_ = 0;
  bool drowsy_ = false;  // waking up, and looking again soon
};

}  // namespace daliesque
