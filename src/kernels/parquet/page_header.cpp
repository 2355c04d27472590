// SPDX-License-Identifier: Apache-2.0
#include "parquet/page_header.h"

namespace daliesque::parquet {

namespace {

// The types of fields in Thrift's compact protocol.
enum class FieldType : uint8_t {
  stop = 0,
  is_true = 1,
  is_false = 2,
  byte = 3,
  int16 = 4,
  int32 = 5,
  int64 = 6,
  float64 = 7,
  binary = 8,
  list = 9,
  set = 10,
  map = 11,
  structure = 12,
};

constexpr int kMostNested = 8;
constexpr uint64_t kMostElements = 1 << 16;

int64_t read_signed(Cursor& cursor) {
  const uint64_t bits = cursor.varint();
  return static_cast<int64_t>(bits >> 1 ^ (0 - (bits & 1)));
}

void skip_value(Cursor& cursor, FieldType type, int depth);

/// Calls visit(number, type) for each field of a structure, which has to read or skip its value.
template <class Visit>
void read_fields(Cursor& cursor, Visit&& visit) {
  int64_t number = 0;
  for (;;) {
    const uint8_t lead = cursor.byte();
    const auto type = static_cast<FieldType>(lead & 15);
    if (type == FieldType::stop) return;
    number = lead >> 4 ? number + (lead >> 4) : read_signed(cursor);
    visit(number, type);
  }
}

void skip_elements(Cursor& cursor, uint64_t count, FieldType type, int depth) {
  if (count > kMostElements) throw Undecoded("a list in a page header is too long");
  for (; count > 0; count--) {
    // Truth values, which are in the type of fields, take a byte in lists.
    const bool is_truth = type == FieldType::is_true || type == FieldType::is_false;
    skip_value(cursor, is_truth ? FieldType::byte : type, depth);
  }
}

void skip_value(Cursor& cursor, FieldType type, int depth) {
  if (depth > kMostNested) throw Undecoded("a page header is nested too deeply");
  switch (type) {
    case FieldType::is_true:
    case FieldType::is_false:
      return;
    case FieldType::byte:
      cursor.take(1);
      return;
    case FieldType::int16:
    case FieldType::int32:
    case FieldType::int64:
      cursor.varint();
      return;
    case FieldType::float64:
      cursor.take(8);
      return;
    case FieldType::binary:
      cursor.take(cursor.varint());
      return;
    case FieldType::list:
    case FieldType::set: {
      const uint8_t lead = cursor.byte();
      const uint64_t count = lead >> 4 == 15 ? cursor.varint() : lead >> 4;
      skip_elements(cursor, count, static_cast<FieldType>(lead & 15), depth + 1);
      return;
    }
    case FieldType::structure:
      read_fields(cursor, [&](int64_t, FieldType field) { skip_value(cursor, field, depth + 1); });
      return;
    default:
      throw Undecoded("a page header has a field of unknown type");
  }
}

int64_t read_number(Cursor& cursor, FieldType type) {
  if (type != FieldType::int32) throw Undecoded("a page header has a field of another type");
  const int64_t value = read_signed(cursor);
  if (value < INT32_MIN || value > INT32_MAX) throw Undecoded("a page header has a large number");
  return value;
}

/// Reads the numbers with the identifiers 1, 2, ... of a structure; null for those of no interest.
/// Where a structure has a truth value instead of a number, it is 1 or 0.
template <size_t N>
void read_numbers(Cursor& cursor, FieldType type, int64_t* const (&numbers)[N]) {
  if (type != FieldType::structure) throw Undecoded("a page header has a field of another type");
  read_fields(cursor, [&](int64_t id, FieldType field) {
    int64_t* target = id >= 1 && id <= static_cast<int64_t>(N) ? numbers[id - 1] : nullptr;
    if (!target) return skip_value(cursor, field, 0);
    const bool is_truth = field == FieldType::is_true || field == FieldType::is_false;
    *target = is_truth ? field == FieldType::is_true : read_number(cursor, field);
  });
}

}  // namespace

PageHeader read_page_header(Cursor& cursor) {
  PageHeader header;
  int64_t encoding = -1, definitions = 3, repetitions = 3, compressed = 1, kind = -1;
  int64_t* const own[] = {&kind, &header.unpacked_size, &header.packed_size};
  int64_t* const data[] = {&header.values, &encoding, &definitions, &repetitions};
  int64_t* const dictionary[] = {&header.values, &encoding};
  int64_t* const data_v2[] = {
      &header.values,          nullptr,    nullptr, &encoding, &header.definition_size,
      &header.repetition_size, &compressed};
  read_fields(cursor, [&](int64_t id, FieldType type) {
    if (id >= 1 && id <= 3) {
      *own[id - 1] = read_number(cursor, type);
    } else if (id == 5) {
      read_numbers(cursor, type, data);
    } else if (id == 7) {
      read_numbers(cursor, type, dictionary);
    } else if (id == 8) {
      read_numbers(cursor, type, data_v2);
    } else {
      skip_value(cursor, type, 0);
    }
  });
  if (kind < 0 || kind > 3) throw Undecoded("a page is of unknown kind");
  header.kind = static_cast<PageKind>(kind);
  header.encoding = static_cast<Encoding>(encoding);
  header.definition_encoding = static_cast<Encoding>(definitions);
  header.repetition_encoding = static_cast<Encoding>(repetitions);
  header.is_compressed = compressed != 0;
  const bool is_index = header.kind == PageKind::index;
  if (header.packed_size < 0 || header.unpacked_size < 0 || (header.values < 0 && !is_index) ||
      header.definition_size < 0 || header.repetition_size < 0) {
    throw Undecoded("a page header has a negative size, or none");
  }
  return header;
}

}  // namespace daliesque::parquet
