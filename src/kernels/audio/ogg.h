// SPDX-License-Identifier: Apache-2.0
// Ogg files (RFC 3533) of a single stream.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/byte_window.h"

namespace daliesque::audio {

/// A page, which stays valid until the window moves.
struct OggPage {
  int64_t offset = 0, size = 0;
  int64_t granule = 0;  ///< the position at its end, -1 if no packet ends in it
  uint32_t serial = 0, number = 0;
  bool is_continued = false, is_first = false, is_last = false;
  std::span<const uint8_t> header, lacing, body;

  int64_t end() const { return offset + size; }
  /// Reads the page that begins at an offset; false if there is none.
  bool parse(ByteWindow& window, int64_t at);
  /// Whether the checksum is right.
  bool is_intact() const;
};

/// The most bytes of a page.
constexpr int64_t kMostOggPage = 27 + 255 + 255 * 255;

/// Packets in the order of the file. Whatever is unusual about the pages counts as a failure.
class OggPackets {
 public:
  explicit OggPackets(const AudioBytes& source) : window_(source), size_(source.size()) {}

  struct Packet {
    std::span<const uint8_t> bytes;
    int64_t granule;  ///< of its page if it is the last one to end there; otherwise -1
  };
  /// The next packet, which stays valid until the next call; false if there is none.
  bool next(Packet& packet);

  /// Goes on with the first packet that begins in the page at an offset.
  bool go_to(int64_t offset);
  /// Finds a page that begins at or after `offset`, and before `end`, in which a packet ends.
  bool find_page(int64_t offset, int64_t end, OggPage& page) {
    return find_page_if(offset, end, page, false);
  }
  /// The page at the end of the file.
  bool find_last_page(OggPage& page) {
    return find_page_if(std::max<int64_t>(0, size_ - kMostOggPage), size_, page, true);
  }

  const OggPage& page() const { return page_; }
  /// Whether all packets of the page were read.
  bool at_page_end() const { return segment_ == page_.lacing.size(); }
  bool in_last_page() const { return page_.end() == size_; }

 private:
  bool next_page();
  bool give_up();
  bool find_page_if(int64_t offset, int64_t end, OggPage& page, bool at_file_end);

  ByteWindow window_;
  int64_t size_;
  OggPage page_;
  size_t segment_ = 0, position_ = 0;  ///< in the page
  std::vector<uint8_t> partial_;       ///< what earlier pages have of a packet
};

}  // namespace daliesque::audio
