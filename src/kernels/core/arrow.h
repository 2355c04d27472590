// SPDX-License-Identifier: Apache-2.0
// The Arrow C data interface (https://arrow.apache.org/docs/format/CDataInterface.html), as far as
// we need it: how libraries hand over columns within a process, without copying them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace daliesque::arrow {

/// The interface's ArrowSchema: the type of a column.
struct Schema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  Schema** children;
  Schema* dictionary;
  void (*release)(Schema*);
  void* private_data;
};

/// The interface's ArrowArray: the data of a column.
struct Array {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  Array** children;
  Array* dictionary;
  void (*release)(Array*);
  void* private_data;
};

/// The interface's ArrowArrayStream: columns one after the other.
struct Stream {
  int (*get_schema)(Stream*, Schema* out);
  int (*get_next)(Stream*, Array* out);
  const char* (*get_last_error)(Stream*);
  void (*release)(Stream*);
  void* private_data;
};

/// The same as Schema, as a value.
struct Field {
  std::string format, name;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<Field> children;
  /// Empty, or the type of the values that a column of indices refers to.
  std::vector<Field> dictionary;
};

/// Reads a schema, which stays as it is.
Field read_field(const Schema& schema);

/// Fills in a schema; the consumer calls its `release`.
void export_field(const Field& field, Schema* out);

}  // namespace daliesque::arrow
