// SPDX-License-Identifier: Apache-2.0
// What threads that work ahead, or share work, hand to each other. The interpreter's lock guards
// it.
#include <algorithm>
#include <list>
#include <optional>
#include <utility>

#include "bind/bind.h"
#include "bind/waiters.h"
#include "core/memory_limit.h"
#include "core/meter.h"

namespace daliesque {

namespace {

/// Items in order, from a thread that makes them to one that takes them.
///
/// Taking is looking at the first item and then dropping it, so that whoever is interrupted in
/// between finds it again.
class Channel {
 public:
  /// At most `depth` items, of `most_bytes` together if that is given, are made or being made that
  /// nobody has taken.
  explicit Channel(int64_t depth, std::optional<int64_t> most_bytes)
      : depth_(depth), own_most_bytes_(most_bytes) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Returns when another item may be made; there is always capacity for one, and the next is
  /// expected to be like the last. False if the thread is to end: because the channel is closed, or
  /// because nobody wants an item now (`rested`).
  bool reserve() {
    while (!closed_ && count_ > 0 && is_full()) {
      if (resting_) {
        rested_ = true;
        served_ = false;
        return false;
      }
      const ProducerWait waiting;
      if (!makers_.sleep()) throw nb::python_error();
    }
    return !closed_;
  }

  /// Appends an item; one without a size is a note, which takes no capacity.
  void put(nb::object item, std::optional<int64_t> nbytes) {
    if (closed_) return;
    items_.push_back({std::move(item), 0, false});
    if (nbytes) count(items_.back(), *nbytes);
    takers_.wake_all();
  }

  /// Appends what `next(iterator)` returns, or notes the end. A failure breaks the channel: what is
  /// left of the iterator is not known.
  void pull(nb::handle iterator, const nb::callable& size_of) {
    nb::object item = nb::steal(survive_exit([&] { return PyIter_Next(iterator.ptr()); }));
    if (!item.is_valid()) {
      broken_ = PyErr_Occurred() != nullptr;
      if (broken_) throw nb::python_error();
      return finish(nb::none());
    }
    items_.push_back({item, 0, false});
    count(items_.back(), run_python([&] { return nb::cast<int64_t>(size_of(item)); }));
  }

  /// The first item, waiting for it if need be; raises StopIteration, or what ended the items.
  nb::object front() {
    resting_ = false;
    while (items_.empty() && !ended_) {
      const ConsumerWait waiting;
      awaited_ = true;
      const bool fine = takers_.sleep();
      awaited_ = false;
      if (!fine) throw nb::python_error();
    }
    if (!items_.empty()) return items_.front().item;
    if (failure_.is_valid() && !failure_.is_none()) {
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(failure_.ptr())), failure_.ptr());
    } else {
      PyErr_SetNone(PyExc_StopIteration);
    }
    throw nb::python_error();
  }

  /// Drops the first item.
  void drop() {
    if (items_.empty()) return;
    std::list<Entry> dropped;
    dropped.splice(dropped.end(), items_, items_.begin());
    nbytes_ -= dropped.front().nbytes;
    all_bytes -= dropped.front().nbytes;
    count_ -= dropped.front().counts ? 1 : 0;
    makers_.wake_all();
  }

  /// Notes that no items follow, and why if there is a reason.
  void finish(nb::object failure) {
    ended_ = true;
    if (!closed_) failure_ = std::move(failure);
    takers_.wake_all();
  }

  /// Lets the thread end when there is no capacity, because nobody is going to take items for now.
  void rest() {
    resting_ = true;
    makers_.wake_all();
  }

  bool rested() const { return rested_; }
  void resume() { resting_ = rested_ = false; }

  void close() {
    closed_ = ended_ = true;
    std::list<Entry> dropped;
    dropped.swap(items_);
    all_bytes -= nbytes_;
    nbytes_ = count_ = 0;
    makers_.wake_all();
    takers_.wake_all();
  }

  /// How many items, of how many bytes, may be begun besides the one that is being made.
  std::pair<int64_t, int64_t> capacity() const {
    // An item that is waited for is about to be taken.
    const bool taken = awaited_ && !items_.empty();
    const int64_t count = count_ - (taken ? 1 : 0);
    const int64_t nbytes = nbytes_ - (taken ? items_.front().nbytes : 0);
    return {depth_ - 1 - count, std::max<int64_t>(0, limit() - nbytes)};
  }

  /// Makes the calling thread the one that makes the items; False if there is one, or no more are
  /// to be made. It is `alone` if it also takes them, with `pull`.
  bool begin_service(bool alone) {
    if (served_ || ended_) return false;
    served_ = true;
    alone_ = alone;
    return true;
  }
  bool served() const { return served_; }
  bool closed() const { return closed_; }
  bool needs_pull() const { return alone_ && items_.empty() && !ended_; }
  /// Whether the items ended before their time.
  bool broken() const { return broken_ || (failure_.is_valid() && !failure_.is_none()); }

  int visit(visitproc visit, void* arg) {
    for (const Entry& entry : items_) Py_VISIT(entry.item.ptr());
    Py_VISIT(failure_.ptr());
    return 0;
  }
  void clear() {
    close();
    failure_.reset();
  }

