// SPDX-License-Identifier: Apache-2.0
#include "core/exif.h"

#include <cstring>

namespace daliesque {

namespace {

bool begins_with(std::span<const uint8_t> block, const char* text, size_t size) {
  return block.size() >= size && std::memcmp(block.data(), text, size) == 0;
}

/// Numbers at offsets in a block, in its order of bytes.
class TiffReader {
 public:
  TiffReader(std::span<const uint8_t> block, bool big) : block_(block), big_(big) {}

  bool has(size_t offset, size_t count) const {
    return offset <= block_.size() && count <= block_.size() - offset;
  }
  uint32_t u16(size_t offset) const {
    const uint8_t* const data = block_.data() + offset;
    return static_cast<uint32_t>(big_ ? data[0] << 8 | data[1] : data[1] << 8 | data[0]);
  }
  uint32_t u32(size_t offset) const {
    const uint32_t first = u16(offset), second = u16(offset + 2);
    return big_ ? first << 16 | second : second << 16 | first;
  }

 private:
  std::span<const uint8_t> block_;
  bool big_;
};

}  // namespace

int exif_orientation(std::span<const uint8_t> block, bool strict) {
  constexpr size_t kEntryBytes = 12, kReadBytes = 10;
  constexpr uint32_t kOrientationTag = 0x0112, kShortType = 3;
  if (begins_with(block, "Exif\0\0", 6)) block = block.subspan(6);
  const bool big = begins_with(block, "MM\0*", 4);
  if (!big && !begins_with(block, "II*\0", 4)) return 1;
  const TiffReader reader(block, big);
  if (!reader.has(4, 4)) return 1;
  const size_t directory = reader.u32(4);
  if (!reader.has(directory, 2)) return 1;
  const uint32_t entries = reader.u16(directory);
  for (uint32_t i = 0; i < entries; i++) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (!reader.has(entry, strict ? kEntryBytes : kReadBytes)) return 1;
    if (reader.u16(entry) != kOrientationTag) continue;
    if (strict && reader.u32(entry + 4) != 1) return 1;
    if (reader.u16(entry + 2) != kShortType) {
      if (strict) return 1;
      continue;
    }
    const uint32_t value = reader.u16(entry + 8);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace daliesque
