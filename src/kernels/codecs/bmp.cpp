// SPDX-License-Identifier: Apache-2.0
#include "codecs/bmp.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "codecs/endian.h"

namespace daliesque::codecs {

namespace {

enum BmpCompression : uint32_t {
  kPlain = 0,
  kRunLength8 = 1,
  kRunLength4 = 2,
  kBitFields = 3,
  kAlphaBitFields = 6,
};

constexpr size_t kFileHeader = 14, kOldHeader = 12, kPlainHeader = 40;
constexpr size_t kMasks = kFileHeader + kPlainHeader, kAlphaMask = kMasks + 12;

bool is_kind(int bits, uint32_t compression) {
  switch (compression) {
    case kPlain:
      return bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
    case kRunLength8:
      return bits == 8;
    case kRunLength4:
      return bits == 4;
    case kBitFields:
    case kAlphaBitFields:
      return bits == 16 || bits == 32;
    default:
      return false;
  }
}

/// Cuts a channel out of words: the bits of a mask, moved so that the highest is the highest of a
/// byte. Narrow channels are not stretched, like in the reference.
struct MaskedChannel {
  uint32_t mask;
  int right, left;

  explicit MaskedChannel(uint32_t mask_)
      : mask(mask_),
        right(std::max(0, static_cast<int>(std::bit_width(mask_)) - 8)),
        left(std::max(0, 8 - static_cast<int>(std::bit_width(mask_)))) {}

  uint32_t of(uint32_t word) const { return ((word & mask) >> right) << left & 255; }
};

/// Expands runs of pixels to an index for each, in the order of the file.
class RunReader {
 public:
  RunReader(Bytes file, size_t offset, int64_t width, int64_t height, bool halves)
      : file_(file),
        position_(std::min(offset, file.size())),
        width_(static_cast<size_t>(width)),
        halves_(halves),
        indices_(static_cast<size_t>(width * height)) {}

  std::vector<uint8_t> read() {
    while (filled_ < indices_.size() && position_ + 2 <= file_.size()) {
      const uint8_t count = file_[position_], value = file_[position_ + 1];
      position_ += 2;
      if (count > 0) {
        add_run(count, value);
      } else if (value == 0) {
        skip((width_ - filled_ % width_) % width_);
        column_ = 0;
      } else if (value == 1) {
        break;
      } else if (value == 2 ? !move() : !copy(value)) {
        break;
      }
    }
    if (filled_ < indices_.size()) {
      throw Damage(
          "is damaged, or a BMP of an unknown kind: the run lengths do not fill the image");
    }
    return std::move(indices_);
  }

 private:
  /// One value, or two values in turn, again and again; no farther than to the end of the row.
  void add_run(size_t count, uint8_t value) {
    count = std::min(count, width_ - std::min(column_, width_));
    uint8_t* const out = indices_.data() + filled_;
    for (size_t k = 0; k < count; k++) {
      out[k] = !halves_ ? value : static_cast<uint8_t>(k % 2 ? value & 15 : value >> 4);
    }
    filled_ += count;
    column_ += count;
  }

  /// Leaves pixels at 0.
  void skip(size_t count) { filled_ += std::min(count, indices_.size() - filled_); }

  bool move() {
    if (position_ + 2 > file_.size()) return false;
    const size_t right = file_[position_], up = file_[position_ + 1];
    position_ += 2;
    skip(right + up * width_);
    column_ = filled_ % width_;
    return true;
  }

  /// Pixels that follow one by one, up to a byte at an even offset. False if they are the last.
  bool copy(size_t count) {
    const size_t wanted = std::min(count, indices_.size() - filled_);
    const size_t bytes = halves_ ? (wanted + 1) / 2 : wanted;
    if (bytes > file_.size() - position_) return false;
    const uint8_t* const in = file_.data() + position_;
    uint8_t* const out = indices_.data() + filled_;
    for (size_t k = 0; k < wanted; k++) {
      out[k] = !halves_ ? in[k] : static_cast<uint8_t>(k % 2 ? in[k / 2] & 15 : in[k / 2] >> 4);
    }
    filled_ += wanted;
    column_ += count;
    position_ += bytes + (position_ + bytes) % 2;
    return true;
  }

