// SPDX-License-Identifier: Apache-2.0
// What has to happen as a whole although a KeyboardInterrupt comes out of any bytecode: no Python
// runs between the steps of these functions.
#include <unistd.h>

#include "bind/bind.h"
#include "bind/waiters.h"

namespace daliesque {

namespace {

/// A lock that a thread may take again, for as long as one of the functions below runs.
class Mutex {
 public:
  /// Takes it, if it is free.
  bool try_enter() {
    const bool is_free = depth_ == 0 || owner_ == PyThread_get_thread_ident();
    return (is_free || process_ != getpid()) && enter();
  }

  bool enter() {
    const unsigned long me = PyThread_get_thread_ident();
    if (process_ != getpid()) {
      // Whoever had it stayed in the parent.
      process_ = getpid();
      sleepers_.forget();
      depth_ = 0;
    }
    while (depth_ > 0 && owner_ != me) {
      if (!sleepers_.sleep()) return false;
    }
    owner_ = me;
    depth_++;
    return true;
  }

  void leave() {
    if (--depth_ == 0) sleepers_.wake_all();
  }

 private:
  unsigned long owner_ = 0;
  int depth_ = 0;
  pid_t process_ = getpid();
  Waiters sleepers_;
};

/// A function that prepares, and what is done afterwards.
struct TwoPhase {
  nb::object prepare;
};

/// Carries out steps, each a tuple (function, arguments) with a function written in C.
bool carry_out(PyObject* steps) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(steps); i++) {
    PyObject* step = PyTuple_GET_ITEM(steps, i);
    PyObject* done = PyObject_Call(PyTuple_GET_ITEM(step, 0), PyTuple_GET_ITEM(step, 1), nullptr);
    if (!done) return false;
    Py_DECREF(done);
  }
  return true;
}

/// Carries out what was prepared: (result, steps, failure).
PyObject* commit(PyObject* outcome) {
  PyObject *result = nullptr, *steps = nullptr, *failure = nullptr;
  if (!PyArg_ParseTuple(outcome, "OO!O", &result, &PyTuple_Type, &steps, &failure)) return nullptr;
  if (!carry_out(steps)) return nullptr;
  if (failure != Py_None) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(failure)), failure);
    return nullptr;
  }
  return Py_NewRef(result);
}

PyObject* call_two_phase(PyObject* self, PyObject* args, PyObject* kwargs) {
  static PyObject* const mutex_name = PyUnicode_InternFromString("_mutex");
  if (PyTuple_GET_SIZE(args) < 1) {
    PyErr_SetString(PyExc_TypeError, "a method needs an object");
    return nullptr;
  }
  const nb::object held = nb::steal(PyObject_GetAttr(PyTuple_GET_ITEM(args, 0), mutex_name));
  if (!held.is_valid()) return nullptr;
  Mutex* mutex = nb::inst_ptr<Mutex>(held);
  const nb::object prepare = nb::inst_ptr<TwoPhase>(self)->prepare;
  if (!mutex->enter()) return nullptr;
  const nb::object outcome =
      nb::steal(survive_exit([&] { return PyObject_Call(prepare.ptr(), args, kwargs); }));
  PyObject* result = outcome.is_valid() ? commit(outcome.ptr()) : nullptr;
  mutex->leave();
  return result;
}

PyObject* bind_method(PyObject* self, PyObject* object, PyObject*) {
  return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}

int visit_two_phase(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (PyObject** fields = _PyObject_GetDictPtr(self)) Py_VISIT(*fields);
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<TwoPhase>(self)->prepare.ptr());
  return 0;
}

int clear_two_phase(PyObject* self) {
  nb::inst_ptr<TwoPhase>(self)->prepare.reset();
  return 0;
}

PyType_Slot two_phase_slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_two_phase)},
                                 {Py_tp_descr_get, reinterpret_cast<void*>(bind_method)},
                                 {Py_tp_traverse, reinterpret_cast<void*>(visit_two_phase)},
                                 {Py_tp_clear, reinterpret_cast<void*>(clear_two_phase)},
                                 {0, nullptr}};

