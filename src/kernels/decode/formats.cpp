// SPDX-License-Identifier: Apache-2.0
#include "decode/formats.h"

#include <cstring>
#include <memory>
#include <stdexcept>

#include "codecs/bmp.h"
#include "codecs/gif.h"
#include "codecs/png.h"
#include "codecs/pnm.h"
#include "core/memory.h"

namespace daliesque::decode {

namespace {

using codecs::Bytes;
using codecs::Format;
using codecs::PixelForm;

/// Calls `use` with the codec of a file.
template <class Use>
auto with_codec(Format format, Bytes file, Use&& use) {
  switch (format) {
    case Format::kPng:
      return use(codecs::Png(file));
    case Format::kBmp:
      return use(codecs::Bmp(file));
    case Format::kPnm:
      return use(codecs::Pnm(file));
    case Format::kGif:
      return use(codecs::Gif(file));
    default:
      throw std::invalid_argument("no such format");
  }
}

/// A sink of which only some rows are wanted: others are written to memory that nobody reads.
class WindowSink : public codecs::RowSink {
 public:
  WindowSink(const CropWindow& stored, int64_t width, const PixelForm& form)
      : stored_(stored), row_bytes_(width * form.pixel_bytes()) {}

 protected:
  bool is_wanted(int64_t y) const { return y >= stored_.y && y < stored_.y + stored_.height; }

  /// One of two rows in turn.
  uint8_t* spare_row(int64_t y) {
    if (!spare_) spare_ = allocate(static_cast<size_t>(2 * row_bytes_));
    return static_cast<uint8_t*>(spare_.get()) + (y & 1) * row_bytes_;
  }

  CropWindow stored_;
  int64_t row_bytes_;

 private:
  Buffer spare_;
};

/// Rows that are those of the result.
class DirectSink final : public WindowSink {
 public:
  DirectSink(const CropWindow& stored, int64_t width, const PixelForm& form, void* out)
      : WindowSink(stored, width, form), out_(static_cast<uint8_t*>(out)) {}

  uint8_t* begin(int64_t y) override {
    return is_wanted(y) ? out_ + (y - stored_.y) * row_bytes_ : spare_row(y);
  }
  void end(int64_t) override {}

 private:
  uint8_t* out_;
};

/// Rows whose pixels are converted.
class ConvertingSink final : public WindowSink {
 public:
  ConvertingSink(const CropWindow& stored, int64_t width, const PixelForm& form,
                 const ImageTarget& target)
      : WindowSink(stored, width, form),
        converter_(target.dtype, target.type, form.dtype, form.channels, form.gray_rule),
        out_(static_cast<uint8_t*>(target.out)),
        out_bytes_(stored.width * result_channels(target.type, form.channels) *
                   static_cast<int64_t>(dtype_size(target.dtype))),
        skipped_bytes_(stored.x * form.pixel_bytes()) {}

  uint8_t* begin(int64_t y) override { return spare_row(y); }
  void end(int64_t y) override {
    if (!is_wanted(y)) return;
    uint8_t* const out = out_ + (y - stored_.y) * out_bytes_;
    converter_.write(out, spare_row(y) + skipped_bytes_, 1, stored_.width);
  }

 private:
  RowConverter converter_;
  uint8_t* out_;
  int64_t out_bytes_, skipped_bytes_;
};

/// Rows that are kept, because those of the upright image are not among them.
class KeepingSink final : public WindowSink {
 public:
  KeepingSink(const CropWindow& stored, int64_t width, const PixelForm& form)
      : WindowSink(stored, width, form),
        kept_bytes_(stored.width * form.pixel_bytes()),
        skipped_bytes_(stored.x * form.pixel_bytes()),
        kept_(allocate(static_cast<size_t>(stored.height * kept_bytes_))) {}

  uint8_t* begin(int64_t y) override { return spare_row(y); }
  void end(int64_t y) override {
    if (!is_wanted(y)) return;
    auto* const row = static_cast<uint8_t*>(kept_.get()) + (y - stored_.y) * kept_bytes_;
    std::memcpy(row, spare_row(y) + skipped_bytes_, static_cast<size_t>(kept_bytes_));
  }

  const void* data() const { return kept_.get(); }

 private:
  int64_t kept_bytes_, skipped_bytes_;
  Buffer kept_;
};

/// Whether the pixels of a codec need no conversion.
bool has_form(const ImageTarget& target, const PixelForm& form) {
  if (form.dtype != target.dtype) return false;
  if (target.type == ImageType::kAny) return true;
  return target.type == ImageType::kGray  ? form.channels == 1
         : target.type == ImageType::kRgb ? form.channels == 3
                                          : false;
}

template <class Codec>
void decode_with(const Codec& codec, const ImageTarget& target) {
  const codecs::ImageInfo& info = codec.info();
  if (info.height != target.height || info.width != target.width ||
      info.channels != target.channels) {
    throw codecs::Damage("changed while it was decoded");
  }
  const bool gray = target.type == ImageType::kGray;
  const PixelForm form = codec.form(gray);
  const CropWindow stored =
      stored_window(target.orientation, info.height, info.width, target.window);
  const codecs::RowRange rows{stored.y, stored.y + stored.height};
  if (target.orientation != 1) {
    KeepingSink sink(stored, info.width, form);
    codec.decode(gray, rows, sink);
    const Pixels pixels{sink.data(), form.dtype, stored.height, stored.width, form.channels};
    write_pixels(target.out, target.dtype, target.type, pixels, form.gray_rule, target.orientation,
                 {0, 0, target.window.height, target.window.width});
  } else if (has_form(target, form) && stored.width == info.width) {
    DirectSink sink(stored, info.width, form, target.out);
    codec.decode(gray, rows, sink);
  } else {
    ConvertingSink sink(stored, info.width, form, target);
    codec.decode(gray, rows, sink);
  }
}

}  // namespace

codecs::ImageInfo read_format_header(Format format, Bytes file) {
  return with_codec(format, file, [](const auto& codec) { return codec.info(); });
}

void decode_format(Format format, Bytes file, const ImageTarget& target) {
  with_codec(format, file, [&](const auto& codec) { decode_with(codec, target); });
}

}  // namespace daliesque::decode