  Bytes file_;
  size_t position_;
  size_t width_;
  bool halves_;
  std::vector<uint8_t> indices_;
  size_t filled_ = 0, column_ = 0;
};

}  // namespace

Bmp::Bmp(Bytes file) : file_(file) {
  if (file.size() < 30) throw cut_short("BMP", file, "inside the header");
  offset_ = little32(file.data() + 10);
  header_size_ = little32(file.data() + kFileHeader);
  read_size();
  uint32_t colors = 0;
  if (header_size_ >= kPlainHeader) colors = little32(file.data() + 46);
  if (!is_kind(bits_, compression_)) {
    throw Damage("is a BMP of an unknown kind: " + std::to_string(bits_) + " bits, compression " +
                 std::to_string(compression_));
  }
  info_.channels = bits_ == 32 ? 4 : 3;
  if (bits_ <= 8) read_palette(colors);
  read_masks();
}

void Bmp::read_size() {
  const uint8_t* const fields = file_.data() + kFileHeader;
  if (header_size_ == kOldHeader) {
    info_.width = little16(fields + 4);
    info_.height = little16(fields + 6);
    bits_ = static_cast<int>(little16(fields + 10));
  } else if (header_size_ >= kPlainHeader && file_.size() >= kMasks) {
    info_.width = static_cast<int32_t>(little32(fields + 4));
    info_.height = static_cast<int32_t>(little32(fields + 8));
    bits_ = static_cast<int>(little16(fields + 14));
    compression_ = little32(fields + 16);
  } else {
    throw Damage("is damaged: the BMP has a header of " + std::to_string(header_size_) + " bytes");
  }
  top_down_ = info_.height < 0;
  if (top_down_) info_.height = -info_.height;
  if (info_.width <= 0 || info_.height == 0) {
    throw Damage("is damaged: the BMP has " + std::to_string(info_.height) + " rows and " +
                 std::to_string(info_.width) + " columns");
  }
}

void Bmp::read_palette(uint32_t colors) {
  const size_t most = size_t{1} << bits_, entry = header_size_ == kOldHeader ? 3 : 4;
  const size_t count = colors && entry == 4 ? std::min<size_t>(colors, most) : most;
  const size_t begin = std::min(file_.size(), kFileHeader + size_t{header_size_});
  const size_t found = std::min(count, (file_.size() - begin) / entry);
  bool is_gray = true;
  for (size_t k = 0; k < found; k++) {
    const uint8_t* const color = file_.data() + begin + k * entry;
    for (size_t c = 0; c < 3; c++) palette_[k][c] = color[2 - c];
    is_gray &= color[0] == color[1] && color[0] == color[2];
  }
  if (is_gray) info_.channels = 1;
  for (size_t k = 0; is_gray && k < most; k++) is_ramp_ &= palette_[k][0] == k;
}

void Bmp::read_masks() {
  constexpr uint32_t kMasks16[] = {0x7c00, 0x03e0, 0x001f};
  constexpr uint32_t kMasks32[] = {0xff0000, 0xff00, 0xff};
  std::copy_n(bits_ == 16 ? kMasks16 : kMasks32, 3, masks_);
  if (compression_ != kBitFields && compression_ != kAlphaBitFields) return;
  if (file_.size() < kAlphaMask) throw cut_short("BMP", file_, "inside the header");
  uint32_t stated[3];
  for (size_t c = 0; c < 3; c++) stated[c] = little32(file_.data() + kMasks + 4 * c);
  if (std::ranges::count(stated, 0u) > 0) return;
  std::ranges::copy(stated, masks_);
  has_alpha_ = header_size_ >= 56 && file_.size() >= kAlphaMask + 4 &&
               little32(file_.data() + kAlphaMask) != 0;
}

bool Bmp::is_run_length_coded() const {
  return compression_ == kRunLength8 || compression_ == kRunLength4;
}

PixelForm Bmp::form(bool) const {
  PixelForm form;
  form.channels = info_.channels;
  form.gray_rule = has_alpha_ ? GrayRule::kTruncate : GrayRule::kFixed14;
  return form;
}

std::vector<uint8_t> Bmp::expand_runs() const {
  // Some writers give the offset of the palette.
  size_t offset = offset_;
  if (offset == kFileHeader + header_size_) {
    const uint32_t colors = little32(file_.data() + 46);
    offset += 4 * (colors ? size_t{colors} : size_t{1} << bits_);
  }
  return RunReader(file_, offset, info_.width, info_.height, compression_ == kRunLength4).read();
}

void Bmp::decode(bool, const RowRange& rows, RowSink& sink) const {
  const int64_t height = info_.height, width = info_.width;
  const auto stored_row = [&](int64_t y) { return top_down_ ? y : height - 1 - y; };
  if (is_run_length_coded()) {
    const std::vector<uint8_t> indices = expand_runs();
    for (int64_t y = rows.begin; y < rows.end; y++) {
      write_indices(sink.begin(y), indices.data() + stored_row(y) * width);
      sink.end(y);
    }
    return;
  }
  const int64_t stride = (width * bits_ + 31) / 32 * 4;
  if (int64_t{offset_} + stride * height > static_cast<int64_t>(file_.size())) {
    throw cut_short("BMP", file_, "inside the pixels");
  }
  std::unique_ptr<uint8_t[]> indices;
  if (bits_ < 8) indices = std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(width));
  const uint8_t* const pixels = file_.data() + offset_;
  for (int64_t y = rows.begin; y < rows.end; y++) {
    write_row(sink.begin(y), pixels + stored_row(y) * stride, indices.get());
    sink.end(y);
  }
}

