// SPDX-License-Identifier: Apache-2.0
// Numbers in files, in either order of bytes.
#pragma once

#include <cstdint>

namespace daliesque::codecs {

inline uint32_t big16(const uint8_t* data) { return static_cast<uint32_t>(data[0] << 8 | data[1]); }

inline uint32_t big32(const uint8_t* data) { return big16(data) << 16 | big16(data + 2); }

inline uint32_t little16(const uint8_t* data) {
  return static_cast<uint32_t>(data[1] << 8 | data[0]);
}

inline uint32_t little32(const uint8_t* data) { return little16(data + 2) << 16 | little16(data); }

}  // namespace daliesque::codecs