/// Calls a function, and then does something whatever came of it.
template <typename After>
nb::object call_then(nb::handle function, const nb::args& args, const After& after) {
  const nb::object result =
      nb::steal(survive_exit([&] { return PyObject_CallObject(function.ptr(), args.ptr()); }));
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  after();
  PyErr_Restore(type, value, traceback);
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

/// `__enter__` or `__exit__` of objects of which each thread has a stack: lists in `holder`.
struct StackMethod {
  nb::object holder;
  nb::object name;
  bool enters;
};

/// A list of this thread: an attribute of a `threading.local`.
nb::object stack_of(nb::handle holder, PyObject* name) {
  return nb::steal(survive_exit([&] { return PyObject_GetAttr(holder.ptr(), name); }));
}

bool pop(PyObject* stack) {
  const Py_ssize_t height = PyList_GET_SIZE(stack);
  return height == 0 || PyList_SetSlice(stack, height - 1, height, nullptr) == 0;
}

PyObject* call_stack_method(PyObject* self, PyObject* args, PyObject*) {
  const StackMethod& method = *nb::inst_ptr<StackMethod>(self);
  const nb::object stack = stack_of(method.holder, method.name.ptr());
  if (!stack.is_valid()) return nullptr;
  PyObject* object = PyTuple_GET_ITEM(args, 0);
  if (method.enters) return PyList_Append(stack.ptr(), object) ? nullptr : Py_NewRef(object);
  return pop(stack.ptr()) ? Py_NewRef(Py_None) : nullptr;
}

PyType_Slot stack_method_slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_stack_method)},
                                    {Py_tp_descr_get, reinterpret_cast<void*>(bind_method)},
                                    {0, nullptr}};

/// `__exit__` of contexts: the thread leaves in any case, then what was called is evaluated, and
/// then, in any case, others may enter.
struct ContextExit {
  nb::object holder;
};

PyObject* call_context_exit(PyObject* self, PyObject* args, PyObject*) {
  static PyObject* const contexts_name = PyUnicode_InternFromString("contexts");
  static PyObject* const devices_name = PyUnicode_InternFromString("devices");
  static PyObject* const leave_name = PyUnicode_InternFromString("_leave");
  static PyObject* const entered_name = PyUnicode_InternFromString("_entered");
  const nb::object holder = nb::inst_ptr<ContextExit>(self)->holder;
  const nb::object contexts = stack_of(holder, contexts_name);
  const nb::object devices = stack_of(holder, devices_name);
  if (!contexts.is_valid() || !devices.is_valid()) return nullptr;
  if (!pop(contexts.ptr()) || !pop(devices.ptr())) return nullptr;
  PyObject* context = PyTuple_GET_ITEM(args, 0);
  const bool failed = PyTuple_GET_SIZE(args) > 1 && PyTuple_GET_ITEM(args, 1) != Py_None;
  const nb::object left = nb::steal(survive_exit(
      [&] { return PyObject_CallMethodOneArg(context, leave_name, failed ? Py_True : Py_False); }));
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  const nb::object entered = nb::steal(PyObject_GetAttr(context, entered_name));
  if (entered.is_valid() && PyLong_Check(entered.ptr()) &&
      PyLong_AsUnsignedLong(entered.ptr()) == PyThread_get_thread_ident() &&
      PySequence_Contains(contexts.ptr(), context) == 0) {
    PyObject_SetAttr(context, entered_name, Py_None);
  }
  PyErr_Restore(type, value, traceback);
  return left.is_valid() ? Py_NewRef(Py_None) : nullptr;
}

PyType_Slot context_exit_slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_context_exit)},
                                    {Py_tp_descr_get, reinterpret_cast<void*>(bind_method)},
                                    {0, nullptr}};

}  // namespace

