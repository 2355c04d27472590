// SPDX-License-Identifier: Apache-2.0
// Counters and traces: what Python calls to be counted, and what it is to know about it.
#include <cerrno>
#include <memory>
#include <string>
#include <thread>

#include "bind/bind.h"
#include "core/meter.h"
#include "core/trace.h"

namespace daliesque {

namespace {

// Names of operators are few. If a program makes them up, those beyond have a meter together.
constexpr Py_ssize_t kMostNames = 4096;

/// The meter of a name. The interpreter's lock guards the table.
Meter& meter_named(PyObject* name, Meter::Kind kind) {
  static PyObject* const tables[] = {PyDict_New(), PyDict_New()};
  PyObject* table = tables[static_cast<int>(kind)];
  if (PyObject* known = PyDict_GetItemWithError(table, name)) {
    return *static_cast<Meter*>(PyLong_AsVoidPtr(known));
  }
  PyErr_Clear();
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &size);
  const bool usual = text && PyDict_GET_SIZE(table) < kMostNames;
  if (!usual) PyErr_Clear();
  Meter& meter =
      make_meter(kind, usual ? std::string_view(text, static_cast<size_t>(size)) : "others");
  const nb::object address = nb::steal(PyLong_FromVoidPtr(&meter));
  if (usual && (!address.is_valid() || PyDict_SetItem(table, name, address.ptr()))) PyErr_Clear();
  return meter;
}

/// Samples and bytes of data in any memory; nothing of what is no data.
struct Amount {
  int64_t samples = 0, bytes = 0;

  /// Anything but our own samples is looked at only if it is known to be data on a device.
  void add(PyObject* value, bool devices) {
    static PyObject* const type = nb::type<Samples>().ptr();
    if (reinterpret_cast<PyObject*>(Py_TYPE(value)) == type) {
      const Samples& held = *nb::inst_ptr<Samples>(value);
      samples = samples ? samples : held.size();
      bytes += held.total_volume() * static_cast<int64_t>(held.itemsize());
    } else if (value != Py_None && devices) {
      add_other(value);
    }
  }

  /// Data on a device.
  void add_other(PyObject* value) {
    const nb::object held = nb::steal(PyObject_GetAttrString(value, "nbytes"));
    const Py_ssize_t count = held.is_valid() ? PyObject_Size(value) : -1;
    if (count > 0 && PyLong_Check(held.ptr())) {
      samples = samples ? samples : count;
      bytes += PyLong_AsLongLong(held.ptr());
    }
    PyErr_Clear();
  }

  static Amount of(PyObject* values, bool devices) {
    Amount found;
    if (PyList_Check(values)) {
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values); i++) {
        found.add(PyList_GET_ITEM(values, i), devices);
      }
    } else if (PyTuple_Check(values)) {
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(values); i++) {
        found.add(PyTuple_GET_ITEM(values, i), devices);
      }
    } else {
      found.add(values, devices);
    }
    return found;
  }
};

/// Calls the body of a call, which counts for its name.
nb::object run_body(nb::handle name, nb::handle body, nb::handle inputs, nb::handle arguments) {
  Scope scope(&meter_named(name.ptr(), Meter::Kind::operation));
  PyObject* const given[] = {inputs.ptr(), arguments.ptr()};
  nb::object results =
      nb::steal(survive_exit([&] { return PyObject_Vectorcall(body.ptr(), given, 2, nullptr); }));
  if (!results.is_valid()) {
    scope.count_failure();
    scope.close();
    throw nb::python_error();
  }
  const Amount made = Amount::of(results.ptr(), true);
  scope.count(1, made.samples, Amount::of(inputs.ptr(), true).bytes, made.bytes);
  return results;
}

/// What a reader has made: the outputs of a step, which come first in it.
PyObject* outputs_of(PyObject* step) {
  const bool is_step = PyTuple_Check(step) && PyTuple_GET_SIZE(step) > 0;
  return is_step && PyTuple_Check(PyTuple_GET_ITEM(step, 0)) ? PyTuple_GET_ITEM(step, 0) : step;
}

