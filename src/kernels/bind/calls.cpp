// SPDX-License-Identifier: Apache-2.0
// The queue of calls of a context.
//
// It is written in C++ because a KeyboardInterrupt comes out of any bytecode: whatever happens to
// the exception, a call is in the queue, or is being run, or is done, and the queue has an owner
// only as long as one works on it. The interpreter's lock guards all of it.
#include <algorithm>
#include <array>
#include <list>
#include <new>
#include <utility>
#include <vector>

#include "bind/alarm.h"
#include "bind/bind.h"
#include "bind/pool_handle.h"
#include "bind/waiters.h"
#include "core/memory_limit.h"
#include "core/meter.h"
#include "core/parallel.h"
#include "core/trace.h"

namespace daliesque {

namespace {

// Wake the background thread when calls of this weight, in bytes, are waiting.
constexpr int64_t kWakeCost = 1 << 20;
// A caller that is this far ahead works instead of queueing more: many small calls are cheaper to
// run than to hand over.
constexpr size_t kMostQueued = 64;
// Calls that cost less are not looked at for others that go on with their results, and no more than
// these are looked at: finding chains would cost more than they save.
constexpr int64_t kLeastChainCost = 1 << 18;
constexpr size_t kMostInChain = 16;

// How many calls this thread is inside of.
thread_local int depth = 0;

/// The names of what is read and set in an Invocation.
struct Names {
  PyObject* done = PyUnicode_InternFromString("done");
  PyObject* cost = PyUnicode_InternFromString("cost");
  PyObject* nbytes = PyUnicode_InternFromString("nbytes");
  PyObject* execute = PyUnicode_InternFromString("execute");
  PyObject* failure = PyUnicode_InternFromString("failure");
  PyObject* results = PyUnicode_InternFromString("_results");
  PyObject* body = PyUnicode_InternFromString("_body");
  PyObject* inputs = PyUnicode_InternFromString("_inputs");
  PyObject* arguments = PyUnicode_InternFromString("_arguments");
  PyObject* converters = PyUnicode_InternFromString("_converters");
  PyObject* announce = PyUnicode_InternFromString("_announce");
  PyObject* announced = PyUnicode_InternFromString("_announced");
  PyObject* context = PyUnicode_InternFromString("_context");
  PyObject* pool = PyUnicode_InternFromString("_pool");
  PyObject* scheduled = PyUnicode_InternFromString("_scheduled");
  PyObject* placement = PyUnicode_InternFromString("_placement");
  PyObject* mark = PyUnicode_InternFromString("mark");
  PyObject* values = PyUnicode_InternFromString("values");
};

const Names& names() {
  static const Names found;
  return found;
}

bool is_done(PyObject* call) {
  const nb::object done = nb::steal(PyObject_GetAttr(call, names().done));
  return done.ptr() == Py_True;
}

int64_t number_of(PyObject* call, PyObject* name) {
  const nb::object value = nb::steal(PyObject_GetAttr(call, name));
  int overflow = 0;
  return value.is_valid() ? PyLong_AsLongLongAndOverflow(value.ptr(), &overflow) : 0;
}

/// What a call is in a trace: what the caller noted, or is about to.
CallMark mark_of(PyObject* call) {
  const nb::object mark = nb::steal(PyObject_GetAttr(call, names().mark));
  unsigned long long number = 0;
  const char* site = nullptr;
  if (mark.is_valid() && PyArg_ParseTuple(mark.ptr(), "Kz", &number, &site)) {
    return {number, site ? trace_name(site) : nullptr};
  }
  PyErr_Clear();
  return thread_clock().calling;
}

/// Makes a call done, with its results or its failure. Only these are kept.
void settle(PyObject* call, PyObject* results, PyObject* failure) {
  const Names& name = names();
  // What is dropped may run code that looks at the call: it goes when all is in place.
  const nb::object old[] = {nb::steal(PyObject_GetAttr(call, name.body)),
                            nb::steal(PyObject_GetAttr(call, name.inputs)),
                            nb::steal(PyObject_GetAttr(call, name.arguments)),
                            nb::steal(PyObject_GetAttr(call, name.context))};
  const nb::object nothing = nb::steal(PyTuple_New(0)), none_given = nb::steal(PyDict_New());
  PyObject_SetAttr(call, name.results, results);
  PyObject_SetAttr(call, name.failure, failure);
  PyObject_SetAttr(call, name.body, Py_None);
  PyObject_SetAttr(call, name.inputs, nothing.ptr());
  PyObject_SetAttr(call, name.arguments, none_given.ptr());
  PyObject_SetAttr(call, name.converters, Py_None);
  PyObject_SetAttr(call, name.announce, Py_None);
  if (failure == Py_None) PyObject_SetAttr(call, name.announced, Py_None);
  PyObject_SetAttr(call, name.context, Py_None);
  PyObject_SetAttr(call, name.pool, Py_None);
  PyObject_SetAttr(call, name.placement, Py_None);
  PyObject_SetAttr(call, name.done, Py_True);
}

/// Makes a call stand for a chain of calls of which it is the last. Returns what it had before: as
/// in `settle`, that goes when all is in place.
std::array<nb::object, 4> become_chain(PyObject* call, PyObject* chain) {
  const Names& name = names();
  const nb::object values = nb::steal(PyObject_GetAttr(chain, name.values));
  const nb::object nothing = nb::steal(PyDict_New());
  if (!values.is_valid() || !nothing.is_valid()) throw nb::python_error();
  std::array<nb::object, 4> old = {nb::steal(PyObject_GetAttr(call, name.body)),
                                   nb::steal(PyObject_GetAttr(call, name.inputs)),
                                   nb::steal(PyObject_GetAttr(call, name.arguments)),
                                   nb::steal(PyObject_GetAttr(call, name.converters))};
  PyObject_SetAttr(call, name.body, chain);
  PyObject_SetAttr(call, name.inputs, values.ptr());
  PyObject_SetAttr(call, name.arguments, nothing.ptr());
  PyObject_SetAttr(call, name.converters, Py_None);
  return old;
}

/// Calls a function of Python on another pool; the thread's own is back in any case.
nb::object on_pool(PoolHandle pool, auto&& function) {
  PoolHandle previous = exchange_current_pool(std::move(pool));
  PyObject* result = survive_exit(function);
  exchange_current_pool(std::move(previous));
  return nb::steal(result);
}

class CallQueue {
 public:
  /// `find_chain` is that of `_engine/fusion.py`.
  explicit CallQueue(nb::callable find_chain) : find_chain_(std::move(find_chain)) {}
  ~CallQueue() { clear(); }
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  /// Appends a call. True if the background thread is missing or there is too much in the queue.
  bool put(nb::object call) {
    const CallMark mark = tracing() ? mark_of(call.ptr()) : CallMark{};
    queue_.emplace_back(Entry{call, number_of(call.ptr(), names().cost),
                              number_of(call.ptr(), names().nbytes), clock_now(), mark});
    count(queue_.back(), 1);
    PyObject_SetAttr(call.ptr(), names().scheduled, Py_True);
    if ((asleep_ || rung_) && cost_ > kWakeCost) ring();
    return needs_thread() || is_full();
  }

