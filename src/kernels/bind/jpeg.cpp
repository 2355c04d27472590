// SPDX-License-Identifier: Apache-2.0
// The JPEG decoder, one image at a time, and what compression does to images.
#include "jpeg/jpeg.h"

#include <memory>
#include <stdexcept>

#include "bind/bind.h"
#include "jpeg/distortion.h"

namespace daliesque::jpeg {

namespace {

using Pixels = nb::ndarray<nb::numpy, uint8_t, nb::ndim<3>>;

Format parse_format(const std::string& name) {
  if (name == "RGB") return Format::kRgb;
  if (name == "BGR") return Format::kBgr;
  if (name == "GRAY") return Format::kGray;
  if (name == "YCbCr") return Format::kYCbCr;
  if (name == "CMYK") return Format::kCmyk;
  throw std::invalid_argument("output_type must be RGB, BGR, GRAY, YCbCr or CMYK; got " + name);
}

const char* status_name(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kDeclined:
      return "declined";
    case Status::kNotJpeg:
      return "not_jpeg";
    case Status::kTruncated:
      return "truncated";
    case Status::kCorrupt:
      return "corrupt";
    case Status::kTooLarge:
      return "too_large";
    case Status::kBadRegion:
      return "bad_region";
    case Status::kOutOfMemory:
      return "out_of_memory";
  }
  return "unknown";
}

const char* coding_name(Coding coding) {
  switch (coding) {
    case Coding::kBaseline:
      return "baseline";
    case Coding::kExtended:
      return "extended";
    case Coding::kProgressive:
      return "progressive";
    case Coding::kLossless:
      return "lossless";
    case Coding::kHierarchical:
      return "hierarchical";
  }
  return "unknown";
}

const uint8_t* bytes_of(const nb::bytes& data) {
  return reinterpret_cast<const uint8_t*>(data.c_str());
}

nb::typed<nb::dict, nb::str, nb::any> info(const nb::bytes& data) {
  ImageInfo image;
  const Result result = parse(bytes_of(data), data.size(), &image);
  constexpr const char* kColors[] = {"gray", "ycbcr", "rgb", "cmyk", "ycck", "unknown"};
  nb::list sampling;
  for (int i = 0; i < 4 && i < image.components; i++) {
    sampling.append(nb::make_tuple(image.h_sampling[i], image.v_sampling[i]));
  }
  nb::dict out;
  out["status"] = status_name(result.status);
  out["message"] = describe(result);
  out["width"] = image.width;
  out["height"] = image.height;
  out["components"] = image.components;
  out["precision"] = image.precision;
  out["orientation"] = image.orientation;
  out["restart_interval"] = image.restart_interval;
  out["coding"] = coding_name(image.coding);
  out["arithmetic"] = image.arithmetic;
  out["color"] = kColors[static_cast<int>(image.color)];
  out["adobe"] = image.adobe;
  out["sampling"] = sampling;
  return out;
}

using Outcome = std::tuple<std::optional<Pixels>, std::string, std::string>;

/// The pixels, if there are any, the status and a message.
Outcome decode(const nb::bytes& data, const std::string& output_type, bool fancy, bool fast_idct,
               const std::optional<std::tuple<int, int, int, int>>& region, int64_t max_pixels) {
  static thread_local Decoder decoder;
  DecodeOptions options;
  options.format = parse_format(output_type);
  options.fancy_upsampling = fancy;
  options.fast_idct = fast_idct;
  options.max_pixels = max_pixels;
  ImageInfo image;
  Result result = parse(bytes_of(data), data.size(), &image);
  int width = image.width;
  int height = image.height;
  if (region) {
    std::tie(options.region.x, options.region.y, width, height) = *region;
    options.region.width = width;
    options.region.height = height;
    const bool fits = width > 0 && height > 0 && width <= image.width && height <= image.height;
    if (result.ok() && !fits) {
      result = {Status::kBadRegion, "the region is empty or not inside the image", 0};
    }
  }
  if (result.ok() && int64_t{image.width} * image.height > max_pixels) {
    result = {Status::kTooLarge, "more pixels than allowed", 0};
  }
  std::unique_ptr<uint8_t[]> pixels;
  const auto channels = static_cast<size_t>(jpeg::channels(options.format));
  const auto columns = static_cast<size_t>(width);
  const auto rows = static_cast<size_t>(height);
  if (result.ok()) {
    pixels = std::make_unique_for_overwrite<uint8_t[]>(rows * columns * channels);
    const uint8_t* const bytes = bytes_of(data);
    const size_t size = data.size();
    ReleaseGil release;
    result = decoder.decode(bytes, size, options, pixels.get(),
                            static_cast<ptrdiff_t>(columns * channels));
  }
  if (!result.ok()) {
    return {std::nullopt, status_name(result.status), describe(result)};
  }
  const nb::capsule owner(pixels.get(),
                          [](void* p) noexcept { delete[] static_cast<uint8_t*>(p); });
  const Pixels array(pixels.release(), {rows, columns, channels}, owner);
  return {array, "ok", ""};
}

}  // namespace

void bind_jpeg(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  m.def("jpeg_info", &info, "data"_a, "What the header says.");
  m.def("jpeg_decode", &decode, "data"_a, "output_type"_a = "RGB", "fancy"_a = true,
        "fast_idct"_a = false, "region"_a = nb::none(), "max_pixels"_a = int64_t{1} << 30,
        "One image, its status and a message; only the tests of the decoder call it.");
  m.def(
      "jpeg_distortion",
      [](const Samples& in, const ArgArray<int32_t>& quality) {
        Samples out = Samples::empty_like(in);
        jpeg_distortion(out, in.contiguous() ? in : clone(in), per_sample(quality, in.size()));
        return out;
      },
      "samples"_a, "quality"_a, release());
}

}  // namespace daliesque::jpeg