/// Calls a function that is one or more calls of what has a name, or part of one. Data that it
/// returns, and lists of data among its arguments, count as output and input.
nb::object run_under(nb::handle name, bool reader, int64_t calls, const nb::callable& function,
                     const nb::args& args) {
  Meter& meter = meter_named(name.ptr(), reader ? Meter::Kind::reader : Meter::Kind::operation);
  Scope scope(&meter);
  nb::object result =
      nb::steal(survive_exit([&] { return PyObject_CallObject(function.ptr(), args.ptr()); }));
  if (!result.is_valid()) {
    scope.close();
    throw nb::python_error();
  }
  Amount taken;
  for (nb::handle given : args) {
    if (PyList_Check(given.ptr())) taken.bytes += Amount::of(given.ptr(), !reader).bytes;
  }
  const Amount made = Amount::of(reader ? outputs_of(result.ptr()) : result.ptr(), !reader);
  scope.count(calls, made.samples, taken.bytes, made.bytes);
  return result;
}

void count_calls(nb::handle name, bool reader, int64_t calls, int64_t samples, int64_t bytes) {
  Meter& meter = meter_named(name.ptr(), reader ? Meter::Kind::reader : Meter::Kind::operation);
  meter.calls.add(calls);
  meter.samples.add(samples);
  meter.bytes_out.add(bytes);
}

