// SPDX-License-Identifier: Apache-2.0
#include "records/recordio.h"

#include "records/record_values.h"

namespace daliesque::records {

namespace {

using protobuf::Cursor;

constexpr uint32_t kRecordMagic = 0xced7230a;

// A record that contains the magic number is stored in parts, cut where it occurs.
constexpr uint32_t kWhole = 0, kLastPart = 3;

// Number of labels (0: the next field is the only one), label, two numbers of the image.
constexpr size_t kImageHeader = 24;

uint32_t read_word(Cursor& rest) {
  return static_cast<uint32_t>(protobuf::little_endian(rest.take(4).data(), 4));
}

/// A part of a record: what it holds, and whether others follow.
struct Part {
  Cursor data;
  uint32_t kind;
};

/// Reads a part and the padding after it. Throws Malformed if there is less than it says.
Part read_part(Cursor& rest, bool& has_magic) {
  has_magic = read_word(rest) == kRecordMagic;
  if (!has_magic) return {};
  const uint32_t word = read_word(rest), length = word & ((1u << 29) - 1);
  const Part part{rest.take(length), word >> 29};
  // The last record of a file may lack its padding.
  rest.take(std::min<size_t>(-length & 3, rest.size()));
  return part;
}

RecordError parse(Cursor record, RecordValue* values) {
  bool has_magic;
  Part part;
  try {
    part = read_part(record, has_magic);
  } catch (const protobuf::Malformed&) {
    return {0, RecordFault::cut_short, 0, 0};
  }
  if (!has_magic) return {0, RecordFault::bad_magic, 0, 0};
  if (part.data.size() < kImageHeader) return {0, RecordFault::too_short, 0, 0};
  Cursor header = part.data.take(kImageHeader);
  const size_t labels = read_word(header);
  RecordValue &image = values[0], &label = values[1];
  if (labels == 0) label.set_part(DType::float32, header.take(4));
  std::string joined;
  if (part.kind != kWhole) {
    joined = part.data.text();
    while (part.kind != kLastPart) {
      const uint32_t magic = kRecordMagic;
      joined.append(reinterpret_cast<const char*>(&magic), 4);
      try {
        part = read_part(record, has_magic);
      } catch (const protobuf::Malformed&) {
        return {0, RecordFault::cut_short, 0, 0};
      }
      if (!has_magic || part.kind == kWhole) return {0, RecordFault::bad_magic, 0, 0};
      joined.append(part.data.text());
    }
    part.data = Cursor(joined.data(), joined.size());
  }
  if (4 * labels > part.data.size()) return {0, RecordFault::wrong_size, 1, 0};
  const Cursor label_bytes = part.data.take(4 * labels);
  if (labels > 0) {
    std::vector<float> floats(labels);
    std::memcpy(floats.data(), label_bytes.data(), label_bytes.size());
    label.set_values(DType::float32, floats);
  }
  if (joined.empty()) {
    image.set_part(DType::uint8, part.data);
  } else {
    image.decoded = part.data.text();
    image.is_part = false;
    image.shape[0] = static_cast<int64_t>(image.decoded.size());
  }
  return {0, RecordFault::none, 0, 0};
}

}  // namespace

std::vector<Samples> parse_recordio(const Samples& records, std::vector<RecordError>& errors) {
  return parse_records(records, 2, parse, errors);
}

}  // namespace daliesque::records
