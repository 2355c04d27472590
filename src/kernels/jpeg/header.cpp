// SPDX-License-Identifier: Apache-2.0
#include "jpeg/header.h"

#include <algorithm>
#include <cstring>

#include "core/exif.h"

namespace daliesque::jpeg {

namespace {

enum Marker : uint8_t {
  kTem = 0x01,
  kSof0 = 0xC0,
  kDht = 0xC4,
  kJpg = 0xC8,
  kDac = 0xCC,
  kSof15 = 0xCF,
  kRst0 = 0xD0,
  kRst7 = 0xD7,
  kSoi = 0xD8,
  kEoi = 0xD9,
  kSos = 0xDA,
  kDqt = 0xDB,
  kDnl = 0xDC,
  kDri = 0xDD,
  kApp0 = 0xE0,
  kApp1 = 0xE1,
  kApp14 = 0xEE,
  kApp15 = 0xEF,
  kCom = 0xFE,
};

int read_u16(const uint8_t* p) { return p[0] << 8 | p[1]; }

bool starts_with(const uint8_t* body, size_t length, const char* text, size_t text_length) {
  return length >= text_length && std::memcmp(body, text, text_length) == 0;
}

}  // namespace

Result HeaderReader::corrupt(const char* what, const uint8_t* where) const {
  return {Status::kCorrupt, what, static_cast<size_t>(where - data_)};
}

Result HeaderReader::truncated(const char* where) const {
  return {Status::kTruncated, where, size_};
}

Result HeaderReader::next_marker(uint8_t* marker) {
  // Bytes between segments are skipped, as every decoder does; 0xFF may be repeated as filler.
  while (position_ < size_) {
    const auto* found =
        static_cast<const uint8_t*>(std::memchr(data_ + position_, 0xFF, size_ - position_));
    if (found == nullptr) break;
    position_ = found - data_;
    while (position_ < size_ && data_[position_] == 0xFF) ++position_;
    if (position_ == size_) break;
    *marker = data_[position_++];
    if (*marker != 0) return {};
  }
  position_ = size_;
  return truncated(has_frame_ ? "before the scan" : "before the frame header");
}

Result HeaderReader::read_to_first_scan() {
  if (size_ < 2) return size_ == 0 ? truncated("it is empty") : truncated("inside the signature");
  if (data_[0] != 0xFF || data_[1] != kSoi) {
    return {Status::kNotJpeg, "the data do not start with a JPEG signature", 0};
  }
  position_ = 2;
  Step step = Step::kMore;
  while (step == Step::kMore) {
    uint8_t marker = 0;
    Result result = next_marker(&marker);
    if (result.ok()) result = read_segment(marker, &step);
    if (!result.ok()) return result;
  }
  if (step == Step::kEnd) return corrupt("the image ends before its scan", data_ + position_ - 2);
  return {};
}

Result HeaderReader::read_to_next_scan(size_t offset, bool* found) {
  position_ = offset;
  Step step = Step::kMore;
  while (step == Step::kMore) {
    uint8_t marker = 0;
    Result result = next_marker(&marker);
    if (result.ok()) result = read_segment(marker, &step);
    if (!result.ok()) return result;
  }
  *found = step == Step::kScan;
  return {};
}

Result HeaderReader::read_segment(uint8_t marker, Step* step) {
  if (marker == kEoi) {
    *step = Step::kEnd;
    return {};
  }
  if (marker == kTem || (marker >= kRst0 && marker <= kRst7)) return {};
  const uint8_t* const start = data_ + position_ - 2;
  const bool known = (marker >= kSof0 && marker <= kSof15) || (marker >= kSos && marker <= kDri) ||
                     (marker >= kApp0 && marker <= kApp15) || marker == kCom;
  if (marker == kSoi) return corrupt("a second start-of-image marker", start);
  if (!known) return corrupt("an unknown marker", start);
  if (size_ - position_ < 2) return truncated("inside a marker segment");
  const size_t length = read_u16(data_ + position_);
  if (length < 2) return corrupt("a marker segment with an impossible length", start);
  if (size_ - position_ < length) return truncated("inside a marker segment");
  const uint8_t* const body = data_ + position_ + 2;
  const size_t body_length = length - 2;
  position_ += length;
  switch (marker) {
    case kDht:
      return read_huffman_tables(body, body_length);
    case kDqt:
      return read_quant_tables(body, body_length);
    case kDri:
      if (body_length != 2) return corrupt("a restart-interval segment of the wrong length", start);
      header_.info.restart_interval = read_u16(body);
      return {};
    case kSos:
      *step = Step::kScan;
      return read_scan(body, body_length);
    case kDac:
    case kDnl:
    case kCom:
      return {};
    default:
      if (marker >= kApp0) {
        read_application(marker, body, body_length);
        return {};
      }
      return read_frame(marker, body, body_length);
  }
}

Result HeaderReader::read_frame(uint8_t marker, const uint8_t* body, size_t length) {
  if (marker == kJpg) return corrupt("a reserved frame type", body - 4);
  if (has_frame_) return corrupt("a second frame header", body - 4);
  if (length < 6) return corrupt("a frame header of the wrong length", body - 4);
  const int count = body[5];
  if (length != 6 + 3 * static_cast<size_t>(count)) {
    return corrupt("a frame header of the wrong length", body - 4);
  }
  ImageInfo& info = header_.info;
  // The low two bits of the marker number encode the process; 5 to 7 and 13 to 15 are hierarchical.
  constexpr Coding kCodings[4] = {Coding::kBaseline, Coding::kExtended, Coding::kProgressive,
                                  Coding::kLossless};
  const int type = marker - kSof0;
  info.coding = (type & 4) != 0 ? Coding::kHierarchical : kCodings[type & 3];
  info.arithmetic = type >= 8;
  info.precision = body[0];
  const int height = read_u16(body + 1);
  const int width = read_u16(body + 3);
  if (width == 0 || height == 0) return corrupt("a frame header with an empty size", body - 4);
  if (count == 0) return corrupt("a frame header without components", body - 4);
  info.components = count;
  for (int i = 0; i < std::min(count, kMaxComponents); ++i) {
    const uint8_t* const entry = body + 6 + 3 * i;
    FrameComponent& component = header_.components[i];
    component = {entry[0], static_cast<uint8_t>(entry[1] >> 4), static_cast<uint8_t>(entry[1] & 15),
                 entry[2]};
    if (component.h < 1 || component.h > 4 || component.v < 1 || component.v > 4) {
      return corrupt("a sampling factor outside 1..4", entry + 1);
    }
    info.h_sampling[i] = component.h;
    info.v_sampling[i] = component.v;
    header_.max_h = std::max<int>(header_.max_h, component.h);
    header_.max_v = std::max<int>(header_.max_v, component.v);
  }
  info.width = width;
  info.height = height;
  has_frame_ = true;
  return {};
}

Result HeaderReader::read_quant_tables(const uint8_t* body, size_t length) {
  const uint8_t* const end = body + length;
  while (body < end) {
    const bool wide = (*body >> 4) != 0;
    const int index = *body & 15;
    const ptrdiff_t bytes = wide ? 2 * kBlockSize : kBlockSize;
    if (index > 3) return corrupt("a quantization table number above 3", body);
    if (end - body - 1 < bytes) return corrupt("a quantization table cut short", body);
    ++body;
    QuantTable& table = header_.quant[index];
    for (int i = 0; i < kBlockSize; ++i) {
      const int value = wide ? read_u16(body + 2 * i) : body[i];
      table.values[kNaturalOrder[i]] = static_cast<uint16_t>(value);
    }
    table.defined = true;
    body += bytes;
  }
  return {};
}

Result HeaderReader::read_huffman_tables(const uint8_t* body, size_t length) {
  const uint8_t* const end = body + length;
  while (body < end) {
    const int type = *body >> 4;
    const int index = *body & 15;
    if (type > 1 || index > 3) return corrupt("a Huffman table number above 3", body);
    if (end - body < 17) return corrupt("a Huffman table cut short", body);
    int symbols = 0;
    for (int i = 1; i <= 16; ++i) symbols += body[i];
    if (symbols > 256 || end - body - 17 < symbols) {
      return corrupt("a Huffman table cut short", body);
    }
    HuffmanSpec& spec = type == 0 ? header_.dc_huffman[index] : header_.ac_huffman[index];
    spec = {body + 1, symbols};
    body += 17 + symbols;
  }
  return {};
}

Result HeaderReader::read_scan(const uint8_t* body, size_t length) {
  if (!has_frame_) return corrupt("a scan before the frame header", body - 4);
  const int count = length >= 1 ? body[0] : 0;
  if (count < 1 || count > kMaxComponents || length != 4 + 2 * static_cast<size_t>(count)) {
    return corrupt("a scan header of the wrong length", body - 4);
  }
  header_.scan_components = count;
  unsigned seen = 0;
  const int components = std::min(header_.info.components, kMaxComponents);
  for (int i = 0; i < count; ++i) {
    const uint8_t* const entry = body + 1 + 2 * i;
    int index = 0;
    while (index < components && header_.components[index].id != entry[0]) ++index;
    if (index == components) return corrupt("a scan component that the frame lacks", entry);
    if ((seen >> index & 1) != 0) return corrupt("a scan component listed twice", entry);
    seen |= 1u << index;
    if ((entry[1] >> 4) > 3 || (entry[1] & 15) > 3) {
      return corrupt("a Huffman table number above 3", entry + 1);
    }
    header_.scan[i] = {static_cast<uint8_t>(index), static_cast<uint8_t>(entry[1] >> 4),
                       static_cast<uint8_t>(entry[1] & 15)};
  }
  const uint8_t* const band = body + 1 + 2 * count;
  header_.band = {band[0], band[1], static_cast<uint8_t>(band[2] >> 4),
                  static_cast<uint8_t>(band[2] & 15)};
  set_color();
  return {};
}

void HeaderReader::read_application(uint8_t marker, const uint8_t* body, size_t length) {
  if (marker == kApp0 && length >= 14 && starts_with(body, length, "JFIF\0", 5)) {
    has_jfif_ = true;
  } else if (marker == kApp14 && length >= 12 && starts_with(body, length, "Adobe", 5)) {
    header_.info.adobe = true;
    adobe_transform_ = body[11];
  } else if (marker == kApp1 && !has_exif_ && starts_with(body, length, "Exif\0", 5) &&
             length >= 6) {
    has_exif_ = true;
    header_.info.orientation = exif_orientation({body + 6, length - 6}, true);
  }
}

void HeaderReader::set_color() {
  const FrameComponent* const c = header_.components;
  Color& color = header_.info.color;
  switch (header_.info.components) {
    case 1:
      color = Color::kGray;
      break;
    case 3:
      color = Color::kYCbCr;
      if (has_jfif_) break;
      if (header_.info.adobe ? adobe_transform_ == 0
                             : c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B') {
        color = Color::kRgb;
      }
      break;
    case 4:
      color = header_.info.adobe && adobe_transform_ != 0 ? Color::kYcck : Color::kCmyk;
      break;
    default:
      color = Color::kUnknown;
  }
}

const char* HeaderReader::declined_reason() const {
  const ImageInfo& info = header_.info;
  if (info.arithmetic) return "arithmetic coding";
  switch (info.coding) {
    case Coding::kLossless:
      return "lossless coding";
    case Coding::kHierarchical:
      return "hierarchical coding";
    default:
      break;
  }
  if (info.precision != 8) return "a precision other than 8 bits";
  if (info.components == 2 || info.components > kMaxComponents) {
    return "neither one, three nor four components";
  }
  for (int i = 0; i < info.components; ++i) {
    const FrameComponent& component = header_.components[i];
    if (header_.max_h % component.h != 0 || header_.max_v % component.v != 0) {
      return "a fractional sampling ratio";
    }
    for (int j = 0; j < i; ++j) {
      if (header_.components[j].id == component.id) return "two components of the same name";
    }
  }
  return nullptr;
}

}  // namespace daliesque::jpeg
