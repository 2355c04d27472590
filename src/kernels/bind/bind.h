// SPDX-License-Identifier: Apache-2.0
// What the binding files share: registration functions and argument types.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "../per_sample.h"
#include "../samples.h"

namespace nb = nanobind;

namespace daliesque {

/// A per-sample argument as operators pass it: a C-contiguous array whose first axis is the sample,
/// or 1 if one value serves all.
template <class T>
using ArgArray = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

template <class T>
PerSample<T> per_sample(const ArgArray<T>& array) {
  const auto rows = static_cast<int64_t>(array.ndim() ? array.shape(0) : 1);
  const int64_t width = rows ? static_cast<int64_t>(array.size()) / rows : 0;
  return PerSample<T>(array.data(), rows, width);
}

void bind_resize(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_samples(nb::module_& m);
void bind_interop(nb::module_& m);
void bind_random(nb::module_& m);
void bind_arithmetic(nb::module_& m);
void bind_color(nb::module_& m);
void bind_moves(nb::module_& m);
void bind_jpeg(nb::module_& m);

}  // namespace daliesque
