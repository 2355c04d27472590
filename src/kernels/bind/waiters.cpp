// SPDX-License-Identifier: Apache-2.0
#include "bind/waiters.h"

namespace daliesque {

namespace {

// A signal that comes just before the thread sleeps does not wake it: it looks again by itself.
constexpr PY_TIMEOUT_T kLookMicroseconds = 200'000;

}  // namespace

bool Waiters::sleep(const void* reason) {
  Sleeper self{PyThread_allocate_lock(), reason, first_};
  if (!self.lock) {
    PyErr_NoMemory();
    return false;
  }
  PyThread_acquire_lock(self.lock, NOWAIT_LOCK);
  first_ = &self;
  bool fine = true;
  while (self.asleep && fine) {
    {
      const ReleaseGil release;
      PyThread_acquire_lock_timed(self.lock, kLookMicroseconds, 1);
    }
    if (self.asleep) fine = survive_exit([] { return PyErr_CheckSignals(); }) == 0;
  }
  if (self.asleep) unlink(&self);
  PyThread_free_lock(self.lock);
  return fine;
}

void Waiters::wake(const void* reason) {
  for (Sleeper** link = &first_; *link;) {
    Sleeper* sleeper = *link;
    if (sleeper->reason == reason) {
      *link = sleeper->next;
      rouse(sleeper);
    } else {
      link = &sleeper->next;
    }
  }
}

void Waiters::wake_all() {
  while (first_) {
    Sleeper* sleeper = first_;
    first_ = sleeper->next;
    rouse(sleeper);
  }
}

void Waiters::unlink(Sleeper* sleeper) {
  for (Sleeper** link = &first_; *link; link = &(*link)->next) {
    if (*link == sleeper) {
      *link = sleeper->next;
      return;
    }
  }
}

void Waiters::rouse(Sleeper* sleeper) {
  sleeper->asleep = false;
  PyThread_release_lock(sleeper->lock);
}

}  // namespace daliesque