  /// Returns when a call is done, working on the queue if nobody else does. The call is queued
  /// unless it is: it was deferred, or is part of a chain and wanted by itself after all.
  ///
  /// A thread that waits inside a call runs just the call it needs, out of order: if it waited for
  /// the ones before, two threads could wait for each other.
  void wait(const nb::object& call) {
    const ConsumerWait waiting;
    const unsigned long me = PyThread_get_thread_ident();
    while (!is_done(call.ptr())) {
      bool fine = true;
      const nb::object scheduled = nb::steal(PyObject_GetAttr(call.ptr(), names().scheduled));
      if (scheduled.ptr() != Py_True) put(call);
      if (depth > 0 || owner_ == me) {
        const auto found = std::ranges::find(queue_, call.ptr(), &Entry::pointer);
        fine = found != queue_.end() ? run(found) : sleepers_.sleep(call.ptr());
      } else if (owner_ == 0 && !queue_.empty()) {
        fine = work(me, [&] { return !is_done(call.ptr()); });
      } else {
        fine = sleepers_.sleep(call.ptr());
      }
      if (!fine) throw nb::python_error();
    }
    if (asleep_ && cost_ > kWakeCost && depth == 0) ring();
  }

  /// Runs a call that was not put into the queue on the calling thread, unless another one does,
  /// and returns when it is done.
  void run_here(const nb::object& call) {
    while (!is_done(call.ptr())) {
      if (std::ranges::find(running_, call.ptr(), &Entry::pointer) != running_.end()) {
        if (!sleepers_.sleep(call.ptr())) throw nb::python_error();
        continue;
      }
      queue_.emplace_front(Entry{call, 0, 0, 0});
      if (!run(queue_.begin())) {
        // No other thread may take it.
        queue_.remove_if([&](const Entry& entry) { return entry.pointer() == call.ptr(); });
        throw nb::python_error();
      }
    }
  }

