// SPDX-License-Identifier: Apache-2.0
// Plans of calls of an operator, for calls that differ from them in nothing but the data.
//
// From arguments and shapes a body finds what its kernel is to do, which takes longer than the
// kernel needs for a small sample. Many calls of a program are alike: the body then runs once, with
// a plan in place of the data, and the kernel of the plan runs for all of them.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind/bind.h"
#include "core/planned.h"

namespace daliesque {

namespace {

// Programs have few calls of an operator, with few shapes each, or as many shapes as samples.
constexpr size_t kMostPlans = 8;
// Extents of all samples of a batch, which are compared in each call.
constexpr int64_t kMostExtents = 1024;

/// Whether two values of an argument mean the same. Objects are what they were if they are the
/// same: see `is_constant`.
bool is_same(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (PyFloat_CheckExact(a)) {
    const double first = PyFloat_AS_DOUBLE(a), second = PyFloat_AS_DOUBLE(b);
    return std::memcmp(&first, &second, sizeof(double)) == 0;
  }
  if (!PyLong_CheckExact(a) && !PyUnicode_CheckExact(a)) return false;
  const int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

const Samples* samples_in(PyObject* value) {
  static PyObject* const type = nb::type<Samples>().ptr();
  const bool plain = reinterpret_cast<PyObject*>(Py_TYPE(value)) == type;
  return plain ? nb::inst_ptr<Samples>(value) : nullptr;
}

class PlanTable {
 public:
  /// Nobody changes objects of the `types`, and `constants`, which are kept by their addresses.
  PlanTable(nb::callable body, nb::dict defaults, nb::tuple types, nb::dict constants)
      : body_(std::move(body)),
        defaults_(std::move(defaults)),
        types_(std::move(types)),
        constants_(std::move(constants)) {}

  /// The result of a call on one input of `count` samples; nothing if there is no plan for it.
  std::optional<Samples> run(const nb::list& inputs, int64_t count, const nb::dict& arguments) {
    if (PyList_GET_SIZE(inputs.ptr()) != 1) return std::nullopt;
    const Samples* samples = samples_in(PyList_GET_ITEM(inputs.ptr(), 0));
    if (!samples || samples->size() != count) return std::nullopt;
    Entry* entry = find(*samples, arguments.ptr());
    if (!entry || !entry->plan) return std::nullopt;
    // Kept until the interpreter's lock is held again, which arguments of kernels need to end.
    const std::shared_ptr<const PlannedSamples> plan = entry->plan;
    const ReleaseGil release;
    return plan->run_on(*samples);
  }

  /// Learns that a call was made. A plan is made for the second one that is alike.
  void note(nb::handle input, const nb::dict& arguments) {
    const Samples* samples = samples_in(input.ptr());
    if (!samples || !can_be_kept(*samples, arguments.ptr())) return;
    Entry* entry = find(*samples, arguments.ptr());
    if (!entry) {
      entries_[next_] = Entry(*samples, arguments.ptr());
      next_ = (next_ + 1) % kMostPlans;
    } else if (!entry->tried) {
      entry->tried = true;
      const nb::object planned = plan(*samples, arguments);
      // The body may have let other threads change the table.
      entry = planned.is_valid() ? find(*samples, arguments.ptr()) : nullptr;
      if (entry) {
        entry->plan =
            std::make_shared<const PlannedSamples>(*nb::inst_ptr<PlannedSamples>(planned));
      }
    }
  }

 private:
  /// A call: what its input is like, its arguments, and what its kernels do.
  struct Entry {
    Entry() = default;
    Entry(const Samples& samples, PyObject* given) : outline(Samples::outline_like(samples)) {
      Py_ssize_t position = 0;
      for (PyObject *name = nullptr, *value = nullptr;
           PyDict_Next(given, &position, &name, &value);) {
        arguments.emplace_back(nb::borrow(name), nb::borrow(value));
      }
    }

    bool fits(const Samples& samples, PyObject* given) const {
      const Shape mine = all_extents(outline), theirs = all_extents(samples);
      if (samples.size() == 0 || samples.size() != outline.size() || !samples.contiguous() ||
          samples.dtype() != outline.dtype() || samples.layout() != outline.layout() ||
          !std::ranges::equal(mine, theirs) ||
          PyDict_GET_SIZE(given) != static_cast<Py_ssize_t>(arguments.size())) {
        return false;
      }
      Py_ssize_t position = 0;
      auto own = arguments.begin();
      for (PyObject *name = nullptr, *value = nullptr; PyDict_Next(given, &position, &name, &value);
           ++own) {
        // Names are interned.
        if (name != own->first.ptr() || !is_same(value, own->second.ptr())) return false;
      }
      return true;
    }

    static Shape all_extents(const Samples& samples) {
      const auto count = static_cast<size_t>(samples.size() * samples.ndim());
      return count ? Shape{samples.shape(0).data(), count} : Shape{};
    }

    Samples outline;
    std::vector<std::pair<nb::object, nb::object>> arguments;
    std::shared_ptr<const PlannedSamples> plan;
    bool tried = false;
  };

  Entry* find(const Samples& samples, PyObject* arguments) {
    const auto found = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return entry.fits(samples, arguments); });
    return found == entries_.end() ? nullptr : &*found;
  }

