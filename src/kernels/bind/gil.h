// SPDX-License-Identifier: Apache-2.0
// The interpreter's lock, in a way that survives the end of the interpreter.
//
// While the interpreter ends, threads other than the one that ends it are stopped when they want
// its lock: by pthread_exit, which unwinds the stack, and unwinding a function that promises not to
// throw (all destructors do) aborts the process. Here such threads sleep until the process is gone,
// which is what later versions of Python do themselves.
#pragma once

#include <Python.h>
#include <unistd.h>

#include <exception>

namespace daliesque {

/// Never returns. For threads that outlive the interpreter.
// NOLINTNEXTLINE(bugprone-exception-escape): the call of the system throws nothing.
[[noreturn]] inline void sleep_for_ever() noexcept {
  for (;;) pause();
}

/// Calls a function of the interpreter, which throws nothing unless the thread is to end.
template <class Function>
auto survive_exit(Function&& function) noexcept {
  try {
    return function();
  } catch (...) {
    sleep_for_ever();
  }
}

/// Runs C++ that uses Python; its own exceptions pass. For threads of ours, whose work is inside of
/// functions that catch or refuse whatever comes.
template <class Function>
auto run_python(Function&& function) {
  try {
    return function();
  } catch (...) {
    // What ends a thread is no exception of C++.
    if (!std::current_exception()) sleep_for_ever();
    throw;
  }
}

/// Lets other threads run Python while this one computes.
class ReleaseGil {
 public:
  ReleaseGil() : state_(PyEval_SaveThread()) {}
  ~ReleaseGil() {
    survive_exit([this] { PyEval_RestoreThread(state_); });
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Lets this thread, which need not be one of Python's, run Python.
class AcquireGil {
 public:
  AcquireGil() : state_(survive_exit([] { return PyGILState_Ensure(); })) {}
  ~AcquireGil() {
    survive_exit([this] { PyGILState_Release(state_); });
  }
  AcquireGil(const AcquireGil&) = delete;
  AcquireGil& operator=(const AcquireGil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace daliesque