  /// Returns when everything queued so far is done.
  void drain() {
    if (!queue_.empty()) return wait(nb::object(queue_.back().call));
    // The owner may still be busy with the call it took last.
    const unsigned long me = PyThread_get_thread_ident();
    while (owner_ != 0 && owner_ != me) {
      if (!sleepers_.sleep()) throw nb::python_error();
    }
  }

  /// For the background thread: runs the queue unless somebody else does. False if it is to end.
  bool serve() {
    rung_ = false;
    if (stopping_) return false;
    const unsigned long me = PyThread_get_thread_ident();
    if (owner_ == 0 && !work(me, [&] { return !stopping_; })) {
      // Not even a failure could be kept: whoever asks for the result tries again.
      PyErr_Clear();
      balked_ = true;
    }
    return true;
  }

  /// Makes the calling thread the one in the background, which `alarm` wakes; False if there is
  /// one.
  bool begin_service(nb::handle_t<Alarm> alarm) {
    if (served_ || stopping_) return false;
    served_ = in_background = true;
    thread_clock().role = "executor";
    alarm_ = nb::borrow(alarm);
    return true;
  }

  void end_service() { served_ = asleep_ = rung_ = false; }

  /// Notes that the background thread sleeps until the alarm, unless there is work after all.
  bool fall_asleep() {
    const bool has_work = !queue_.empty() && owner_ == 0 && !balked_;
    balked_ = false;
    asleep_ = !stopping_ && !has_work;
    return asleep_;
  }

  void stop() {
    stopping_ = true;
    if (asleep_ || rung_) ring();
  }

  bool needs_thread() const { return !served_ && !stopping_ && cost_ > kWakeCost; }
  bool is_full() const {
    const bool too_large = nbytes_ > most_bytes || memory_is_tight();
    return queue_.size() > kMostQueued || (too_large && queue_.size() > 1);
  }
  bool is_idle() const { return owner_ == 0 && cost_ <= kWakeCost; }
  int64_t nbytes() const { return nbytes_; }

  /// In a forked child, where no other thread exists: what others were running is queued again.
  void after_fork() {
    const unsigned long me = PyThread_get_thread_ident();
    for (auto entry = running_.end(); entry != running_.begin();) {
      const auto last = std::prev(entry);
      if (last->thread == me) {
        entry = last;
      } else {
        requeue(last);
      }
    }
    sleepers_.forget();
    if (owner_ != me) owner_ = 0;
    end_service();
  }

  int visit(visitproc visit, void* arg) {
    for (const Entry& entry : queue_) Py_VISIT(entry.pointer());
    for (const Entry& entry : running_) Py_VISIT(entry.pointer());
    Py_VISIT(find_chain_.ptr());
    return 0;
  }
  void clear() {
    std::list<Entry> dropped;
    dropped.swap(queue_);
    all_bytes -= nbytes_;
    cost_ = nbytes_ = 0;
  }

  /// The most bytes of inputs that calls in a queue may hold.
  static inline int64_t most_bytes = int64_t{256} << 20;
  /// What they hold in all queues.
  static inline int64_t all_bytes = 0;

 private:
  struct Entry {
    nb::object call;
    int64_t cost, nbytes;
    int64_t since;             // when it was put here
    CallMark mark = {};        // what it is in a trace
    unsigned long thread = 0;  // which runs it
    PyObject* pointer() const { return call.ptr(); }
  };

  /// Adds a call to the sums, or takes it out of them.
  void count(const Entry& entry, int64_t sign) {
    cost_ += sign * entry.cost;
    nbytes_ += sign * entry.nbytes;
    all_bytes += sign * entry.nbytes;
  }

