// SPDX-License-Identifier: Apache-2.0
#include "records/json_reader.h"

#include <array>
#include <charconv>
#include <cmath>

namespace daliesque::records {

namespace {

void append_utf8(std::string& out, uint32_t code) {
  const auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

/// Letters that matter when a value is skipped: quotes and brackets.
constexpr std::array<bool, 256> kStops = [] {
  std::array<bool, 256> stops{};
  for (const char letter : {'"', '{', '}', '[', ']'}) stops[static_cast<uint8_t>(letter)] = true;
  return stops;
}();

}  // namespace

char JsonReader::peek() {
  while (position_ < text_.size()) {
    const char letter = text_[position_];
    if (letter != ' ' && letter != '\n' && letter != '\r' && letter != '\t') return letter;
    position_++;
  }
  fail(JsonFault::early_end);
}

void JsonReader::enter(char open, JsonFault::Kind otherwise) {
  if (peek() != open) fail(otherwise);
  position_++;
}

bool JsonReader::next(char close, bool first) {
  const char letter = peek();
  if (letter == close) {
    position_++;
    return false;
  }
  if (first) return true;
  if (letter != ',') fail(JsonFault::syntax);
  position_++;
  return true;
}

double JsonReader::number() {
  const char letter = peek();
  // The library would also read words such as "infinity".
  if (letter != '-' && (letter < '0' || letter > '9')) fail(JsonFault::no_number);
  double value = 0;
  const auto [end, error] =
      std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
  if (error == std::errc::invalid_argument) fail(JsonFault::no_number);
  position_ = static_cast<size_t>(end - text_.data());
  return value;
}

int64_t JsonReader::integer() {
  const size_t begin = position_;
  const double value = number();
  if (value != std::floor(value) || std::abs(value) > 0x1p53) {
    position_ = begin;
    fail(JsonFault::no_integer);
  }
  return static_cast<int64_t>(value);
}

std::string JsonReader::string() {
  if (peek() != '"') fail(JsonFault::no_string);
  position_++;
  std::string out;
  while (true) {
    size_t stop = position_;
    while (stop < text_.size() && text_[stop] != '"' && text_[stop] != '\\') stop++;
    if (stop == text_.size()) {
      position_ = stop;
      fail(JsonFault::early_end);
    }
    out.append(text_.substr(position_, stop - position_));
    position_ = stop + 1;
    if (text_[stop] == '"') return out;
    append_escaped(out);
  }
}

void JsonReader::append_escaped(std::string& out) {
  if (position_ >= text_.size()) fail(JsonFault::early_end);
  const char letter = text_[position_++];
  constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (const size_t index = kLetters.find(letter); index != std::string_view::npos) {
    out += kMeanings[index];
    return;
  }
  if (letter != 'u') fail(JsonFault::syntax);
  uint32_t code = hexadecimal();
  // Characters beyond 16 bits come as two halves.
  if (code >= 0xD800 && code < 0xDC00 && text_.substr(position_).starts_with("\\u")) {
    position_ += 2;
    code = 0x10000 + ((code - 0xD800) << 10) + (hexadecimal() - 0xDC00);
  }
  append_utf8(out, code);
}

uint32_t JsonReader::hexadecimal() {
  uint32_t code = 0;
  const std::string_view digits = text_.substr(position_, 4);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (error != std::errc() || end != digits.data() + 4) fail(JsonFault::syntax);
  position_ += 4;
  return code;
}

void JsonReader::skip() {
  const char letter = peek();
  if (letter == '"') {
    string();
  } else if (letter == '{' || letter == '[') {
    // Brackets are counted; whether they match is not of interest.
    int64_t depth = 0;
    do {
      while (position_ < text_.size() && !kStops[static_cast<uint8_t>(text_[position_])]) {
        position_++;
      }
      if (position_ == text_.size()) fail(JsonFault::early_end);
      if (text_[position_] == '"') {
        string();
        continue;
      }
      depth += text_[position_] == '{' || text_[position_] == '[' ? 1 : -1;
      position_++;
    } while (depth > 0);
  } else if (letter == '-' || (letter >= '0' && letter <= '9')) {
    number();
  } else {
    const std::string_view rest = text_.substr(position_);
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!rest.starts_with(word)) continue;
      position_ += word.size();
      return;
    }
    fail(JsonFault::syntax);
  }
}

void JsonReader::end() {
  const size_t rest = text_.find_first_not_of(" \n\r\t", position_);
  if (rest == std::string_view::npos) return;
  position_ = rest;
  fail(JsonFault::syntax);
}

}  // namespace daliesque::records
