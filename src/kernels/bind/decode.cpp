// SPDX-License-Identifier: Apache-2.0
// Batches of encoded images and decoded video frames.
#include <nanobind/stl/array.h>

#include <algorithm>
#include <stdexcept>

#include "bind/bind.h"
#include "bind/planning.h"
#include "core/exif.h"
#include "decode/image_text.h"
#include "decode/images.h"
#include "decode/video_frame.h"

namespace daliesque::decode {

namespace {

using Table = nb::ndarray<nb::numpy, int64_t, nb::ndim<2>>;
using Rows = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Hints = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Column = nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>;
using Array = nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Cmyk = nb::ndarray<const uint8_t, nb::shape<-1, -1, 4>, nb::c_contig, nb::device::cpu>;
using Colors = nb::ndarray<nb::numpy, uint8_t, nb::shape<-1, -1, 3>>;

void check_encoded(const Samples& encoded) {
  if (encoded.dtype() != DType::uint8 || encoded.ndim() != 1 || !encoded.contiguous()) {
    throw std::invalid_argument("encoded images are one-dimensional arrays of bytes");
  }
}

/// The headers of a batch of encoded images.
class ImageHeaders {
 public:
  explicit ImageHeaders(const Samples& encoded) {
    check_encoded(encoded);
    images_ = read_image_headers(encoded);
  }

  int64_t size() const { return static_cast<int64_t>(images_.size()); }

  const EncodedImage& at(int64_t index) const {
    if (index < 0 || index >= size()) throw std::out_of_range("no such image");
    return images_[static_cast<size_t>(index)];
  }

  void set(int64_t index, int64_t height, int64_t width, int64_t channels, int orientation) {
    EncodedImage image = at(index);
    image.height = height;
    image.width = width;
    image.channels = channels;
    image.orientation = orientation;
    images_[static_cast<size_t>(index)] = std::move(image);
  }

  void ignore_orientation() {
    for (EncodedImage& image : images_) image.orientation = 1;
  }

