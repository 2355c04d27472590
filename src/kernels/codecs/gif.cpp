// SPDX-License-Identifier: Apache-2.0
#include "codecs/gif.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "codecs/endian.h"
#include "codecs/pixel_loops.h"

namespace daliesque::codecs {

namespace {

constexpr size_t kScreenHeader = 13;
constexpr uint8_t kExtension = '!', kFrame = ',', kTrailer = ';', kGraphicControl = 0xf9;

[[noreturn]] void refuse_gif(const std::string& reason) {
  throw Damage("is damaged, or a GIF of an unknown kind: " + reason);
}

/// Takes bytes out of a file; there must be as many as are asked for.
class GifReader {
 public:
  GifReader(Bytes file, size_t position) : file_(file), position_(position) {}

  bool at_end() const { return position_ >= file_.size(); }

  Bytes take(size_t count, const char* where) {
    if (count > file_.size() - position_) throw cut_short("GIF", file_, where);
    const Bytes taken = file_.subspan(position_, count);
    position_ += count;
    return taken;
  }
  uint8_t byte(const char* where) { return take(1, where)[0]; }

  /// A block of data, which says how long it is; of length 0, it ends a series of them.
  Bytes block(const char* where) { return take(byte(where), where); }

 private:
  Bytes file_;
  size_t position_;
};

/// Red, green and blue of each index.
struct GifPalette {
  PaletteEntry colors[256] = {};

  /// Without colors, or if they are the first grays, all indices stand for grays.
  explicit GifPalette(Bytes stored) {
    const size_t count = stored.size() / 3;
    bool is_ramp = true;
    for (size_t k = 0; k < count; k++) {
      for (size_t c = 0; c < 3; c++) {
        colors[k][c] = stored[3 * k + c];
        is_ramp &= colors[k][c] == k;
      }
    }
    for (size_t k = 0; is_ramp && k < 256; k++) std::fill_n(colors[k], 3, static_cast<uint8_t>(k));
  }
};

struct GifFrame {
  int64_t left = 0, top = 0, width = 0, height = 0;
  bool interlaced = false;
  uint8_t background = 0;  ///< the index of what the frame leaves free
  Bytes palette;
  int code_bits = 0;
};

/// Reads up to the compressed pixels of the first frame.
class FrameFinder {
 public:
  explicit FrameFinder(Bytes file) : reader_(file, kScreenHeader) {
    const uint8_t flags = file[10];
    if (flags & 0x80) frame_.palette = reader_.take(size_t{6} << (flags & 7), "inside the palette");
  }

  GifFrame find() {
    constexpr const char* kWhere = "before the first frame";
    for (;;) {
      const uint8_t kind = reader_.byte(kWhere);
      if (kind == kTrailer) refuse_gif("it has no frame");
      if (kind == kExtension) read_extension();
      // Whatever else there is between blocks is passed over.
      if (kind == kFrame) break;
    }
    read_frame();
    return frame_;
  }

  GifReader& reader() { return reader_; }

 private:
  void read_extension() {
    constexpr const char* kWhere = "inside an extension";
    const bool is_control = reader_.byte(kWhere) == kGraphicControl;
    Bytes block = reader_.block(kWhere);
    if (is_control && !block.empty()) {
      if (block.size() < 4) refuse_gif("the extension of its frame is too short");
      if (block[0] & 1) frame_.background = block[3];
    }
    while (!block.empty()) block = reader_.block(kWhere);
  }

  void read_frame() {
    const Bytes fields = reader_.take(9, "inside the header of a frame");
    frame_.left = little16(fields.data());
    frame_.top = little16(fields.data() + 2);
    frame_.width = little16(fields.data() + 4);
    frame_.height = little16(fields.data() + 6);
    const uint8_t flags = fields[8];
    frame_.interlaced = flags & 0x40;
    if (flags & 0x80) frame_.palette = reader_.take(size_t{6} << (flags & 7), "inside the palette");
    frame_.code_bits = reader_.byte("before the pixels");
  }

  GifReader reader_;
  GifFrame frame_;
};

/// Expands the codes of a frame: a code stands for what another one stands for and one index more.
class CodeExpander {
 public:
  CodeExpander(int bits, size_t pixels)
      : bits_(bits), clear_(1u << bits), indices_(pixels + kSpare), pixels_(pixels) {
    reset();
  }

  /// Adds a block of data; true if nothing is to follow.
  bool add(Bytes block) {
    for (const uint8_t byte : block) {
      buffer_ |= uint64_t{byte} << count_;
      count_ += 8;
      while (count_ >= code_size_) {
        const auto code = static_cast<uint32_t>(buffer_ & ((1u << code_size_) - 1));
        buffer_ >>= code_size_;
        count_ -= code_size_;
        if (!expand(code)) return true;
      }
    }
    return false;
  }

  size_t filled() const { return filled_; }
  const uint8_t* indices() const { return indices_.data(); }

 private:
  static constexpr uint32_t kMostCodes = 4096, kLargestCode = 12;
  static constexpr size_t kSpare = 8;

  /// Where in the output stands what a code stands for.
  struct String {
    size_t begin;
    uint32_t length;
  };

  void reset() {
    next_ = clear_ + 2;
    code_size_ = static_cast<uint32_t>(bits_) + 1;
    last_ = {0, 0};
  }