  bool can_be_kept(const Samples& samples, PyObject* arguments) const {
    if (samples.size() == 0 || samples.size() * samples.ndim() > kMostExtents) return false;
    Py_ssize_t position = 0;
    for (PyObject *name = nullptr, *value = nullptr;
         PyDict_Next(arguments, &position, &name, &value);) {
      if (!is_constant(name, value)) return false;
    }
    return true;
  }

  /// Whether a value is the same next time, if it is the same object.
  bool is_constant(PyObject* name, PyObject* value) const {
    if (value == Py_None || PyBool_Check(value) || PyFloat_CheckExact(value) ||
        PyLong_CheckExact(value) || PyUnicode_CheckExact(value)) {
      return true;
    }
    if (PyDict_GetItemWithError(defaults_.ptr(), name) == value) return true;
    if (PyObject_IsInstance(value, types_.ptr()) == 1) return true;
    const nb::object address = nb::steal(PyLong_FromVoidPtr(value));
    const bool known =
        address.is_valid() && PyDict_GetItemWithError(constants_.ptr(), address.ptr()) == value;
    PyErr_Clear();
    return known;
  }

  /// What the body plans for such samples; invalid if it needs their data.
  nb::object plan(const Samples& samples, const nb::dict& arguments) const {
    const nb::object input = nb::cast(PlannedSamples(Samples::outline_like(samples)));
    const nb::object inputs = nb::steal(PyTuple_Pack(1, input.ptr()));
    nb::object planned = nb::steal(
        survive_exit([&] { return PyObject_Call(body_.ptr(), inputs.ptr(), arguments.ptr()); }));
    if (!planned.is_valid()) {
      if (!PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();
      PyErr_Clear();
      return {};
    }
    const bool usable =
        nb::isinstance<PlannedSamples>(planned) && !nb::inst_ptr<PlannedSamples>(planned)->empty();
    return usable ? planned : nb::object();
  }

  nb::callable body_;
  nb::dict defaults_;
  nb::tuple types_;
  nb::dict constants_;
  std::array<Entry, kMostPlans> entries_;
  size_t next_ = 0;
};

}  // namespace

void bind_plans(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<PlanTable>(m, "PlanTable", "Plans of calls, for calls with other data.")
      .def(nb::init<nb::callable, nb::dict, nb::tuple, nb::dict>(), "body"_a, "defaults"_a,
           "types"_a, "constants"_a,
           nb::sig("def __init__(self, body: Any, defaults: dict[str, Any], "
                   "types: tuple[type, ...], constants: dict[int, Any]) -> None"))
      .def("run", &PlanTable::run, "inputs"_a, "count"_a, "arguments"_a,
           nb::sig("def run(self, inputs: list[Any], count: int, arguments: dict[str, Any]) -> "
                   "Samples | None"),
           "The result of a call, if there is a plan for it.")
      .def("note", &PlanTable::note, "input"_a, "arguments"_a,
           nb::sig("def note(self, input: Any, arguments: dict[str, Any]) -> None"),
           "Learn that a call was made, so that the next one like it has a plan.");
}

}  // namespace daliesque
