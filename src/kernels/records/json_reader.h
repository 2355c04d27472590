// SPDX-License-Identifier: Apache-2.0
// Reading JSON from front to back, without keeping it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace daliesque::records {

/// What is wrong with a text, and where.
struct JsonFault {
  enum Kind : int32_t {
    early_end = 1,  ///< the text is cut short
    syntax,         ///< this is no JSON
    no_object,      ///< an object is expected here
    no_array,
    no_string,
    no_number,
    no_integer,
  };
  Kind kind;
  size_t position;
};

/// A position in a text. The functions read what comes next and move behind it; they throw a
/// JsonFault if it is something else.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  size_t position() const { return position_; }

  /// The first letter of what comes next.
  char peek();

  double number();
  int64_t integer();
  std::string string();
  void skip();
  /// Throws unless nothing follows.
  void end();

  /// Calls body(key), which must read or skip the value, for each member of an object.
  template <class Body>
  void object(Body&& body) {
    enter('{', JsonFault::no_object);
    for (bool first = true; next('}', first); first = false) {
      const std::string key = string();
      if (peek() != ':') fail(JsonFault::syntax);
      position_++;
      body(key);
    }
  }

  /// Calls body(), which must read or skip the item, for each item of an array.
  template <class Body>
  void array(Body&& body) {
    enter('[', JsonFault::no_array);
    for (bool first = true; next(']', first); first = false) body();
  }

 private:
  [[noreturn]] void fail(JsonFault::Kind kind) const { throw JsonFault{kind, position_}; }
  void enter(char open, JsonFault::Kind otherwise);
  bool next(char close, bool first);
  void append_escaped(std::string& out);
  uint32_t hexadecimal();

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace daliesque::records