void Bmp::write_row(uint8_t* out, const uint8_t* in, uint8_t* indices) const {
  if (bits_ == 24) return pixel_loops().reverse(out, in, info_.width);
  if (bits_ > 8) return write_masked(out, in);
  if (bits_ == 8) return write_indices(out, in);
  pixel_loops().unpack(indices, in, info_.width, bits_, 1);
  write_indices(out, indices);
}

void Bmp::write_indices(uint8_t* out, const uint8_t* indices) const {
  if (info_.channels == 3) return pixel_loops().look_up(out, indices, info_.width, palette_);
  if (is_ramp_) {
    std::memcpy(out, indices, static_cast<size_t>(info_.width));
    return;
  }
  for (int64_t x = 0; x < info_.width; x++) out[x] = palette_[indices[x]][0];
}

void Bmp::write_masked(uint8_t* out, const uint8_t* in) const {
  const uint32_t all = bits_ == 16 ? 0xffff : 0xffffffff;
  const MaskedChannel red(masks_[0] & all), green(masks_[1] & all), blue(masks_[2] & all);
  if (bits_ == 16) {
    for (int64_t x = 0; x < info_.width; x++, out += 3) {
      const uint32_t word = little16(in + 2 * x);
      out[0] = static_cast<uint8_t>(red.of(word));
      out[1] = static_cast<uint8_t>(green.of(word));
      out[2] = static_cast<uint8_t>(blue.of(word));
    }
    return;
  }
  // What no other channel uses is alpha.
  const MaskedChannel alpha(~(masks_[0] | masks_[1] | masks_[2]));
  const uint32_t opaque = alpha.mask ? 0 : 255;
  for (int64_t x = 0; x < info_.width; x++) {
    const uint32_t word = little32(in + 4 * x);
    const uint32_t pixel =
        red.of(word) | green.of(word) << 8 | blue.of(word) << 16 | (alpha.of(word) | opaque) << 24;
    for (int c = 0; c < 4; c++) out[4 * x + c] = static_cast<uint8_t>(pixel >> (8 * c));
  }
}

}  // namespace daliesque::codecs