/// Calls a function that reads a file, and returns its bytes or something else.
nb::object read_file(const nb::callable& function, const nb::args& args) {
  nb::object result;
  {
    FileTime time;
    result =
        nb::steal(survive_exit([&] { return PyObject_CallObject(function.ptr(), args.ptr()); }));
    if (result.is_valid() && PyBytes_Check(result.ptr()))
      time.count(PyBytes_GET_SIZE(result.ptr()));
  }
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

/// Threads of Python that share the work of a call, from the beginning to `end`.
class Team {
 public:
  Team() = default;
  ~Team() {
    // Only the thread that began to divide its time can end it.
    if (std::this_thread::get_id() != leader_) (void)time_.release();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  nb::object call(const nb::callable& function, const nb::args& args) {
    std::unique_ptr<HelperScope> helping;
    if (std::this_thread::get_id() != leader_) helping = std::make_unique<HelperScope>(meter_);
    nb::object result =
        nb::steal(survive_exit([&] { return PyObject_CallObject(function.ptr(), args.ptr()); }));
    helping.reset();
    if (!result.is_valid()) throw nb::python_error();
    return result;
  }

  void end() {
    if (std::this_thread::get_id() == leader_) time_.reset();
  }

 private:
  Meter* meter_ = thread_clock().meter();
  std::thread::id leader_ = std::this_thread::get_id();
  std::unique_ptr<DividedTime> time_ = std::make_unique<DividedTime>();
};

nb::dict described(const Meter& meter) {
  nb::dict out;
  for (const auto& [name, tally] :
       {std::pair{"calls", &meter.calls}, std::pair{"failures", &meter.failures},
        std::pair{"samples", &meter.samples}, std::pair{"bytes_in", &meter.bytes_in},
        std::pair{"bytes_out", &meter.bytes_out}, std::pair{"queued", &meter.queued}}) {
    out[name] = tally->value();
  }
  out["wall"] = meter.wall.value() + meter.shared_wall.value();
  out["cpu"] = meter.cpu.value() + meter.helpers_cpu.value();
  out["file_time"] = meter.file_time.value();
  out["file_bytes"] = meter.file_bytes.value();
  return out;
}

nb::dict describe_totals() {
  nb::dict out;
  for (const auto& [name, tally] :
       {std::pair{"consumer_wait", &totals.consumer_wait},
        std::pair{"producer_wait", &totals.producer_wait}, std::pair{"busy", &totals.busy},
        std::pair{"loop_wall", &totals.loop_wall}, std::pair{"loop_wait", &totals.loop_wait},
        std::pair{"loop_steps", &totals.loop_steps},
        std::pair{"loop_samples", &totals.loop_samples},
        std::pair{"ahead_steps", &totals.ahead_steps},
        std::pair{"replay_wall", &totals.replay_wall},
        std::pair{"replay_steps", &totals.replay_steps},
        std::pair{"replay_samples", &totals.replay_samples}}) {
    out[name] = tally->value();
  }
  out["divided"] = totals.divided.value();
  return out;
}

/// All counts so far.
nb::dict read_meters() {
  nb::dict operations, readers, out;
  for (const Meter* meter : all_meters()) {
    (meter->kind == Meter::Kind::reader ? readers : operations)[meter->name.c_str()] =
        described(*meter);
  }
  out["operators"] = operations;
  out["readers"] = readers;
  out["totals"] = describe_totals();
  out["now"] = clock_now();
  out["first"] = totals.first.load();
  out["last"] = totals.last.load();
  out["generation"] = meter_generation();
  return out;
}

std::string_view text_of(nb::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!data) throw nb::python_error();
  return {data, static_cast<size_t>(size)};
}

void bind_trace(nb::module_& m) {
  using namespace nb::literals;

  nb::enum_<TraceEvent::Kind>(m, "TraceKind", "What an event of a trace is.")
      .value("call", TraceEvent::Kind::call)
      .value("run", TraceEvent::Kind::run)
      .value("loop", TraceEvent::Kind::loop)
      .value("file", TraceEvent::Kind::file)
      .value("wait", TraceEvent::Kind::wait)
      .value("read", TraceEvent::Kind::read)
      .value("device", TraceEvent::Kind::device);
  nb::enum_<TraceEvent::Flow>(m, "TraceFlow", "What an event is for the way of a call.")
      .value("none", TraceEvent::Flow::none)
      .value("begins", TraceEvent::Flow::begins)
      .value("goes_on", TraceEvent::Flow::goes_on)
      .value("ends", TraceEvent::Flow::ends);
  m.def(
      "begin_trace",
      [](nb::handle path, int64_t capacity) {
        return begin_trace(std::string(text_of(path)), capacity);
      },
      "path"_a, "capacity"_a, nb::sig("def begin_trace(path: str, capacity: int) -> int"),
      "Begin to write a trace; returns 0, or errno.");
  m.def(
      "end_trace",
      [] {
        TraceSummary summary;
        {
          const ReleaseGil release;
          summary = end_trace();
        }
        return std::make_tuple(summary.events, summary.dropped, summary.error);
      },
      "End the trace; returns how many events there are, how many were left out, and errno.");
  m.def(
      "begin_call",
      [](nb::handle site) {
        thread_clock().calling = {trace_number(),
                                  site.is_none() ? nullptr : trace_name(text_of(site))};
        return thread_clock().calling.number;
      },
      "site"_a.none(), nb::sig("def begin_call(site: str | None) -> int"),
      "Note that this thread is about to make a call; returns its number.");
  m.def(
      "end_call",
      [](nb::handle name, int64_t begin) {
        const CallMark mark = std::exchange(thread_clock().calling, {});
        if (!tracing()) return;
        trace({.kind = TraceEvent::Kind::call,
               .begin = begin,
               .end = clock_now(),
               .name = *trace_name(text_of(name)),
               .site = mark.site,
               .flow = mark.number,
               .part = TraceEvent::Flow::begins});
      },
      "name"_a, "begin"_a, nb::sig("def end_call(name: str, begin: int) -> None"),
      "Note that the call is made that was begun last.");
  m.def("traced_events", &traced_events, "How many events of the trace are written.");
  m.def("clock_now", &clock_now, "Nanoseconds of the clock that traces use.");
  m.def(
      "trace_event",
      [](TraceEvent::Kind kind, nb::handle name, nb::handle site, int64_t begin, int64_t end,
         uint64_t number, TraceEvent::Flow flow, nb::handle row) {
        if (!tracing()) return;
        trace({.kind = kind,
               .begin = begin,
               .end = end,
               .name = *trace_name(text_of(name)),
               .site = site.is_none() ? nullptr : trace_name(text_of(site)),
               .flow = number,
               .part = flow,
               .row = row.is_none() ? 0 : trace_row(text_of(row))});
      },
      "kind"_a, "name"_a, "site"_a.none(), "begin"_a, "end"_a, "number"_a, "flow"_a, "row"_a.none(),
      nb::sig("def trace_event(kind: TraceKind, name: str, site: str | None, begin: int, end: int, "
              "number: int, flow: TraceFlow, row: str | None) -> None"),
      "Note something in the trace, in a row of its own or in that of the calling thread.");
}

}  // namespace