  /// False if that was the last one.
  bool expand(uint32_t code) {
    if (code == clear_) {
      reset();
      return true;
    }
    if (code == clear_ + 1) return false;
    const bool is_first = last_.length == 0;
    if (is_first ? code > clear_ : code > next_) refuse_gif("a code has no meaning yet");
    const size_t begin = filled_;
    uint32_t length = 1;
    if (code < clear_) {
      indices_[filled_] = static_cast<uint8_t>(code);
    } else {
      // The code that is just being defined stands for the last one and its first index.
      if (code == next_ && next_ >= kMostCodes) refuse_gif("a code has no meaning yet");
      const String string = code == next_ ? String{last_.begin, last_.length + 1} : strings_[code];
      length = static_cast<uint32_t>(std::min<size_t>(string.length, pixels_ - filled_));
      copy(string.begin, length);
    }
    filled_ += length;
    if (!is_first && next_ < kMostCodes) {
      strings_[next_] = {last_.begin, last_.length + 1};
      if (next_ == (1u << code_size_) - 1 && code_size_ < kLargestCode) code_size_++;
      next_++;
    }
    last_ = {begin, length};
    return filled_ < pixels_;
  }

  /// Forward and byte by byte, as far as the string reaches into what it becomes.
  void copy(size_t begin, uint32_t length) {
    uint8_t* const out = indices_.data() + filled_;
    const uint8_t* const from = indices_.data() + begin;
    if (static_cast<size_t>(out - from) >= kSpare) {
      for (uint32_t k = 0; k < length; k += kSpare) std::memcpy(out + k, from + k, kSpare);
    } else {
      for (uint32_t k = 0; k < length; k++) out[k] = from[k];
    }
  }

  int bits_;
  uint32_t clear_, next_, code_size_;
  uint64_t buffer_ = 0;
  uint32_t count_ = 0;
  String last_;
  String strings_[kMostCodes];
  std::vector<uint8_t> indices_;
  size_t pixels_, filled_ = 0;
};

/// As what number each row of an interlaced frame is stored.
std::vector<int64_t> interlaced_rows(int64_t height) {
  std::vector<int64_t> stored(static_cast<size_t>(height));
  int64_t index = 0;
  constexpr int64_t kPasses[][2] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  for (const auto& [first, step] : kPasses) {
    for (int64_t y = first; y < height; y += step) stored[static_cast<size_t>(y)] = index++;
  }
  return stored;
}

void check_frame(const GifFrame& frame, const ImageInfo& screen) {
  if (frame.left + frame.width > screen.width || frame.top + frame.height > screen.height) {
    refuse_gif("its first frame is larger than its screen");
  }
  if (frame.width == 0 || frame.height == 0) refuse_gif("its first frame is empty");
  if (frame.code_bits > 12) {
    refuse_gif("its codes begin with " + std::to_string(frame.code_bits) + " bits");
  }
}

}  // namespace

Gif::Gif(Bytes file) : file_(file) {
  if (file.size() < kScreenHeader) throw cut_short("GIF", file, "inside the header");
  info_.width = little16(file.data() + 6);
  info_.height = little16(file.data() + 8);
  info_.channels = 3;
  if (info_.width == 0 || info_.height == 0) {
    throw Damage("is damaged: the GIF has " + std::to_string(info_.height) + " rows and " +
                 std::to_string(info_.width) + " columns");
  }
}

PixelForm Gif::form(bool) const {
  PixelForm form;
  form.channels = 3;
  form.gray_rule = GrayRule::kFixed15;
  return form;
}

void Gif::decode(bool, const RowRange& rows, RowSink& sink) const {
  FrameFinder finder(file_);
  const GifFrame frame = finder.find();
  check_frame(frame, info_);
  const auto pixels = static_cast<size_t>(frame.width * frame.height);
  CodeExpander expander(frame.code_bits, pixels);
  constexpr const char* kWhere = "inside the pixels";
  for (Bytes block = finder.reader().block(kWhere); !block.empty();
       block = finder.reader().block(kWhere)) {
    if (expander.add(block)) break;
  }
  if (expander.filled() < pixels) {
    refuse_gif("its first frame has " + std::to_string(expander.filled()) + " of " +
               std::to_string(pixels) + " pixels");
  }
  const GifPalette palette(frame.palette);
  std::vector<int64_t> stored;
  if (frame.interlaced) stored = interlaced_rows(frame.height);
  std::vector<uint8_t> free(static_cast<size_t>(info_.width), frame.background);
  for (int64_t y = rows.begin; y < rows.end; y++) {
    uint8_t* const out = sink.begin(y);
    const int64_t row = y - frame.top;
    const bool inside = row >= 0 && row < frame.height;
    const int64_t before = inside ? frame.left : info_.width;
    pixel_loops().look_up(out, free.data(), before, palette.colors);
    if (inside) {
      const int64_t index = frame.interlaced ? stored[static_cast<size_t>(row)] : row;
      pixel_loops().look_up(out + 3 * before, expander.indices() + index * frame.width, frame.width,
                            palette.colors);
      const int64_t after = before + frame.width;
      pixel_loops().look_up(out + 3 * after, free.data(), info_.width - after, palette.colors);
    }
    sink.end(y);
  }
}

}  // namespace daliesque::codecs
