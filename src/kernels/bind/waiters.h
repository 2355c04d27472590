// SPDX-License-Identifier: Apache-2.0
// Waiting for something that other threads of Python do, with the interpreter's lock as the mutex.
#pragma once

#include "bind/gil.h"

namespace daliesque {

/// Threads that sleep until others wake them. Used with the interpreter's lock held, which sleeping
/// releases: nothing can happen between a look at the state of things and falling asleep.
///
/// Nothing of this is written in Python because signal handlers run between any two bytecodes
/// there, and a KeyboardInterrupt between taking a lock and noting it would leave the lock taken
/// for ever.
class Waiters {
 public:
  Waiters() = default;
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  /// Sleeps until there is a `wake` for this reason, or for all. False, with an exception set, if a
  /// signal handler raises it first.
  bool sleep(const void* reason = nullptr);

  void wake(const void* reason);
  void wake_all();

  /// Drops those who slept when the process was forked.
  void forget() { first_ = nullptr; }

 private:
  struct Sleeper {
    PyThread_type_lock lock;
    const void* reason;
    Sleeper* next;
    bool asleep = true;
  };

  void unlink(Sleeper* sleeper);
  static void rouse(Sleeper* sleeper);

  Sleeper* first_ = nullptr;
};

}  // namespace daliesque