  /// As the owner, runs calls while they are `wanted` and there are any.
  bool work(unsigned long me, auto&& wanted) {
    owner_ = me;
    if (rung_) {
      // The background thread may go on sleeping.
      asleep_ = alarm().dismiss();
      rung_ = false;
    }
    bool fine = true;
    while (fine && !queue_.empty() && wanted()) fine = join_chain() && run(queue_.begin());
    owner_ = 0;
    sleepers_.wake_all();
    return fine;
  }

  /// If calls of the queue go on with what its first one makes, lets the last of them stand for all
  /// of them, as the first. False, with an exception set, if that was interrupted.
  bool join_chain() {
    if (queue_.size() < 2 || queue_.front().cost < kLeastChainCost) return true;
    const size_t most = std::min(queue_.size(), kMostInChain);
    const nb::object calls = nb::steal(PyList_New(static_cast<Py_ssize_t>(most)));
    if (!calls.is_valid()) return false;
    auto next = queue_.begin();
    for (size_t i = 0; i < most; i++, ++next) {
      PyList_SET_ITEM(calls.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(next->pointer()));
    }
    const nb::object found = nb::steal(
        survive_exit([&] { return PyObject_CallOneArg(find_chain_.ptr(), calls.ptr()); }));
    if (!found.is_valid()) return false;
    if (found.is_none()) return true;
    PyObject* members = PyTuple_GET_ITEM(found.ptr(), 1);
    std::vector<std::list<Entry>::iterator> entries;
    std::array<nb::object, 4> replaced;
    try {
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(members); i++) {
        const auto entry = std::ranges::find(queue_, PyList_GET_ITEM(members, i), &Entry::pointer);
        // Meanwhile another thread may have taken one that it needed.
        if (entry == queue_.end()) return true;
        entries.push_back(entry);
      }
      replaced = become_chain(entries.back()->pointer(), PyTuple_GET_ITEM(found.ptr(), 0));
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
      return false;
    } catch (nb::python_error& error) {
      error.restore();
      return false;
    }
    std::list<Entry> dropped;
    entries.back()->since = entries.front()->since;
    queue_.splice(queue_.begin(), queue_, entries.back());
    entries.pop_back();
    for (const auto entry : entries) {
      // Should anybody want the result after all, the call is made then.
      PyObject_SetAttr(entry->pointer(), names().scheduled, Py_False);
      count(*entry, -1);
      dropped.splice(dropped.end(), queue_, entry);
    }
    return true;
  }

  /// Runs a call of the queue. False, with an exception set, if it is not done: then it is the
  /// first of the queue again. Moving it there and back takes no memory, so that it is never lost.
  bool run(std::list<Entry>::iterator entry) {
    PyObject* call = entry->pointer();
    const nb::object pool = nb::steal(PyObject_GetAttr(call, names().pool));
    PoolHandle handle;
    try {
      handle = pool_handle(pool);
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
      return false;
    }
    running_.splice(running_.end(), queue_, entry);
    entry->thread = PyThread_get_thread_ident();
    count(*entry, -1);
    thread_clock().queued_since = entry->since;
    thread_clock().queued = entry->mark;
    depth++;
    const nb::object outcome = on_pool(std::move(handle), [&] {
      return PyObject_CallMethodOneArg(call, names().execute, in_background ? Py_True : Py_False);
    });
    depth--;
    thread_clock().queued_since = 0;
    if (!outcome.is_valid()) {
      requeue(entry);
      sleepers_.wake(call);
      return false;
    }
    std::list<Entry> finished;
    finished.splice(finished.end(), running_, entry);
    survive_exit([&] {
      settle(call, PyTuple_GET_ITEM(outcome.ptr(), 0), PyTuple_GET_ITEM(outcome.ptr(), 1));
    });
    sleepers_.wake(call);
    return true;
  }

  /// Makes a call that was running the first of the queue again.
  void requeue(std::list<Entry>::iterator entry) {
    count(*entry, 1);
    queue_.splice(queue_.begin(), running_, entry);
  }

  Alarm& alarm() const { return *nb::inst_ptr<Alarm>(alarm_); }

  void ring() {
    asleep_ = false;
    rung_ = true;
    alarm().ring(stopping_);
  }

  std::list<Entry> queue_, running_;
  int64_t cost_ = 0, nbytes_ = 0;
  unsigned long owner_ = 0;
  Waiters sleepers_;
  bool served_ = false, stopping_ = false, balked_ = false;
  // The background thread sleeps until the alarm, or is about to wake up because of it.
  bool asleep_ = false, rung_ = false;
  nb::object alarm_;
  nb::callable find_chain_;

