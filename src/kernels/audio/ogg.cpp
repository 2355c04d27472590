// SPDX-License-Identifier: Apache-2.0
#include "audio/ogg.h"

#include <array>
#include <cstring>

namespace daliesque::audio {

namespace {

constexpr int64_t kHeader = 27;
constexpr char kMark[] = "OggS";

using OggCrcTables = std::array<std::array<uint32_t, 256>, 8>;

/// tables[k][b]: what byte b followed by k zero bytes does to the checksum.
constexpr OggCrcTables make_tables() {
  constexpr uint32_t kPolynomial = 0x04c11db7;
  OggCrcTables tables{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte << 24;
    for (int bit = 0; bit < 8; bit++) crc = crc << 1 ^ (crc >> 31 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; k++) {
    for (size_t byte = 0; byte < 256; byte++) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = before << 8 ^ tables[0][before >> 24];
    }
  }
  return tables;
}

constexpr OggCrcTables kTables = make_tables();

/// Goes on with a checksum; the highest bit of each byte comes first.
uint32_t update_checksum(uint32_t crc, std::span<const uint8_t> bytes) {
  const uint8_t* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    crc ^= static_cast<uint32_t>(at[0]) << 24 | at[1] << 16 | at[2] << 8 | at[3];
    crc = kTables[7][crc >> 24] ^ kTables[6][crc >> 16 & 0xff] ^ kTables[5][crc >> 8 & 0xff] ^
          kTables[4][crc & 0xff] ^ kTables[3][at[4]] ^ kTables[2][at[5]] ^ kTables[1][at[6]] ^
          kTables[0][at[7]];
  }
  for (; left > 0; at++, left--) crc = crc << 8 ^ kTables[0][crc >> 24 ^ *at];
  return crc;
}

uint64_t ogg_number(const uint8_t* at, int bytes) {
  uint64_t value = 0;
  for (int k = bytes; k-- > 0;) value = value << 8 | at[k];
  return value;
}

}  // namespace

bool OggPage::parse(ByteWindow& window, int64_t at) {
  const auto [data, held] = window.from(at, kMostOggPage);
  if (held < kHeader || std::memcmp(data, kMark, 4) != 0 || data[4] != 0) return false;
  const int64_t segments = data[26];
  if (held < kHeader + segments) return false;
  header = {data, kHeader};
  lacing = {data + kHeader, static_cast<size_t>(segments)};
  int64_t length = 0;
  for (const uint8_t part : lacing) length += part;
  offset = at;
  size = kHeader + segments + length;
  if (held < size) return false;
  body = {data + kHeader + segments, static_cast<size_t>(length)};
  is_continued = data[5] & 1;
  is_first = data[5] & 2;
  is_last = data[5] & 4;
  granule = static_cast<int64_t>(ogg_number(data + 6, 8));
  serial = static_cast<uint32_t>(ogg_number(data + 14, 4));
  number = static_cast<uint32_t>(ogg_number(data + 18, 4));
  return true;
}

bool OggPage::is_intact() const {
  // The checksum itself counts as zeros.
  uint8_t cleared[kHeader];
  std::memcpy(cleared, header.data(), kHeader);
  std::memset(cleared + 22, 0, 4);
  uint32_t crc = update_checksum(0, cleared);
  crc = update_checksum(crc, lacing);
  return update_checksum(crc, body) == ogg_number(header.data() + 22, 4);
}

bool OggPackets::next(Packet& packet) {
  // What was returned before is no longer needed.
  if (segment_ == 0 || page_.lacing[segment_ - 1] < 255) partial_.clear();
  for (;;) {
    const size_t begin = position_;
    while (segment_ < page_.lacing.size()) {
      const uint8_t part = page_.lacing[segment_++];
      position_ += part;
      if (part == 255) continue;
      packet.bytes = page_.body.subspan(begin, position_ - begin);
      if (!partial_.empty()) {
        partial_.insert(partial_.end(), packet.bytes.begin(), packet.bytes.end());
        packet.bytes = partial_;
      }
      const auto rest = page_.lacing.subspan(segment_);
      const bool more = std::ranges::any_of(rest, [](uint8_t later) { return later < 255; });
      packet.granule = more ? -1 : page_.granule;
      return more || page_.granule >= 0;
    }
    partial_.insert(partial_.end(), page_.body.begin() + static_cast<ptrdiff_t>(begin),
                    page_.body.end());
    if (!next_page()) return false;
  }
}

bool OggPackets::next_page() {
  OggPage next;
  const bool begins = page_.size == 0;
  if (page_.is_last || !next.parse(window_, page_.end()) || !next.is_intact()) return give_up();
  const bool follows = next.serial == page_.serial && next.number == page_.number + 1;
  if (next.is_first != begins || !(begins || follows)) return give_up();
  if (next.is_continued != !partial_.empty()) return give_up();
  page_ = next;
  segment_ = position_ = 0;
  return true;
}

/// The window may have moved away from the page.
bool OggPackets::give_up() {
  const uint32_t serial = page_.serial;
  page_ = {};
  page_.serial = serial;
  page_.is_last = true;
  segment_ = position_ = 0;
  partial_.clear();
  return false;
}

bool OggPackets::go_to(int64_t offset) {
  OggPage page;
  if (!page.parse(window_, offset) || page.serial != page_.serial || !page.is_intact()) {
    return give_up();
  }
  page_ = page;
  partial_.clear();
  segment_ = position_ = 0;
  if (!page_.is_continued) return true;
  while (segment_ < page_.lacing.size()) {
    const uint8_t part = page_.lacing[segment_++];
    position_ += part;
    if (part < 255) return true;
  }
  return give_up();
}

bool OggPackets::find_page_if(int64_t offset, int64_t end, OggPage& page, bool at_file_end) {
  for (; offset < end; offset++) {
    const auto [data, held] = window_.from(offset, 4);
    const auto reach = static_cast<size_t>(std::min(held, end - offset));
    const void* found = reach > 0 ? std::memchr(data, kMark[0], reach) : nullptr;
    if (!found) {
      if (reach == 0) return false;
      offset += static_cast<int64_t>(reach) - 1;
      continue;
    }
    offset += static_cast<const uint8_t*>(found) - data;
    // Any bytes may look like the beginning of a page, but the checksum then does not fit.
    if (page.parse(window_, offset) && page.serial == page_.serial && page.granule >= 0 &&
        (!at_file_end || page.end() == size_) && page.is_intact()) {
      return true;
    }
  }
  return false;
}

}  // namespace daliesque::audio