  ~Channel() { all_bytes -= nbytes_; }

  /// The most bytes that may be made ahead in a channel, and those that are there in all of them.
  static inline int64_t most_bytes = int64_t{256} << 20;
  static inline int64_t all_bytes = 0;

 private:
  struct Entry {
    nb::object item;
    int64_t nbytes;
    bool counts;
  };

  /// Counts an item that takes capacity.
  void count(Entry& entry, int64_t nbytes) {
    entry.nbytes = last_nbytes_ = nbytes;
    entry.counts = true;
    count_++;
    nbytes_ += nbytes;
    all_bytes += nbytes;
  }

  int64_t limit() const { return own_most_bytes_.value_or(most_bytes); }
  bool is_full() const {
    return count_ >= depth_ || nbytes_ + last_nbytes_ > limit() || memory_is_tight();
  }

  int64_t depth_;
  std::optional<int64_t> own_most_bytes_;
  std::list<Entry> items_;
  int64_t count_ = 0, nbytes_ = 0, last_nbytes_ = 0;
  nb::object failure_;
  bool ended_ = false, closed_ = false, awaited_ = false, served_ = false, alone_ = false;
  bool broken_ = false, resting_ = false, rested_ = false;
  Waiters makers_, takers_;
};

int visit_channel(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Channel>(self)->visit(visit, arg) : 0;
}

int clear_channel(PyObject* self) {
  nb::inst_ptr<Channel>(self)->clear();
  return 0;
}

PyType_Slot channel_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_channel)},
                               {Py_tp_clear, reinterpret_cast<void*>(clear_channel)},
                               {0, nullptr}};

/// The numbers from 0 to `count` - 1, which several threads process.
class Job {
 public:
  explicit Job(int64_t count) : end_(count) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// The next number, which is to be handed back to `finish`; -1 if there is none.
  int64_t take() {
    if (next_ >= end_) return -1;
    running_++;
    return next_++;
  }

  /// Notes that a number is done, or failed: then no more are begun. Numbers are taken in order,
  /// and those taken are finished: which failure is that of the lowest does not depend on the
  /// threads.
  void finish(int64_t number, nb::object error) {
    if (!error.is_none()) {
      end_ = 0;
      if (failed_ < 0 || number < failed_) {
        failed_ = number;
        failure_ = std::move(error);
      }
    }
    if (--running_ == 0) sleepers_.wake_all();
  }

  /// Waits for all that were begun; returns the failure of the lowest number, None without one.
  nb::object wait() {
    while (running_ > 0) {
      if (!sleepers_.sleep()) throw nb::python_error();
    }
    nb::object failure = std::move(failure_);
    failure_.reset();
    return failure.is_valid() ? failure : nb::none();
  }

  void close() { end_ = 0; }

 private:
  int64_t next_ = 0, end_, running_ = 0, failed_ = -1;
  nb::object failure_;
  Waiters sleepers_;
};

}  // namespace

void bind_channel(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<Channel>(m, "Channel", nb::type_slots(channel_slots),
                      "Items from a thread that makes them ahead to one that takes them.")
      .def(nb::init<int64_t, std::optional<int64_t>>(), "depth"_a, "most_bytes"_a = nb::none())
      .def("reserve", &Channel::reserve)
      .def("put", &Channel::put, "item"_a, "nbytes"_a.none())
      .def("pull", &Channel::pull, "iterator"_a, "size_of"_a,
           nb::sig("def pull(self, iterator: Any, size_of: Any) -> None"))
      .def("front", &Channel::front, nb::sig("def front(self) -> Any"))
      .def("drop", &Channel::drop)
      .def("finish", &Channel::finish, "failure"_a.none())
      .def("rest", &Channel::rest)
      .def("resume", &Channel::resume)
      .def_prop_ro("rested", &Channel::rested)
      .def("close", &Channel::close)
      .def("capacity",
           [](const Channel& self) {
             const auto [count, nbytes] = self.capacity();
             return std::make_tuple(count, nbytes);
           })
      .def("begin_service", &Channel::begin_service, "alone"_a)
      .def_prop_ro("served", &Channel::served)
      .def_prop_ro("closed", &Channel::closed)
      .def_prop_ro("needs_pull", &Channel::needs_pull)
      .def_prop_ro("broken", &Channel::broken);
  nb::class_<Job>(m, "Job", "Numbers that several threads process, each once.")
      .def(nb::init<int64_t>(), "count"_a)
      .def("take", &Job::take)
      .def("finish", &Job::finish, "number"_a, "error"_a.none())
      .def("wait", &Job::wait, nb::sig("def wait(self) -> BaseException | None"))
      .def("close", &Job::close);
  m.def(
      "set_most_bytes_ahead",
      [](int64_t bytes) { return std::exchange(Channel::most_bytes, bytes); }, "bytes"_a,
      "Set how many bytes a channel may hold; returns what it was.");
  m.def("bytes_ahead", [] { return Channel::all_bytes; });
}

}  // namespace daliesque