 public:
  static inline thread_local bool in_background = false;
};

int visit_queue(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<CallQueue>(self)->visit(visit, arg) : 0;
}

int clear_queue(PyObject* self) {
  nb::inst_ptr<CallQueue>(self)->clear();
  return 0;
}

PyType_Slot queue_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_queue)},
                             {Py_tp_clear, reinterpret_cast<void*>(clear_queue)},
                             {0, nullptr}};

nb::object call_with_pool(nb::handle pool, const nb::callable& function, const nb::args& args) {
  nb::object result =
      on_pool(pool_handle(pool), [&] { return PyObject_CallObject(function.ptr(), args.ptr()); });
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

/// Calls a function as part of a call that another thread runs, inside of its context.
nb::object call_inside(nb::list stack, const nb::object& context, const nb::callable& function,
                       const nb::args& args) {
  const Py_ssize_t height = PyList_GET_SIZE(stack.ptr());
  stack.append(context);
  depth++;
  nb::object result =
      nb::steal(survive_exit([&] { return PyObject_CallObject(function.ptr(), args.ptr()); }));
  depth--;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyList_SetSlice(stack.ptr(), height, PyList_GET_SIZE(stack.ptr()), nullptr);
  PyErr_Restore(type, value, traceback);
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

}  // namespace

void bind_calls(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<Alarm>(m, "Alarm", "Wakes the background thread of a queue.")
      .def(nb::init<>())
      .def(
          "wait",
          [](Alarm& alarm) {
            const ReleaseGil release;
            alarm.wait();
          },
          "Sleep until a queue rings.");
  nb::class_<CallQueue>(m, "CallQueue", nb::type_slots(queue_slots), nb::is_weak_referenceable(),
                        "The calls of a context that are not done, in order.")
      .def(nb::init<nb::callable>(), "find_chain"_a,
           nb::sig("def __init__(self, find_chain: Any) -> None"))
      .def("put", &CallQueue::put, "call"_a)
      .def("wait", &CallQueue::wait, "call"_a)
      .def("run_here", &CallQueue::run_here, "call"_a)
      .def("drain", &CallQueue::drain)
      .def("serve", &CallQueue::serve)
      .def("begin_service", &CallQueue::begin_service, "alarm"_a)
      .def("end_service", &CallQueue::end_service)
      .def("fall_asleep", &CallQueue::fall_asleep)
      .def("stop", &CallQueue::stop)
      .def("after_fork", &CallQueue::after_fork)
      .def_prop_ro("needs_thread", &CallQueue::needs_thread)
      .def_prop_ro("is_full", &CallQueue::is_full)
      .def_prop_ro("is_idle", &CallQueue::is_idle)
      .def_prop_ro("nbytes", &CallQueue::nbytes);
  m.def(
      "settle",
      [](nb::handle call, nb::handle results, nb::handle failure) {
        settle(call.ptr(), results.ptr(), failure.ptr());
      },
      "call"_a, "results"_a.none(), "failure"_a.none(),
      "Make a call done, with its results or its failure.");
  m.def(
      "become_chain",
      [](nb::handle call, nb::handle chain) { become_chain(call.ptr(), chain.ptr()); }, "call"_a,
      "chain"_a, "Make a call stand for a chain of calls of which it is the last.");
  m.def("inside_call", [] { return depth > 0; }, "Whether this thread is inside a call.");
  m.def("call_with_pool", &call_with_pool, "pool"_a.none(), "function"_a, "args"_a,
        nb::sig("def call_with_pool(pool: ThreadPool | None, function: Any, *args: Any) -> Any"));
  m.def(
      "call_inside", &call_inside, "stack"_a, "context"_a, "function"_a, "args"_a,
      nb::sig("def call_inside(stack: list[Any], context: Any, function: Any, *args: Any) -> Any"),
      "Call a function as part of a call that runs elsewhere.");
  m.def(
      "set_most_queued_bytes",
      [](int64_t bytes) { return std::exchange(CallQueue::most_bytes, bytes); }, "bytes"_a,
      "Set how many bytes calls of a queue may hold; returns what it was.");
  m.def("queued_bytes", [] { return CallQueue::all_bytes; });
}

}  // namespace daliesque