void bind_interrupts(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<Mutex>(m, "Mutex",
                    "What threads that call functions of an object wait for: `two_phase`, "
                    "`call_locked`.")
      .def(nb::init<>())
      .def("try_enter", &Mutex::try_enter)
      .def("leave", &Mutex::leave);
  nb::class_<TwoPhase>(m, "two_phase", nb::type_slots(two_phase_slots), nb::dynamic_attr(),
                       "A method that prepares what is then done as a whole.")
      .def(
          "__init__",
          [](TwoPhase* self, nb::object prepare) { new (self) TwoPhase{std::move(prepare)}; },
          "prepare"_a);
  nb::class_<StackMethod>(m, "StackMethod", nb::type_slots(stack_method_slots),
                          "`__enter__` or `__exit__` of what a thread has a stack of.")
      .def(
          "__init__",
          [](StackMethod* self, nb::object holder, nb::object name, bool enters) {
            new (self) StackMethod{std::move(holder), std::move(name), enters};
          },
          "holder"_a, "name"_a, "enters"_a);
  nb::class_<ContextExit>(m, "ContextExit", nb::type_slots(context_exit_slots),
                          "`__exit__` of contexts.")
      .def(
          "__init__",
          [](ContextExit* self, nb::object holder) { new (self) ContextExit{std::move(holder)}; },
          "holder"_a);
  m.def(
      "carry_out",
      [](const nb::tuple& steps) {
        if (!carry_out(steps.ptr())) throw nb::python_error();
      },
      "steps"_a, nb::sig("def carry_out(steps: tuple[Any, ...]) -> None"),
      "Call functions, each with its arguments, as one step.");
  m.def(
      "call_locked",
      [](Mutex& mutex, const nb::callable& function, const nb::args& args) {
        if (!mutex.enter()) throw nb::python_error();
        return call_then(function, args, [&] { mutex.leave(); });
      },
      "mutex"_a, "function"_a, "args"_a,
      nb::sig("def call_locked(mutex: Mutex, function: Any, *args: Any) -> Any"),
      "Call a function that no other thread is in meanwhile.");
  m.def(
      "call_within",
      [](const nb::list& stack, nb::handle top, const nb::callable& function,
         const nb::args& args) {
        const Py_ssize_t height = PyList_GET_SIZE(stack.ptr());
        if (PyList_Append(stack.ptr(), top.ptr())) throw nb::python_error();
        return call_then(function, args, [&] {
          PyList_SetSlice(stack.ptr(), height, PyList_GET_SIZE(stack.ptr()), nullptr);
        });
      },
      "stack"_a, "top"_a, "function"_a, "args"_a,
      nb::sig("def call_within(stack: list[Any], top: Any, function: Any, *args: Any) -> Any"),
      "Call a function while something is on top of a stack.");
  m.def(
      "call_with_attribute",
      [](nb::handle target, nb::handle name, nb::handle meanwhile, const nb::callable& function,
         const nb::args& args) {
        const nb::object before = nb::steal(PyObject_GetAttr(target.ptr(), name.ptr()));
        if (!before.is_valid() || PyObject_SetAttr(target.ptr(), name.ptr(), meanwhile.ptr())) {
          throw nb::python_error();
        }
        return call_then(function, args,
                         [&] { PyObject_SetAttr(target.ptr(), name.ptr(), before.ptr()); });
      },
      "target"_a, "name"_a, "meanwhile"_a.none(), "function"_a, "args"_a,
      nb::sig("def call_with_attribute(target: Any, name: str, meanwhile: Any, function: Any, "
              "*args: Any) -> Any"),
      "Call a function while an attribute has another value.");
  m.def(
      "store_result",
      [](nb::handle target, nb::handle name, const nb::callable& function, const nb::args& args) {
        const nb::object result = nb::steal(
            survive_exit([&] { return PyObject_CallObject(function.ptr(), args.ptr()); }));
        if (!result.is_valid() || PyObject_SetAttr(target.ptr(), name.ptr(), result.ptr())) {
          throw nb::python_error();
        }
      },
      "target"_a, "name"_a, "function"_a, "args"_a,
      nb::sig("def store_result(target: Any, name: str, function: Any, *args: Any) -> None"),
      "Call a function and set an attribute to what it returns, as one step.");
}

}  // namespace daliesque
