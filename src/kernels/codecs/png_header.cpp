// SPDX-License-Identifier: Apache-2.0
#include "codecs/png_header.h"

#include <algorithm>

#include "codecs/checksum.h"
#include "codecs/endian.h"
#include "core/exif.h"

namespace daliesque::codecs {

namespace {

constexpr size_t kFirstChunk = 8, kSecondChunk = 33;
constexpr uint32_t kSrgbGamma = 45455;
/// Chunks of pixels follow each other; so many that do not are no image.
constexpr size_t kMostRuns = 1 << 12;

int64_t result_channels(PngColor color) {
  switch (color) {
    case PngColor::kGray:
      return 1;
    case PngColor::kGrayAlpha:
      return 2;
    case PngColor::kRgbAlpha:
      return 4;
    default:
      return 3;
  }
}

bool is_depth(int color, int bits) {
  const bool small = bits == 1 || bits == 2 || bits == 4;
  switch (color) {
    case 0:
      return small || bits == 8 || bits == 16;
    case 3:
      return small || bits == 8;
    case 2:
    case 4:
    case 6:
      return bits == 8 || bits == 16;
    default:
      return false;
  }
}

/// The name of a chunk as Python would write it.
std::string quoted(std::string_view name) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "b'";
  for (const char letter : name) {
    const auto code = static_cast<uint8_t>(letter);
    if (letter == '\'' || letter == '\\') text += '\\';
    if (code >= 32 && code < 127) {
      text += letter;
    } else {
      text += {'\\', 'x', kDigits[code >> 4], kDigits[code & 15]};
    }
  }
  return text + "'";
}

/// Goes from chunk to chunk.
class ChunkWalk {
 public:
  explicit ChunkWalk(Bytes file, size_t begin = kSecondChunk) : file_(file), next_(begin) {}

  /// Moves on; false at the end chunk, which must be there.
  bool advance() {
    if (next_ + 8 > file_.size()) throw cut_short("PNG", file_, "before the end chunk");
    chunk_.all = file_.subspan(next_, 8);
    if (chunk_.name() == "IEND") return false;
    const size_t size = size_t{big32(file_.data() + next_)} + 12;
    if (size > file_.size() - next_) {
      const bool pixels = chunk_.name() == "IDAT";
      throw cut_short("PNG", file_,
                      pixels ? "inside the image data" : "inside a chunk " + quoted(chunk_.name()));
    }
    chunk_.all = file_.subspan(next_, size);
    next_ += size;
    return true;
  }

  const PngChunk& chunk() const { return chunk_; }

 private:
  Bytes file_;
  size_t next_;
  PngChunk chunk_;
};

PngHeader read_first_chunk(Bytes file) {
  if (file.size() < kSecondChunk) throw cut_short("PNG", file, "inside the header");
  const PngChunk chunk{file.subspan(kFirstChunk, kSecondChunk - kFirstChunk)};
  if (chunk.name() != "IHDR" || big32(chunk.all.data()) != 13) {
    throw Damage("is damaged: the PNG does not begin with its header");
  }
  const uint8_t* const fields = chunk.contents().data();
  PngHeader header;
  header.info.width = big32(fields);
  header.info.height = big32(fields + 4);
  if (header.info.width == 0 || header.info.height == 0) {
    throw Damage("is damaged: the PNG has " + std::to_string(header.info.height) + " rows and " +
                 std::to_string(header.info.width) + " columns");
  }
  const int bits = fields[8], color = fields[9];
  if (!is_depth(color, bits)) {
    throw Damage("is damaged: a PNG of color type " + std::to_string(color) + " cannot have " +
                 std::to_string(bits) + " bits");
  }
  header.bits = bits;
  header.color = static_cast<PngColor>(color);
  header.info.channels = result_channels(header.color);
  header.interlaced = fields[12] == 1;
  return header;
}

/// Counts pieces of image data that do not follow each other.
class RunCounter {
 public:
  void add(const PngChunk& chunk) {
    const bool follows = count_ > 0 && chunk.name() == last_.name() &&
                         chunk.all.data() == last_.all.data() + last_.all.size();
    last_ = chunk;
    if (follows) return;
    if (count_++ == kMostRuns) {
      throw Damage("is damaged: the PNG has more than " + std::to_string(kMostRuns) +
                   " pieces of image data");
    }
  }
  bool any() const { return count_ > 0; }

