// SPDX-License-Identifier: Apache-2.0
#include "records/tar.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace daliesque::records {

namespace {

// Headers that describe the next file are texts, not data: none is as long as this.
constexpr int64_t kLongestDescription = int64_t{1} << 20;

// Where the fields of a header are, by POSIX.1-1988.
struct Field {
  size_t begin, size;
};
constexpr Field kName{0, 100}, kSize{124, 12}, kChecksum{148, 8}, kPrefix{345, 155};
constexpr size_t kType = 156, kMagicOffset = 257;

std::string_view text_of(const uint8_t* block, Field field) {
  const auto* begin = reinterpret_cast<const char*>(block + field.begin);
  return {begin, static_cast<size_t>(std::find(begin, begin + field.size, '\0') - begin)};
}

/// A number in octal digits, or as GNU writes large ones: the first bit set, then binary.
std::optional<int64_t> number_of(const uint8_t* block, Field field) {
  const uint8_t* at = block + field.begin;
  if (*at & 0x80) {
    uint64_t value = *at & 0x3f;
    for (size_t k = 1; k < field.size; k++) {
      if (value >> 55 != 0) return {};
      value = value << 8 | at[k];
    }
    return static_cast<int64_t>(value);
  }
  std::string_view digits = text_of(block, field);
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, 8);
  if (!digits.empty() && (error != std::errc() || stop != end || value < 0)) return {};
  return value;
}

bool checksum_fits(const uint8_t* block) {
  // The field itself counts as blanks. Old programs added signed bytes.
  int64_t plain = 0, with_signs = 0;
  for (size_t k = 0; k < kTarBlock; k++) {
    const bool inside = k >= kChecksum.begin && k < kChecksum.begin + kChecksum.size;
    const uint8_t byte = inside ? ' ' : block[k];
    plain += byte;
    with_signs += static_cast<int8_t>(byte);
  }
  const auto stored = number_of(block, kChecksum);
  return stored && (*stored == plain || *stored == with_signs);
}

// How compressed files begin: gzip, bzip2, xz, zstd, lz4.
constexpr std::string_view kSignatures[] = {"\x1f\x8b", "BZh", "\xfd\x37zXZ", "\x28\xb5\x2f\xfd",
                                            "\x04\x22\x4d\x18"};
constexpr int64_t kLongestSignature = 5;

bool is_compressed(const uint8_t* data) {
  return std::any_of(std::begin(kSignatures), std::end(kSignatures), [&](std::string_view start) {
    return std::memcmp(data, start.data(), start.size()) == 0;
  });
}

std::string name_of(const uint8_t* block) {
  // GNU uses the bytes of the prefix for something else, and another magic word.
  const bool has_prefix = std::memcmp(block + kMagicOffset, "ustar\0", 6) == 0;
  const std::string_view prefix = has_prefix ? text_of(block, kPrefix) : "";
  std::string name(prefix);
  if (!name.empty()) name += '/';
  return name.append(text_of(block, kName));
}

/// What earlier headers say about the next file.
struct Description {
  std::optional<std::string> name;
  std::optional<int64_t> size;

  /// Reads lines "length key=value\n".
  void read_pax(std::string_view text) {
    while (!text.empty()) {
      size_t length = 0;
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), length);
      const auto digits = static_cast<size_t>(stop - text.data());
      if (error != std::errc() || length > text.size() || length < digits + 2) return;
      const std::string_view line = text.substr(digits + 1, length - digits - 2);
      const size_t sign = line.find('=');
      if (sign == line.npos) return;
      const std::string_view key = line.substr(0, sign), value = line.substr(sign + 1);
      if (key == "path") name = value;
      if (key == "size") {
        int64_t number = 0;
        const auto end = value.data() + value.size();
        if (std::from_chars(value.data(), end, number).ptr == end && number >= 0) size = number;
      }
      text.remove_prefix(length);
    }
  }
};

}  // namespace

TarEnd list_tar(const files::ByteSource& source,
                const std::function<void(const std::string&, int64_t, int64_t)>& visit) {
  files::SourceWindow window(source);
  Description next;
  const int64_t total = source.size();
  bool after_zeros = false;
  const auto is_damaged = [&](TarFault fault, int64_t header) -> TarEnd {
    if (header == 0 && total >= kLongestSignature &&
        is_compressed(window.at(0, kLongestSignature))) {
      return {TarFault::compressed, 0};
    }
    return {fault, header};
  };
  for (int64_t header = 0; header < total;) {
    if (total - header < kTarBlock) return is_damaged(TarFault::cut_short, header);
    const uint8_t* block = window.at(header, kTarBlock);
    if (std::all_of(block, block + kTarBlock, [](uint8_t byte) { return byte == 0; })) {
      if (after_zeros) break;
      after_zeros = true;
      header += kTarBlock;
      continue;
    }
    after_zeros = false;
    const auto stored = number_of(block, kSize);
    if (!checksum_fits(block) || !stored) return is_damaged(TarFault::no_tar, header);
    const auto type = static_cast<char>(block[kType]);
    const bool has_data = std::string_view("123456").find(type) == std::string_view::npos;
    const bool is_file = type == '0' || type == '\0' || type == '7';
    const int64_t begin = header + kTarBlock;
    const int64_t size = !has_data ? 0 : is_file ? next.size.value_or(*stored) : *stored;
    if (size > total - begin) return {TarFault::cut_short, header};
    if (type == 'L' || type == 'x') {
      if (size > kLongestDescription) return {TarFault::no_tar, header};
      const auto* data = reinterpret_cast<const char*>(window.at(begin, size));
      if (type == 'x') {
        next.read_pax({data, static_cast<size_t>(size)});
      } else {
        next.name = std::string(data, std::find(data, data + size, '\0'));
      }
    } else if (type != 'K' && type != 'g') {
      const std::string name = next.name ? *next.name : name_of(block);
      // Before there was a type for folders, a slash marked them.
      if (is_file && !name.ends_with('/')) visit(name, begin, size);
      next = {};
    }
    header = begin + (size + kTarBlock - 1) / kTarBlock * kTarBlock;
  }
  return {TarFault::none, 0};
}

}  // namespace daliesque::records