void bind_meters(nb::module_& m) {
  using namespace nb::literals;

  m.def("run_body", &run_body, "name"_a, "body"_a, "inputs"_a, "arguments"_a,
        nb::sig("def run_body(name: str, body: Any, inputs: list[Any], "
                "arguments: dict[str, Any]) -> Any"),
        "Call the body of a call, which counts for its name.");
  m.def("run_under", &run_under, "name"_a, "reader"_a, "calls"_a, "function"_a, "args"_a,
        nb::sig("def run_under(name: str, reader: bool, calls: int, function: Any, "
                "*args: Any) -> Any"),
        "Call a function that counts for a name, as so many calls.");
  m.def("read_file", &read_file, "function"_a, "args"_a,
        nb::sig("def read_file(function: Any, *args: Any) -> Any"),
        "Call a function that reads a file.");
  m.def("count_calls", &count_calls, "name"_a, "reader"_a, "calls"_a, "samples"_a, "bytes"_a,
        nb::sig("def count_calls(name: str, reader: bool, calls: int, samples: int, "
                "bytes: int) -> None"),
        "Count calls without their time.");
  m.def(
      "count_inside",
      [] {
        if (Scope* scope = thread_clock().top) scope->rename(nullptr);
      },
      "Count nothing for the body that is running: what it consists of counts.");
  m.def(
      "wait_ahead",
      [](const nb::callable& function, const nb::args& args) {
        nb::object result;
        {
          const ProducerWait waiting;
          result = nb::steal(
              survive_exit([&] { return PyObject_CallObject(function.ptr(), args.ptr()); }));
        }
        if (!result.is_valid()) throw nb::python_error();
        return result;
      },
      "function"_a, "args"_a, nb::sig("def wait_ahead(function: Any, *args: Any) -> Any"),
      "Call a function that waits until the consumer has taken something.");
  m.def(
      "set_thread_role",
      [](nb::handle role) { thread_clock().role = trace_name(text_of(role))->c_str(); }, "role"_a,
      nb::sig("def set_thread_role(role: str) -> None"),
      "Say that the calling thread works in the background, and what for.");
  nb::class_<Team>(m, "Team", "Threads of Python that share the work of a call.")
      .def(nb::init<>())
      .def("call", &Team::call, "function"_a, "args"_a,
           nb::sig("def call(self, function: Any, *args: Any) -> Any"))
      .def("end", &Team::end);
  nb::enum_<Pace::Kind>(m, "PaceKind", "Who makes the steps of a loop, and when.")
      .value("plain", Pace::Kind::plain)
      .value("ahead", Pace::Kind::ahead)
      .value("replay", Pace::Kind::replay);
  nb::class_<Pace>(m, "Pace", "The steps of a loop, as its consumer sees them.")
      .def(nb::init<Pace::Kind>(), "kind"_a)
      .def("arrive", &Pace::arrive)
      .def("depart", &Pace::depart, "samples"_a);
  m.def(
      "current_name",
      [] {
        const Meter* meter = thread_clock().meter();
        return nb::str(meter ? meter->name.c_str() : "");
      },
      "The name that the calling thread counts for.");
  m.def("read_meters", &read_meters, nb::sig("def read_meters() -> dict[str, Any]"),
        "All counts so far.");
  bind_trace(m);
}

}  // namespace daliesque