 private:
  PngChunk last_;
  size_t count_ = 0;
};

void check_first_chunk(Bytes file) {
  const PngChunk chunk{file.subspan(kFirstChunk, kSecondChunk - kFirstChunk)};
  if (!chunk.sum_is_right()) throw Damage("is damaged: the checksum of the PNG's header is wrong");
  const uint8_t* const methods = chunk.contents().data() + 10;
  if (methods[0] != 0 || methods[1] != 0 || methods[2] > 1) {
    throw Damage("is damaged, or a PNG of an unknown kind: it has compression " +
                 std::to_string(methods[0]) + ", filter " + std::to_string(methods[1]) +
                 ", interlace method " + std::to_string(methods[2]));
  }
}

void read_palette(const PngChunk& chunk, PaletteEntry (&palette)[256]) {
  const Bytes contents = chunk.contents();
  if (!chunk.sum_is_right()) throw Damage("is damaged: the checksum of the PNG's palette is wrong");
  if (contents.empty() || contents.size() % 3 != 0 || contents.size() > 3 * std::size(palette)) {
    throw Damage("is damaged: the PNG has a palette of " + std::to_string(contents.size()) +
                 " bytes");
  }
  for (size_t k = 0; k < contents.size() / 3; k++) {
    std::copy_n(contents.data() + 3 * k, 3, palette[k]);
  }
}

}  // namespace

bool PngChunk::sum_is_right() const {
  return crc32(all.subspan(4, all.size() - 8)) == big32(all.data() + all.size() - 4);
}

PngHeader read_png_header(Bytes file) {
  PngHeader header = read_first_chunk(file);
  RunCounter runs;
  ChunkWalk walk(file);
  bool is_srgb = false, has_gamma = false;
  while (walk.advance()) {
    const PngChunk& chunk = walk.chunk();
    const std::string_view name = chunk.name();
    // Chunks that are too short are read beyond their contents, but not beyond their checksum.
    const uint8_t* const fields = chunk.all.data() + 8;
    if (name == "PLTE" || name == "IDAT") {
      runs.add(chunk);
    } else if (name == "eXIf") {
      header.info.orientation = exif_orientation(chunk.contents(), false);
    } else if (name == "gAMA" && !runs.any() && !has_gamma) {
      has_gamma = true;
      if (!is_srgb) header.gamma = big32(fields);
    } else if (name == "sRGB" && !runs.any()) {
      is_srgb = true;
      header.gamma = kSrgbGamma;
    } else if (name == "sBIT" && !runs.any()) {
      header.significant_bits = std::max({fields[0], fields[1], fields[2]});
    } else if (name == "acTL") {
      header.animated = true;
    }
  }
  if (header.significant_bits < 1 || header.significant_bits > 16) header.significant_bits = 16;
  return header;
}

PngContents find_png_contents(Bytes file, const PngHeader& header) {
  check_first_chunk(file);
  PngContents found;
  bool has_palette = false;
  ChunkWalk walk(file);
  while (walk.advance()) {
    const PngChunk& chunk = walk.chunk();
    if (chunk.name() == "IDAT") {
      found.data.push_back(chunk);
    } else if (chunk.name() == "PLTE") {
      if (!found.data.empty()) break;
      if (header.color != PngColor::kPalette) continue;
      if (has_palette) throw Damage("is damaged: the PNG has two palettes");
      has_palette = true;
      read_palette(chunk, found.palette);
    }
  }
  if (header.color == PngColor::kPalette && !has_palette) {
    throw Damage("is damaged: the PNG has no palette before its image data");
  }
  return found;
}

}  // namespace daliesque::codecs