 private:
  std::vector<EncodedImage> images_;
};

/// An array of `columns` numbers for each image.
template <class Numbers>
auto tabulate(const ImageHeaders& headers, size_t columns, Numbers&& numbers) {
  const auto count = static_cast<size_t>(headers.size());
  auto* rows = new int64_t[std::max<size_t>(1, count * columns)];
  const nb::capsule owner(rows, [](void* p) noexcept { delete[] static_cast<int64_t*>(p); });
  for (size_t i = 0; i < count; i++) {
    numbers(headers.at(static_cast<int64_t>(i)), rows + i * columns);
  }
  return Table(rows, {count, columns}, owner);
}

/// Height, width and channels of images with their orientation applied.
Table upright_shapes(const ImageHeaders& headers) {
  return tabulate(headers, 3, [](const EncodedImage& image, int64_t* row) {
    row[0] = image.height;
    row[1] = image.width;
    if (is_transposed(image.orientation)) std::swap(row[0], row[1]);
    row[2] = image.channels;
  });
}

std::vector<int64_t> find_kind(const ImageHeaders& headers, EncodedImage::Kind kind) {
  std::vector<int64_t> found;
  for (int64_t i = 0; i < headers.size(); i++) {
    if (headers.at(i).kind == kind) found.push_back(i);
  }
  return found;
}

/// The first image of more than `most` pixels, which count more the more channels they have.
std::optional<int64_t> find_too_large(const ImageHeaders& headers, double most) {
  for (int64_t i = 0; i < headers.size(); i++) {
    const EncodedImage& image = headers.at(i);
    // In floating point, where the product of sizes from a damaged header cannot wrap around.
    const double pixels = static_cast<double>(image.height) * static_cast<double>(image.width);
    if (pixels * std::max(1.0, static_cast<double>(image.channels) / 4) > most) return i;
  }
  return std::nullopt;
}

/// The window in a row of numbers, inside of an upright image of the given size.
CropWindow to_window(const int64_t* window, int64_t height, int64_t width) {
  if (window[0] < 0 || window[1] < 0 || window[2] < 1 || window[3] < 1 ||
      window[0] + window[2] > height || window[1] + window[3] > width) {
    throw std::invalid_argument("a window leaves its image");
  }
  return {window[0], window[1], window[2], window[3]};
}

/// What to decode of an image, made smaller by a factor: its part in `window`.
DecodeTask to_task(const EncodedImage& image, const int64_t* window, int64_t reduction) {
  const bool is_ours = image.kind == EncodedImage::Kind::kOurs;
  const bool is_reducible = is_ours && image.is_jpeg();
  if (reduction != 1 && reduction != 2 && reduction != 4 && reduction != 8) {
    throw std::invalid_argument("no such reduction");
  }
  const int64_t height = reduced(image.height, reduction), width = reduced(image.width, reduction);
  const bool transposed = is_transposed(image.orientation);
  const CropWindow part =
      to_window(window, transposed ? width : height, transposed ? height : width);
  if (reduction != 1 && !is_reducible) throw std::invalid_argument("only JPEGs can be reduced");
  return {is_ours, image.format, image.orientation, part,
          height,  width,        image.channels,    static_cast<int>(reduction)};
}

/// Windows of images that are reduced so far that the windows still have at least the size in
/// `hints` (a row for each image, or one), and the reductions.
nb::tuple reduce_windows(const ImageHeaders& headers, const Rows& windows, const Hints& hints) {
  const auto count = static_cast<size_t>(headers.size());
  if (windows.shape(0) != count || windows.shape(1) != 4 || hints.shape(1) != 2 ||
      (hints.shape(0) != count && hints.shape(0) != 1)) {
    throw std::invalid_argument("images, windows and hints must have equal length");
  }
  auto* reductions = new int64_t[std::max<size_t>(1, count)];
  const nb::capsule owner(reductions, [](void* p) noexcept { delete[] static_cast<int64_t*>(p); });
  size_t index = 0;
  Table parts = tabulate(headers, 4, [&](const EncodedImage& image, int64_t* row) {
    const bool transposed = is_transposed(image.orientation);
    const CropWindow window =
        to_window(windows.data() + index * 4, transposed ? image.width : image.height,
                  transposed ? image.height : image.width);
    const int32_t* const hint = hints.data() + (hints.shape(0) == 1 ? 0 : index * 2);
    const int reduction = find_reduction(image, window, hint[0], hint[1]);
    const CropWindow part = reduced_window(image, window, reduction);
    row[0] = part.y;
    row[1] = part.x;
    row[2] = part.height;
    row[3] = part.width;
    reductions[index++] = reduction;
  });
  return nb::make_tuple(std::move(parts), Column(reductions, {count}, owner));
}

/// Decodes images; those that the native decoder does not take are decoded by Python.
class ImageDecoder : public Stage {
 public:
  ImageDecoder(Samples outline, std::vector<DecodeTask> tasks, ImageType type, bool fast_idct,
               nb::callable decode_other)
      : Stage(std::move(outline)),
        tasks_(std::move(tasks)),
        type_(type),
        fast_idct_(fast_idct),
        decode_other_(std::move(decode_other)) {}

  void run(Samples& out, const Samples& encoded, int64_t first) const override {
    const auto other = [&](int64_t i, const DecodeFailure* failure) {
      const AcquireGil lock;
      run_python([&] {
        decode_other_(out.select(std::span(&i, 1)), first + i,
                      failure ? nb::cast(*failure) : nb::none());
      });
    };
    const auto tasks = std::span(tasks_).subspan(static_cast<size_t>(first));
    decode_images(out, encoded, tasks, type_, fast_idct_, other);
  }

  double read_cost(int64_t i, double bytes) const override {
    return decode_cost(tasks_[static_cast<size_t>(i)], static_cast<int64_t>(bytes));
  }

