// SPDX-License-Identifier: Apache-2.0
#include "files/npy_header.h"

#include <bit>
#include <charconv>
#include <cstring>

namespace daliesque::files {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// No header of an array of plain numbers is longer.
constexpr uint32_t kMostBytes = 1 << 16;

/// Reads a dictionary as Python writes it. All functions return whether they found what they want.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool skip(char wanted) {
    skip_spaces();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool word(std::string_view wanted) {
    skip_spaces();
    if (!text_.starts_with(wanted)) return false;
    text_.remove_prefix(wanted.size());
    return true;
  }

  bool string(std::string_view& out) {
    skip_spaces();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return false;
    const size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return false;
    out = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return true;
  }

  bool integer(int64_t& out) {
    skip_spaces();
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), out);
    if (error != std::errc() || out < 0) return false;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    if (!text_.empty() && text_.front() == 'L') text_.remove_prefix(1);  // from Python 2
    return true;
  }

  bool shape(std::vector<int64_t>& out) {
    if (!skip('(')) return false;
    out.clear();
    while (!skip(')')) {
      int64_t extent;
      if (!integer(extent)) return false;
      out.push_back(extent);
      if (!skip(',')) return out.size() > 1 && skip(')');
    }
    return true;
  }

  bool at_end() {
    skip_spaces();
    return text_.empty();
  }

 private:
  void skip_spaces() {
    const size_t begin = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(begin == std::string_view::npos ? text_.size() : begin);
  }

  std::string_view text_;
};

bool read_type(std::string_view text, NpyHeader& header) {
  if (text.size() != 3) return false;
  constexpr char kNative = std::endian::native == std::endian::little ? '<' : '>';
  const char order = text[0];
  if (order != '|' && order != '=' && order != '<' && order != '>') return false;
  header.swapped = (order == '<' || order == '>') && order != kNative;
  struct Code {
    std::string_view text;
    DType dtype;
  };
  constexpr Code kCodes[] = {
      {"b1", DType::boolean}, {"u1", DType::uint8},   {"u2", DType::uint16},
      {"u4", DType::uint32},  {"u8", DType::uint64},  {"i1", DType::int8},
      {"i2", DType::int16},   {"i4", DType::int32},   {"i8", DType::int64},
      {"f2", DType::float16}, {"f4", DType::float32}, {"f8", DType::float64},
  };
  for (const Code& code : kCodes) {
    if (text.substr(1) != code.text) continue;
    header.dtype = code.dtype;
    return true;
  }
  return false;
}

bool read_dictionary(Parser parser, NpyHeader& header) {
  bool has_type = false, has_order = false, has_shape = false;
  if (!parser.skip('{')) return false;
  while (!parser.skip('}')) {
    std::string_view key, type;
    if (!parser.string(key) || !parser.skip(':')) return false;
    if (key == "descr") {
      has_type = parser.string(type) && read_type(type, header);
      if (!has_type) return false;
    } else if (key == "fortran_order") {
      header.fortran_order = parser.word("True");
      has_order = header.fortran_order || parser.word("False");
      if (!has_order) return false;
    } else if (key == "shape") {
      has_shape = parser.shape(header.shape);
      if (!has_shape) return false;
    } else {
      return false;
    }
    if (!parser.skip(',')) {
      if (!parser.skip('}')) return false;
      break;
    }
  }
  return has_type && has_order && has_shape && parser.at_end();
}

/// The bytes of all elements; false if they are too many for 64 bits.
bool count_bytes(NpyHeader& header) {
  int64_t count = static_cast<int64_t>(dtype_size(header.dtype));
  bool empty = false;
  for (const int64_t extent : header.shape) {
    empty |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(count, extent, &count)) return false;
  }
  header.nbytes = empty ? 0 : count;
  return true;
}

}  // namespace

int64_t npy_header_size(std::string_view start) {
  if (!start.starts_with(kMagic) || start.size() < 12) return 0;
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(start[i])); };
  const uint32_t version = byte(6);
  if (version < 1 || version > 3) return 0;
  uint32_t size = byte(8) | byte(9) << 8;
  if (version > 1) size |= byte(10) << 16 | byte(11) << 24;
  return size > kMostBytes ? 0 : (version == 1 ? 10 : 12) + int64_t{size};
}

std::optional<NpyHeader> parse_npy_header(std::string_view start) {
  NpyHeader header;
  header.offset = static_cast<int64_t>(start.size());
  const size_t begin = start[6] == 1 ? 10 : 12;
  if (!read_dictionary(Parser(start.substr(begin)), header)) return std::nullopt;
  if (!count_bytes(header)) return std::nullopt;
  return header;
}

}  // namespace daliesque::files
