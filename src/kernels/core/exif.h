// SPDX-License-Identifier: Apache-2.0
// The one thing of EXIF that matters here: which way is up.
#pragma once

#include <cstdint>
#include <span>

namespace daliesque {

/// The orientation (1 to 8) in a block of EXIF data, which may begin with "Exif" and two zeros; 1
/// if it has none or is damaged. If `strict`, an orientation that is not one 16-bit number counts
/// as damage; else the first such number is taken.
int exif_orientation(std::span<const uint8_t> block, bool strict);

}  // namespace daliesque
