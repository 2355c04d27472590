// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace daliesque {

/// A part of an image.
struct CropWindow {
  int64_t y, x, height, width;
};

}  // namespace daliesque
