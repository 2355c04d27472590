// SPDX-License-Identifier: Apache-2.0
// Shapes as Python passes them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace daliesque {

/// Shapes as an int64 array: (N, ndim), or (1, ndim) if all samples share one.
using ShapeArray = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// The shapes of `count` samples, one after the other.
inline std::vector<int64_t> repeat_rows(const ShapeArray& shapes, int64_t count) {
  const auto rows = static_cast<int64_t>(shapes.shape(0));
  if (rows != count && rows != 1) throw std::invalid_argument("one shape for each sample needed");
  const auto ndim = static_cast<int64_t>(shapes.shape(1));
  std::vector<int64_t> out;
  out.reserve(static_cast<size_t>(count * ndim));
  for (int64_t i = 0; i < count; i++) {
    const int64_t* row = shapes.data() + (rows == 1 ? 0 : i * ndim);
    out.insert(out.end(), row, row + ndim);
  }
  return out;
}

}  // namespace daliesque
