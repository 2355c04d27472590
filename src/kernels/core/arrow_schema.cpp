// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <memory>

#include "core/arrow.h"
#include "core/errors.h"

namespace daliesque::arrow {

namespace {

constexpr int64_t kNullable = 2;

/// Deeper types are not made by anybody; a schema that refers to itself would never end.
constexpr int kDeepest = 64;

using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Key-value pairs: their number, then the length and the bytes of each, in native byte order.
Metadata read_metadata(const char* text) {
  Metadata pairs;
  if (text == nullptr) return pairs;
  auto read_length = [&] {
    int32_t length = 0;
    std::memcpy(&length, text, sizeof length);
    text += sizeof length;
    if (length < 0) throw UsageError("the metadata of the Arrow schema are damaged");
    return static_cast<size_t>(length);
  };
  auto read_text = [&] {
    const size_t length = read_length();
    std::string read(text, length);
    text += length;
    return read;
  };
  for (size_t left = read_length(); left > 0; left--) {
    std::string key = read_text();
    pairs.emplace_back(std::move(key), read_text());
  }
  return pairs;
}

std::string write_metadata(const Metadata& pairs) {
  std::string text;
  auto write_length = [&](size_t length) {
    const auto number = static_cast<int32_t>(length);
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  write_length(pairs.size());
  for (const auto& [key, value] : pairs) {
    write_length(key.size());
    text += key;
    write_length(value.size());
    text += value;
  }
  return text;
}

/// What the consumer of a schema holds on to.
struct ExportedField {
  ExportedField() = default;
  ~ExportedField() {
    // A consumer may have taken children out, which are marked as released then.
    for (Schema& child : children) {
      if (child.release != nullptr) child.release(&child);
    }
  }
  ExportedField(const ExportedField&) = delete;
  ExportedField& operator=(const ExportedField&) = delete;

  std::string format, name, metadata;
  std::vector<Schema> children;
  std::vector<Schema*> pointers;
};

void release_field(Schema* schema) {
  delete static_cast<ExportedField*>(schema->private_data);
  schema->release = nullptr;
}

Field read_nested(const Schema& schema, int depth) {
  if (schema.release == nullptr) throw UsageError("the Arrow schema has been used already");
  if (depth > kDeepest) throw UsageError("the Arrow type is nested too deeply");
  Field field{schema.format,
              schema.name == nullptr ? "" : schema.name,
              read_metadata(schema.metadata),
              {},
              {}};
  for (int64_t i = 0; i < schema.n_children; i++) {
    field.children.push_back(read_nested(*schema.children[i], depth + 1));
  }
  if (schema.dictionary != nullptr) {
    field.dictionary.push_back(read_nested(*schema.dictionary, depth + 1));
  }
  return field;
}

}  // namespace

Field read_field(const Schema& schema) { return read_nested(schema, 0); }

void export_field(const Field& field, Schema* out) {
  auto held = std::make_unique<ExportedField>();
  held->format = field.format;
  held->name = field.name;
  if (!field.metadata.empty()) held->metadata = write_metadata(field.metadata);
  held->children.resize(field.children.size());
  for (size_t i = 0; i < field.children.size(); i++) {
    export_field(field.children[i], &held->children[i]);
    held->pointers.push_back(&held->children[i]);
  }
  *out = {};
  out->format = held->format.c_str();
  out->name = held->name.c_str();
  out->metadata = field.metadata.empty() ? nullptr : held->metadata.data();
  // Values are never missing; types of other libraries that are equal otherwise have this flag.
  out->flags = kNullable;
  out->n_children = static_cast<int64_t>(held->children.size());
  out->children = held->pointers.empty() ? nullptr : held->pointers.data();
  out->release = release_field;
  out->private_data = held.release();
}

}  // namespace daliesque::arrow
