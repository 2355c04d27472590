// SPDX-License-Identifier: Apache-2.0
#include "files/mapped_file.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>

namespace daliesque::files {

namespace {

/// A copy that is under way: the memory that may fail, and the way out.
struct Guard {
  const char *begin, *end;
  sigjmp_buf escape;
};

// A signal handler must not allocate, which the first look at other thread-local memory may do.
[[gnu::tls_model("initial-exec")]] thread_local Guard* volatile current = nullptr;

struct sigaction previous;

/// Does what would have been done without our handler.
void pass_on(int number, siginfo_t* info, void* context) {
  const bool sent = info->si_code <= 0;  // by a process, and not for what the thread just did
  if (previous.sa_handler == SIG_IGN && sent) return;
  if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(number, &standard, nullptr);
    // Otherwise the thread goes on where it failed, and does so again.
    if (sent) raise(number);
  } else if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(number, info, context);
  } else {
    previous.sa_handler(number);
  }
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  Guard* guard = current;
  const auto* where = static_cast<const char*>(info->si_addr);
  if (guard && info->si_code > 0 && where >= guard->begin && where < guard->end) {
    current = nullptr;
    siglongjmp(guard->escape, 1);
  }
  pass_on(number, info, context);
}

/// Whether this thread would survive a failure. Others may replace the handler, or block the signal
/// and thereby make it deadly, at any time.
bool can_escape() {
  enum class State { none, installing, installed };
  static std::atomic<State> state{State::none};
  State expected = State::none;
  // Nobody waits here, so that a process that is forked meanwhile can go on.
  if (state.compare_exchange_strong(expected, State::installing)) {
    sigaction(SIGBUS, nullptr, &previous);
    struct sigaction ours = {};
    ours.sa_sigaction = on_bus_error;
    // Leaving by a jump would otherwise leave the signal blocked.
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGBUS, &ours, nullptr);
    state = State::installed;
  }
  if (state != State::installed) return false;
  struct sigaction now;
  sigset_t blocked;
  return sigaction(SIGBUS, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
         now.sa_sigaction == on_bus_error && pthread_sigmask(SIG_BLOCK, nullptr, &blocked) == 0 &&
         !sigismember(&blocked, SIGBUS);
}

}  // namespace

MappedFile::MappedFile(int descriptor, int64_t size) : size_(size) {
  void* memory = ::mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_SHARED, descriptor, 0);
  if (memory != MAP_FAILED) data_ = static_cast<const char*>(memory);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<char*>(data_), static_cast<size_t>(size_));
}

bool MappedFile::copy(char* out, int64_t count, int64_t offset) const {
  if (!data_ || offset < 0 || count < 0 || offset > size_ - count || !can_escape()) return false;
  Guard guard{data_, data_ + size_, {}};
  if (sigsetjmp(guard.escape, 0) != 0) return false;
  current = &guard;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(out, data_ + offset, static_cast<size_t>(count));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  current = nullptr;
  return true;
}

}  // namespace daliesque::files
