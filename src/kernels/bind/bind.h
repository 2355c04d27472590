// SPDX-License-Identifier: Apache-2.0
// What the binding files share: argument types. There is a file for each folder of kernels, with
// everything in that folder's namespace.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include "bind/arg_array.h"
#include "bind/casters.h"
#include "bind/gil.h"
#include "core/samples.h"

namespace nb = nanobind;

namespace daliesque {

/// The same samples, in dense rows.
inline Samples dense(const Samples& samples) {
  return samples.contiguous() ? samples : clone(samples);
}

/// Refuses arrays of which a kernel is going to read one for each of `count` samples, or one for
/// all, if there are too few.
inline void require_samples(const Samples& arrays, int64_t count) {
  if (arrays.size() != 1 && arrays.size() < count) {
    throw std::invalid_argument("an argument has " + std::to_string(arrays.size()) +
                                " arrays for " + std::to_string(count) + " samples");
  }
}

}  // namespace daliesque