 private:
  std::vector<DecodeTask> tasks_;
  ImageType type_;
  bool fast_idct_;
  nb::callable decode_other_;
};

/// Makes sure that pixels can be written into memory of the caller.
void check_memory(const Samples& memory, const Samples& outline) {
  bool fits = memory.size() == outline.size() && memory.dtype() == outline.dtype() &&
              memory.ndim() == outline.ndim() && memory.contiguous() && !memory.readonly();
  for (int64_t i = 0; fits && i < outline.size(); i++) {
    fits = std::ranges::equal(memory.shape(i), outline.shape(i));
  }
  if (!fits) throw std::invalid_argument("the memory does not fit the images");
}

/// `windows` has a row of (y, x, height, width) for each image, `reductions` a number.
KernelOutput decode(const KernelInput& encoded, const ImageHeaders& headers, const Rows& windows,
                    const Indices& reductions, int image_type, int type_id, bool fast_idct,
                    nb::callable decode_other, Samples* memory) {
  const Samples& files = encoded.outline();
  check_encoded(files);
  const auto count = static_cast<size_t>(files.size());
  if (headers.size() != files.size() || windows.shape(0) != count || windows.shape(1) != 4 ||
      reductions.shape(0) != count) {
    throw std::invalid_argument("images, headers and windows must have equal length");
  }
  const auto type = static_cast<ImageType>(image_type);
  std::vector<int64_t> shapes;
  std::vector<DecodeTask> tasks;
  for (int64_t i = 0; i < headers.size(); i++) {
    const EncodedImage& image = headers.at(i);
    const int64_t* window = windows.data() + i * 4;
    shapes.insert(shapes.end(), {window[2], window[3], result_channels(type, image.channels)});
    tasks.push_back(to_task(image, window, reductions.data()[i]));
  }
  auto decoder = std::make_shared<const ImageDecoder>(
      Samples::outline(static_cast<DType>(type_id), 3, std::move(shapes), "HWC", files.size()),
      std::move(tasks), type, fast_idct, std::move(decode_other));
  if (!memory && !runs_now(encoded)) return plan(encoded, std::move(decoder));
  Samples out = memory ? *memory : decoder->outline();
  if (memory) check_memory(out, decoder->outline());
  const ReleaseGil release;
  if (!memory) out.materialize();
  decoder->run(out, files, 0);
  return {std::move(out)};
}

void write(const Samples& out, int64_t index, const Array& pixels, GrayRule gray_rule,
           int orientation, const std::array<int64_t, 4>& window, int image_type) {
  const auto dtype = pixels.dtype() == nb::dtype<uint8_t>()    ? DType::uint8
                     : pixels.dtype() == nb::dtype<uint16_t>() ? DType::uint16
                     : pixels.dtype() == nb::dtype<float>()    ? DType::float32
                                                               : DType::float64;
  const Pixels in{pixels.data(), dtype, static_cast<int64_t>(pixels.shape(0)),
                  static_cast<int64_t>(pixels.shape(1)), static_cast<int64_t>(pixels.shape(2))};
  const auto type = static_cast<ImageType>(image_type);
  const auto [y, x, height, width] = window;
  const bool transposed = is_transposed(orientation);
  const Shape shape = index >= 0 && index < out.size() ? out.shape(index) : Shape{};
  if (shape.size() != 3 || y < 0 || x < 0 || height < 1 || width < 1 ||
      y + height > (transposed ? in.width : in.height) ||
      x + width > (transposed ? in.height : in.width) || shape[0] != height || shape[1] != width ||
      shape[2] != result_channels(type, in.channels)) {
    throw std::invalid_argument("a window leaves its image or does not fit its shape");
  }
  ReleaseGil release;
  write_pixels(out.data(index), out.dtype(), type, in, gray_rule, orientation,
               {y, x, height, width});
}

Colors rgb_of_cmyk(const Cmyk& cmyk, CmykRule rule) {
  const size_t count = cmyk.shape(0) * cmyk.shape(1);
  auto* rgb = new uint8_t[std::max<size_t>(1, 3 * count)];
  const nb::capsule owner(rgb, [](void* p) noexcept { delete[] static_cast<uint8_t*>(p); });
  {
    ReleaseGil release;
    cmyk_to_rgb(rgb, cmyk.data(), static_cast<int64_t>(count), rule);
  }
  return {rgb, {cmyk.shape(0), cmyk.shape(1), 3}, owner};
}

using Plane = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void write_frame(const Samples& out, int64_t sample, int64_t row, const Plane& y, const Plane& u,
                 const Plane& v, const std::array<int64_t, 3>& strides, bool x_shift, bool y_shift,
                 bool full_range) {
  const Shape shape = sample >= 0 && sample < out.size() ? out.shape(sample) : Shape{};
  if (shape.size() != 4 || row < 0 || row >= shape[0] || shape[3] != 3 ||
      out.dtype() != DType::uint8 || !out.contiguous()) {
    throw std::invalid_argument("no such frame");
  }
  const int64_t height = shape[1], width = shape[2];
  if (height < 1 || width < 1 || height % (y_shift + 1) || width % (x_shift + 1)) {
    throw std::invalid_argument("the size does not fit the chroma planes");
  }
  const Plane* planes[3] = {&y, &u, &v};
  VideoFrame frame{{}, {}, height, width, x_shift, y_shift, full_range};
  for (size_t k = 0; k < 3; k++) {
    const int64_t rows = k ? height >> y_shift : height, columns = k ? width >> x_shift : width;
    const auto bytes = static_cast<int64_t>(planes[k]->size());
    if (strides[k] < columns || (rows - 1) * strides[k] + columns > bytes) {
      throw std::invalid_argument("a plane is too small");
    }
    frame.planes[k] = planes[k]->data();
    frame.strides[k] = strides[k];
  }
  video_frame_to_rgb(out.data<uint8_t>(sample) + row * height * width * 3, frame);
}

void bind_images(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  nb::class_<EncodedImage> image(m, "EncodedImage", "What the header of an encoded image says.");
  nb::enum_<EncodedImage::Kind>(image, "Kind")
      .value("ours", EncodedImage::Kind::kOurs, "An image that `decode_images` decodes itself.")
      .value("other_jpeg", EncodedImage::Kind::kOtherJpeg, "A JPEG for another codec.")
      .value("other", EncodedImage::Kind::kOther, "Not of a format that is read natively.")
      .value("broken", EncodedImage::Kind::kBroken, "An image without a usable header.");
  image.def_ro("kind", &EncodedImage::kind)
      .def_prop_ro("is_jpeg", &EncodedImage::is_jpeg, "Whether it is a JPEG with a usable header.")
      .def_ro("height", &EncodedImage::height, "As stored.")
      .def_ro("width", &EncodedImage::width, "As stored.")
      .def_ro("channels", &EncodedImage::channels)
      .def_ro("orientation", &EncodedImage::orientation, "EXIF, 1 to 8.")
      .def_ro("fault", &EncodedImage::fault, "What is wrong with the header, if anything.");
  nb::class_<ImageHeaders>(m, "ImageHeaders", "The headers of a batch of encoded images.")
      .def(nb::init<const Samples&>(), "encoded"_a, release(),
           "Reads those of formats that are read natively.")
      .def("__len__", &ImageHeaders::size)
      .def("__getitem__", &ImageHeaders::at, "index"_a)
      .def("set", &ImageHeaders::set, "index"_a, "height"_a, "width"_a, "channels"_a,
           "orientation"_a, "Completes the header of a file of another format.")
      .def("ignore_orientation", &ImageHeaders::ignore_orientation)
      .def("find", &find_kind, "kind"_a, "The indices of the images of a kind.")
      .def("find_too_large", &find_too_large, "most_pixels"_a,
           "The first image with more pixels; four channels more count as another one.")
      .def("upright_shapes", &upright_shapes,
           nb::sig("def upright_shapes(self) -> NDArray[typing.Any]"),
           "Height, width and channels with the orientation applied.");
  nb::class_<DecodeFailure>(m, "DecodeFailure", "An image that could not be decoded.")
      .def_ro("reason", &DecodeFailure::what)
      .def_ro("is_final", &DecodeFailure::is_final, "Whether no other codec should try.");
  m.def("reduce_windows", &reduce_windows, "headers"_a, "windows"_a, "hints"_a,
        nb::sig("def reduce_windows(headers: ImageHeaders, windows: NDArray[typing.Any], hints: "
                "NDArray[typing.Any]) -> tuple[NDArray[typing.Any], NDArray[typing.Any]]"),
        "Windows of images that are made smaller, if they can be, so far that the windows still "
        "have the height and width in `hints`; and the factors: 1, 2, 4 or 8.");
  m.def("decode_images", &decode, "encoded"_a, "headers"_a, "windows"_a, "reductions"_a,
        "image_type"_a, "type_id"_a, "fast_idct"_a, "decode_other"_a,
        "memory"_a.none() = nb::none(),
        nb::sig("def decode_images(encoded: Samples, headers: ImageHeaders, windows: "
                "NDArray[typing.Any], reductions: NDArray[typing.Any], image_type: int, type_id: "
                "int, fast_idct: bool, "
                "decode_other: typing.Callable[[Samples, int, DecodeFailure | None], None], "
                "memory: Samples | None = None) -> Samples"),
        "Windows of images. What is of no native format, or cannot be decoded, is for "
        "`decode_other`, which gets a batch of one to fill in, the number of the image, and what "
        "went wrong. With `memory`, they are written there.");
  nb::enum_<GrayRule>(m, "GrayRule", "How gray is computed from red, green and blue.")
      .value("float", GrayRule::kFloat)
      .value("truncate", GrayRule::kTruncate)
      .value("fixed14", GrayRule::kFixed14)
      .value("fixed15", GrayRule::kFixed15)
      .value("png", GrayRule::kPng);
  nb::enum_<CmykRule>(m, "CmykRule", "How CMYK is stored and converted to RGB.")
      .value("plain", CmykRule::kPlain)
      .value("inverted", CmykRule::kInverted)
      .value("shifted", CmykRule::kShifted);
  m.def("write_pixels", &write, "out"_a, "index"_a, "pixels"_a, "gray_rule"_a, "orientation"_a,
        "window"_a, "image_type"_a,
        nb::sig("def write_pixels(out: Samples, index: int, pixels: NDArray[typing.Any], "
                "gray_rule: GrayRule, orientation: int, window: typing.Sequence[int], "
                "image_type: int) -> None"),
        "Write a window of decoded pixels into a sample.");
  m.def(
      "image_format",
      [](const nb::bytes& file) {
        return codecs::format_name(
            codecs::find_format({static_cast<const uint8_t*>(file.data()), file.size()}));
      },
      "file"_a, "The name of the format, if it is one that is read natively and no JPEG.");
  m.def(
      "exif_orientation",
      [](const nb::bytes& block) {
        return exif_orientation({static_cast<const uint8_t*>(block.data()), block.size()}, false);
      },
      "block"_a, "The orientation (1 to 8) in a block of EXIF data.");
  m.def("cmyk_to_rgb", &rgb_of_cmyk, "cmyk"_a, "rule"_a, "RGB of CMYK.");
  m.def("image_texts", &image_texts, release(), "images"_a,
        "Images as the text of PGM or PPM files.");
}

void bind_video(nb::module_& m) {
  using namespace nb::literals;

  m.def("write_video_frame", &write_frame, "out"_a, "sample"_a, "row"_a, "y"_a, "u"_a, "v"_a,
        "strides"_a, "x_shift"_a, "y_shift"_a, "full_range"_a, nb::call_guard<ReleaseGil>(),
        nb::sig("def write_video_frame(out: Samples, sample: int, row: int, y: memoryview, "
                "u: memoryview, v: memoryview, strides: typing.Sequence[int], x_shift: bool, "
                "y_shift: bool, full_range: bool) -> None"),
        "Convert planes of luma and chroma to RGB, as frame number `row` of a sample.");
}

}  // namespace

void bind_decode(nb::module_& m) {
  bind_images(m);
  bind_video(m);
}

}  // namespace daliesque::decode
