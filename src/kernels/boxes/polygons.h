// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/samples.h"

namespace daliesque::boxes {

/// The chosen polygons, or the first sample (otherwise -1) for which that fails, and why.
struct SelectedPolygons {
  Samples polygons, vertices;
  int64_t failed = -1;
  std::string reason;
};

/// Selects polygons, rows (mask, first vertex, one past the last) of int32, by their masks (int32
/// vectors), and the rows of `vertices` that belong to them. The last polygon of a mask counts.
/// With `renumber`, masks get the number of their index in `masks`.
SelectedPolygons select_polygons(const Samples& masks, const Samples& polygons,
                                 const Samples& vertices, bool renumber);

}  // namespace daliesque::boxes
