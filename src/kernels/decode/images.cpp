// SPDX-License-Identifier: Apache-2.0
#include "decode/images.h"

#include <algorithm>
#include <optional>

#include "core/memory.h"
#include "core/parallel.h"
#include "decode/formats.h"

namespace daliesque::decode {

namespace {

/// Nanoseconds for a byte of a JPEG and for reading a header, measured on typical photographs.
constexpr double kByteCost = 9.0, kHeaderCost = 1500.0;
/// For an image of another format, and for a byte of its file and of its pixels.
constexpr double kFormatCost = 1000.0, kFormatByteCost = 2.0, kFormatPixelCost = 0.7;

/// Files for another codec are decoded faster than handed to another thread below this size.
constexpr int64_t kSmallFile = 16384;

/// A block has one sample left.
constexpr int kMostReduction = 8;

/// The size of the image is checked before tasks are made.
constexpr int64_t kNoPixelLimit = INT64_MAX;

jpeg::Format jpeg_format(ImageType type) {
  switch (type) {
    case ImageType::kBgr:
      return jpeg::Format::kBgr;
    case ImageType::kGray:
      return jpeg::Format::kGray;
    case ImageType::kYCbCr:
      return jpeg::Format::kYCbCr;
    default:
      return jpeg::Format::kRgb;
  }
}

/// Continues a sentence about the sample; empty if the file is for another codec.
std::string fault_text(const jpeg::Result& result) {
  if (result.status == jpeg::Status::kDeclined) return "";
  if (result.status == jpeg::Status::kTruncated) return "is cut short: " + jpeg::describe(result);
  return std::string("is damaged: ") + result.what + " at byte " + std::to_string(result.offset);
}

/// The header of a file that is no JPEG.
EncodedImage read_other_header(codecs::Bytes file) {
  EncodedImage image;
  image.format = codecs::find_format(file);
  if (image.format == codecs::Format::kNone) return image;
  try {
    const codecs::ImageInfo info = read_format_header(image.format, file);
    image.kind = EncodedImage::Kind::kOurs;
    image.height = info.height;
    image.width = info.width;
    image.channels = info.channels;
    image.orientation = info.orientation;
  } catch (const codecs::Damage& damage) {
    image.kind = EncodedImage::Kind::kBroken;
    image.fault = damage.what();
  }
  return image;
}

EncodedImage read_header(const uint8_t* data, size_t size) {
  EncodedImage image;
  if (size == 0) return image;
  jpeg::ImageInfo info;
  const jpeg::Result result = jpeg::parse(data, size, &info);
  image.height = info.height;
  image.width = info.width;
  image.channels = info.components;
  image.orientation = info.orientation;
  switch (result.status) {
    case jpeg::Status::kOk:
      image.kind = EncodedImage::Kind::kOurs;
      break;
    case jpeg::Status::kNotJpeg:
      return read_other_header({data, size});
    case jpeg::Status::kDeclined:
      image.kind = EncodedImage::Kind::kOtherJpeg;
      break;
    default:
      image.kind = info.width > 0 && result.status == jpeg::Status::kCorrupt
                       ? EncodedImage::Kind::kOtherJpeg
                       : EncodedImage::Kind::kBroken;
      image.fault = fault_text(result);
  }
  return image;
}

/// The form in which a buffer takes an image.
jpeg::Format buffer_format(ImageType type, int64_t channels) {
  if (channels == 4) return jpeg::Format::kCmyk;
  return type == ImageType::kGray || channels == 1 ? jpeg::Format::kGray : jpeg::Format::kRgb;
}

/// How the reference converts CMYK, which depends on whether it applies an orientation.
CmykRule cmyk_rule(const uint8_t* data, size_t size, bool oriented) {
  if (oriented) return CmykRule::kShifted;
  jpeg::ImageInfo info;
  (void)jpeg::parse(data, size, &info);
  return info.adobe ? CmykRule::kInverted : CmykRule::kPlain;
}

/// Decodes one image straight into the output if that has the form that the decoder writes, else
/// by way of a buffer.
jpeg::Result decode_jpeg(const DecodeTask& task, const uint8_t* data, size_t size, void* out,
                         DType out_type, ImageType type, bool fast_idct) {
  static thread_local jpeg::Decoder decoder;
  const CropWindow stored = stored_window(task.orientation, task.height, task.width, task.window);
  jpeg::DecodeOptions options;
  options.max_pixels = kNoPixelLimit;
  // The reference decodes images with an orientation by a decoder that has no such choice.
  options.fast_idct = fast_idct && task.orientation == 1;
  options.smooth_inside_region = task.orientation == 1;
  options.reduction = task.reduction;
  options.region = {static_cast<int>(stored.x), static_cast<int>(stored.y),
                    static_cast<int>(stored.width), static_cast<int>(stored.height)};
  if (out_type == DType::uint8 && task.orientation == 1 && task.channels != 4) {
    const bool gray = type == ImageType::kGray || (type == ImageType::kAny && task.channels == 1);
    options.format = gray ? jpeg::Format::kGray : jpeg_format(type);
    const ptrdiff_t stride = stored.width * jpeg::channels(options.format);
    return decoder.decode(data, size, options, static_cast<uint8_t*>(out), stride);
  }
  options.format = buffer_format(type, task.channels);
  int64_t channels = jpeg::channels(options.format);
  const int64_t stride = stored.width * channels;
  const Buffer buffer = allocate(static_cast<size_t>(stored.height * stride));
  auto* const bytes = static_cast<uint8_t*>(buffer.get());
  const jpeg::Result result = decoder.decode(data, size, options, bytes, stride);
  if (!result.ok()) return result;
  GrayRule gray_rule = GrayRule::kFloat;
  if (channels == 4 && type != ImageType::kAny) {
    const CmykRule rule = cmyk_rule(data, size, task.orientation != 1);
    cmyk_to_rgb(bytes, bytes, stored.height * stored.width, rule);
    channels = 3;
    gray_rule = rule == CmykRule::kShifted ? GrayRule::kFixed14 : GrayRule::kTruncate;
  }
  write_pixels(out, out_type, type, {bytes, DType::uint8, stored.height, stored.width, channels},
               gray_rule, task.orientation, {0, 0, task.window.height, task.window.width});
  return result;
}

/// Decodes image number i of `encoded` into sample i of `out`, or says why not.
std::optional<DecodeFailure> decode_one(Samples& out, const Samples& encoded, int64_t i,
                                        const DecodeTask& task, ImageType type, bool fast_idct) {
  const codecs::Bytes file{encoded.data<uint8_t>(i), static_cast<size_t>(encoded.volume(i))};
  if (task.format != codecs::Format::kNone) {
    try {
      decode_format(task.format, file,
                    {out.data(i), out.dtype(), type, task.orientation, task.window, task.height,
                     task.width, task.channels});
    } catch (const codecs::Damage& damage) {
      return DecodeFailure{true, damage.what()};
    }
    return std::nullopt;
  }
  const jpeg::Result result =
      decode_jpeg(task, file.data(), file.size(), out.data(i), out.dtype(), type, fast_idct);
  if (result.status == jpeg::Status::kOutOfMemory) throw OutOfMemory(result.what);
  if (result.ok()) return std::nullopt;
  // Other damage may be of the kind that libjpeg-turbo repairs.
  return DecodeFailure{result.status == jpeg::Status::kTruncated, fault_text(result)};
}

}  // namespace

std::vector<EncodedImage> read_image_headers(const Samples& encoded) {
  std::vector<EncodedImage> images(static_cast<size_t>(encoded.size()));
  parallel_for(
      encoded.size(), [](int64_t) { return kHeaderCost; },
      [&](int64_t i) {
        images[static_cast<size_t>(i)] =
            read_header(encoded.data<uint8_t>(i), static_cast<size_t>(encoded.volume(i)));
      });
  return images;
}

int find_reduction(const EncodedImage& image, const CropWindow& window, int64_t least_height,
                   int64_t least_width) {
  int reduction = 1;
  if (image.kind != EncodedImage::Kind::kOurs || !image.is_jpeg()) return reduction;
  while (reduction < kMostReduction && reduced(window.height, 2 * reduction) >= least_height &&
         reduced(window.width, 2 * reduction) >= least_width) {
    reduction *= 2;
  }
  return reduction;
}

CropWindow reduced_window(const EncodedImage& image, const CropWindow& window, int reduction) {
  const CropWindow whole = stored_window(image.orientation, image.height, image.width, window);
  const int64_t y = whole.y / reduction, x = whole.x / reduction;
  const CropWindow stored{y, x, reduced(whole.y + whole.height, reduction) - y,
                          reduced(whole.x + whole.width, reduction) - x};
  int64_t height = reduced(image.height, reduction), width = reduced(image.width, reduction);
  if (is_transposed(image.orientation)) std::swap(height, width);
  return stored_window(inverse_orientation(image.orientation), height, width, stored);
}

double decode_cost(const DecodeTask& task, int64_t bytes) {
  if (!task.ours && bytes < kSmallFile) return 0;
  const auto file_bytes = static_cast<double>(bytes);
  if (task.format == codecs::Format::kNone) return kByteCost * file_bytes;
  const auto values = static_cast<double>(task.height * task.width * task.channels);
  return kFormatCost + kFormatByteCost * file_bytes + kFormatPixelCost * values;
}

void decode_images(Samples& out, const Samples& encoded, std::span<const DecodeTask> tasks,
                   ImageType type, bool fast_idct, OtherDecoder decode_other) {
  const auto task_of = [&](int64_t i) -> const DecodeTask& {
    return tasks[static_cast<size_t>(i)];
  };
  parallel_for(
      out.size(), [&](int64_t i) { return decode_cost(task_of(i), encoded.volume(i)); },
      [&](int64_t i) {
        if (!task_of(i).ours) return decode_other(i, nullptr);
        const std::optional<DecodeFailure> failure =
            decode_one(out, encoded, i, task_of(i), type, fast_idct);
        if (failure) decode_other(i, &*failure);
      });
}

}  // namespace daliesque::decode
