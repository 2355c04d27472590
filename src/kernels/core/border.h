// SPDX-License-Identifier: Apache-2.0
// Border modes: which values are taken for positions outside an array.
#pragma once

#include <cstdint>

namespace daliesque {

enum class Border : int32_t {
  constant = 0,      ///< a fill value
  clamp = 1,         ///< the nearest element: aaa|abcd|ddd
  reflect_1001 = 2,  ///< mirrored with the edge: cba|abcd|dcb
  reflect_101 = 3,   ///< mirrored without it: dcb|abcd|cba
  wrap = 4,          ///< repeated: bcd|abcd|abc
};

/// What border_index() gives for an index that the array has no element for.
constexpr int64_t kOutside = -1;

/// The index in [0, extent) that `index` stands for.
inline int64_t border_index(int64_t index, int64_t extent, Border border) {
  if (index >= 0 && index < extent) return index;
  if (border == Border::constant || extent == 0) return kOutside;
  if (border == Border::clamp) return index < 0 ? 0 : extent - 1;
  const int64_t period = border == Border::wrap           ? extent
                         : border == Border::reflect_1001 ? 2 * extent
                                                          : 2 * extent - 2;
  if (period == 0) return 0;
  index %= period;
  if (index < 0) index += period;
  if (index < extent) return index;
  return period - index - (border == Border::reflect_1001 ? 1 : 0);
}

}  // namespace daliesque
