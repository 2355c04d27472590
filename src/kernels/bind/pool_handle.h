// SPDX-License-Identifier: Apache-2.0
// Thread pools that Python owns, for native code.
#pragma once

#include "bind/bind.h"
#include "core/parallel.h"

namespace daliesque {

/// A handle of a ThreadPool of Python; empty for None. nanobind's own conversion ends the process
/// if there is no memory for it.
inline PoolHandle pool_handle(nb::handle pool) {
  if (pool.is_none()) return {};
  if (!nb::isinstance<ThreadPool>(pool)) throw nb::type_error("expected a ThreadPool or None");
  Py_INCREF(pool.ptr());
  PyObject* owner = pool.ptr();
  return PoolHandle(nb::inst_ptr<ThreadPool>(pool), [owner](ThreadPool*) {
    if (!Py_IsInitialized()) return;
    const AcquireGil gil;
    survive_exit([owner] { Py_DECREF(owner); });
  });
}

}  // namespace daliesque
