// SPDX-License-Identifier: Apache-2.0
#include "codecs/pnm.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "codecs/endian.h"
#include "codecs/pixel_loops.h"
#include "core/byte_order.h"

namespace daliesque::codecs {

namespace {

bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

/// Takes numbers out of text in which "#" begins a comment.
class NumberReader {
 public:
  NumberReader(Bytes text, const std::string& name)
      : next_(text.data()), end_(text.data() + text.size()), name_(name) {}

  /// The next digit of a bitmap, where digits need no space between them; -1 at the end.
  int next_bit() {
    for (; next_ < end_; next_++) {
      if (*next_ == '#') skip_comment();
      if (next_ < end_ && (*next_ == '0' || *next_ == '1')) return *next_++ - '0';
    }
    return -1;
  }

  /// The next number, or `top` if it is larger, or 0 if it is negative; -1 at the end.
  int64_t next_number(uint32_t top) {
    while (next_ < end_ && (is_space(*next_) || *next_ == '#')) {
      if (*next_ == '#') skip_comment();
      if (next_ < end_) next_++;
    }
    if (next_ == end_) return -1;
    const bool negative = *next_ == '-';
    if (negative || *next_ == '+') next_++;
    if (next_ == end_ || !is_digit(*next_)) refuse();
    uint32_t value = *next_++ - '0';
    for (; next_ < end_ && is_digit(*next_); next_++) {
      // No more than 65535 before, so that this does not wrap around.
      value = std::min(10 * value + (*next_ - '0'), kHighest);
    }
    if (next_ < end_ && !is_space(*next_) && *next_ != '#') refuse();
    return negative ? 0 : std::min(value, top);
  }

 private:
  static constexpr uint32_t kHighest = 65535;

  /// Up to the end of the line.
  void skip_comment() {
    const void* found = std::memchr(next_, '\n', static_cast<size_t>(end_ - next_));
    next_ = found ? static_cast<const uint8_t*>(found) : end_;
  }
  [[noreturn]] void refuse() const {
    throw Damage("is damaged: the " + name_ + " holds something that is not a number");
  }

  const uint8_t *next_, *end_;
  const std::string& name_;
};

}  // namespace

Pnm::Pnm(Bytes file) : file_(file), kind_(file[1] - '0') {
  info_.width = read_number();
  info_.height = read_number();
  if (!is_bitmap()) top_ = read_number();
  if (info_.width == 0 || info_.height == 0 || top_ < 1 || top_ > 65535) {
    throw Damage("is damaged: the " + name() + " has " + std::to_string(info_.height) + " rows, " +
                 std::to_string(info_.width) + " columns, maximum " + std::to_string(top_));
  }
  info_.channels = kind_ == 3 || kind_ == 6 ? 3 : 1;
}

std::string Pnm::name() const { return std::string("P").append(std::to_string(kind_)) + " image"; }

/// The next number of the header, up to nine digits after white space and comments.
uint32_t Pnm::read_number() {
  constexpr int kMostDigits = 9;
  size_t at = position_;
  while (at < file_.size() && (is_space(file_[at]) || file_[at] == '#')) {
    if (file_[at] == '#') {
      const void* end = std::memchr(file_.data() + at, '\n', file_.size() - at);
      if (end == nullptr) break;
      at = static_cast<size_t>(static_cast<const uint8_t*>(end) - file_.data());
    }
    at++;
  }
  if (at == position_ || at == file_.size() || !is_digit(file_[at])) {
    const Bytes rest = file_.subspan(position_);
    if (std::ranges::all_of(rest, is_space)) throw cut_short(name(), file_, "inside the header");
    throw Damage("is damaged: the header of the " + name() + " has no number at byte " +
                 std::to_string(position_));
  }
  uint32_t number = 0;
  for (int digits = 0; digits < kMostDigits && at < file_.size() && is_digit(file_[at]); digits++) {
    number = 10 * number + static_cast<uint32_t>(file_[at++] - '0');
  }
  position_ = at;
  return number;
}

PixelForm Pnm::form(bool) const {
  PixelForm form;
  form.dtype = is_wide() ? DType::uint16 : DType::uint8;
  form.channels = info_.channels;
  return form;
}

uint32_t Pnm::scaled(uint32_t value) const {
  const uint32_t full = is_wide() ? 65535 : 255;
  return top_ == full ? value : std::min(value, top_) * full / top_;
}

void Pnm::decode(bool, const RowRange& rows, RowSink& sink) const {
  if (kind_ <= 3) {
    decode_text(rows, sink);
  } else {
    decode_bytes(rows, sink);
  }
}

void Pnm::decode_text(const RowRange& rows, RowSink& sink) const {
  const std::string own_name = name();
  NumberReader reader(file_.subspan(position_), own_name);
  const int64_t values = info_.width * info_.channels;
  // By value: what is written to a row might be anything.
  const bool bits = is_bitmap(), wide = is_wide();
  for (int64_t y = 0; y < rows.end; y++) {
    uint8_t* const out = sink.begin(y);
    for (int64_t k = 0; k < values; k++) {
      const int64_t value = bits ? reader.next_bit() : reader.next_number(top_);
      if (value < 0) throw cut_short(own_name, file_, "inside the pixels");
      const uint32_t full = bits ? (value ? 0 : 255) : scaled(static_cast<uint32_t>(value));
      if (wide) {
        const auto number = static_cast<uint16_t>(full);
        std::memcpy(out + 2 * k, &number, sizeof(number));
      } else {
        out[k] = static_cast<uint8_t>(full);
      }
    }
    sink.end(y);
  }
}

void Pnm::decode_bytes(const RowRange& rows, RowSink& sink) const {
  const int64_t stride =
      kind_ == 4 ? (info_.width + 7) / 8 : info_.width * info_.channels * (is_wide() ? 2 : 1);
  // One byte separates header and pixels.
  const size_t begin = std::min(position_ + 1, file_.size());
  if (stride * info_.height > static_cast<int64_t>(file_.size() - begin)) {
    throw cut_short(name(), file_, "inside the pixels");
  }
  for (int64_t y = rows.begin; y < rows.end; y++) {
    write_bytes(sink.begin(y), file_.data() + begin + y * stride);
    sink.end(y);
  }
}

void Pnm::write_bytes(uint8_t* out, const uint8_t* in) const {
  const int64_t values = info_.width * info_.channels;
  if (kind_ == 4) {
    pixel_loops().unpack(out, in, values, 1, 255);
    for (int64_t k = 0; k < values; k++) out[k] = static_cast<uint8_t>(~out[k]);
  } else if (!is_wide()) {
    if (top_ == 255) {
      std::memcpy(out, in, static_cast<size_t>(values));
      return;
    }
    for (int64_t k = 0; k < values; k++) out[k] = static_cast<uint8_t>(scaled(in[k]));
  } else if (top_ == 65535 && std::endian::native == std::endian::little) {
    copy_swapped(out, in, values, 2);
  } else {
    for (int64_t k = 0; k < values; k++) {
      const auto wide = static_cast<uint16_t>(scaled(big16(in + 2 * k)));
      std::memcpy(out + 2 * k, &wide, sizeof(wide));
    }
  }
}

}  // namespace daliesque::codecs
