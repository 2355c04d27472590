// SPDX-License-Identifier: Apache-2.0
// Threads, memory and processor features.
#include "bind/bind.h"
#include "core/cpu.h"
#include "core/parallel.h"

namespace daliesque {

void bind_runtime(nb::module_& m) {
  using namespace nb::literals;

  nb::exception<OutOfMemory>(m, "OutOfMemory", PyExc_MemoryError);

  nb::class_<ThreadPool>(m, "ThreadPool")
      .def(nb::init<int>(), "num_threads"_a)
      .def_prop_ro("num_threads", &ThreadPool::num_threads);

  m.def("default_pool", &default_pool);
  m.def("set_default_pool", &set_default_pool, "pool"_a);
  m.def("exchange_current_pool", &exchange_current_pool, "pool"_a.none(),
        "Set this thread's pool (None: the default); returns the previous setting.");

  m.def(
      "memory_info",
      [] {
        const MemoryInfo info = memory_info();
        nb::dict out;
        out["used_bytes"] = info.used_bytes;
        out["used_buffers"] = info.used_buffers;
        out["cached_bytes"] = info.cached_bytes;
        out["cached_buffers"] = info.cached_buffers;
        out["peak_bytes"] = info.peak_bytes;
        out["limit_bytes"] = info.limit_bytes;
        return out;
      },
      nb::sig("def memory_info() -> dict[str, int]"));
  m.def("set_memory_limit", &set_memory_limit, "bytes"_a);
  m.def("release_memory", &release_memory);

  m.def("cpu_has_avx2", &cpu_has_avx2);
  m.def("set_simd_enabled", &set_simd_enabled, "enabled"_a, "avx512"_a = true);
}

}  // namespace daliesque
