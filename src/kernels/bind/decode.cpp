// SPDX-License-Identifier: Apache-2.0
// Batches of encoded images and decoded video frames.
#include <nanobind/stl/array.h>

#include <stdexcept>

#include "bind/bind.h"
#include "decode/image_text.h"
#include "decode/images.h"
#include "decode/video_frame.h"

namespace daliesque::decode {

namespace {

using Table = nb::ndarray<nb::numpy, int64_t, nb::ndim<2>>;
using Rows = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Array = nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Cmyk = nb::ndarray<const uint8_t, nb::shape<-1, -1, 4>, nb::c_contig, nb::device::cpu>;
using Colors = nb::ndarray<nb::numpy, uint8_t, nb::shape<-1, -1, 3>>;

void check_encoded(const Samples& encoded) {
  if (encoded.dtype() != DType::uint8 || encoded.ndim() != 1 || !encoded.contiguous()) {
    throw std::invalid_argument("encoded images are one-dimensional arrays of bytes");
  }
}

/// Rows of (kind, height, width, channels, orientation), and what is wrong with some samples.
std::tuple<Table, nb::typed<nb::dict, int, nb::str>> headers(const Samples& encoded) {
  check_encoded(encoded);
  std::vector<EncodedImage> images;
  {
    nb::gil_scoped_release release;
    images = read_jpeg_headers(encoded);
  }
  constexpr size_t kColumns = 5;
  auto* rows = new int64_t[std::max<size_t>(1, images.size() * kColumns)];
  const nb::capsule owner(rows, [](void* p) noexcept { delete[] static_cast<int64_t*>(p); });
  nb::typed<nb::dict, int, nb::str> faults;
  for (size_t i = 0; i < images.size(); i++) {
    const EncodedImage& image = images[i];
    const int64_t row[kColumns] = {static_cast<int64_t>(image.kind), image.height, image.width,
                                   image.channels, image.orientation};
    std::ranges::copy(row, rows + i * kColumns);
    if (!image.fault.empty()) faults[nb::int_(i)] = nb::str(image.fault.c_str());
  }
  return {Table(rows, {images.size(), kColumns}, owner), faults};
}

/// `chosen` are the samples to decode. `headers` are rows as above, `windows` rows of
/// (y, x, height, width); both have one for each sample.
std::tuple<Samples, std::vector<std::tuple<int64_t, bool, std::string>>> decode(
    const Samples& encoded, const Indices& chosen, const Rows& headers, const Rows& windows,
    const Rows& shapes, int image_type, int type_id, bool fast_idct) {
  check_encoded(encoded);
  const auto count = static_cast<size_t>(encoded.size());
  if (headers.shape(0) != count || headers.shape(1) != 5 || windows.shape(0) != count ||
      windows.shape(1) != 4 || shapes.shape(0) != count || shapes.shape(1) != 3) {
    throw std::invalid_argument("a header, a window and a shape for each sample needed");
  }
  const auto type = static_cast<ImageType>(image_type);
  Samples out = Samples::empty(static_cast<DType>(type_id), 3,
                               std::vector<int64_t>(shapes.data(), shapes.data() + count * 3),
                               "HWC", encoded.size());
  std::vector<DecodeTask> tasks;
  for (size_t k = 0; k < chosen.size(); k++) {
    const int64_t i = chosen.data()[k];
    if (i < 0 || i >= encoded.size()) throw std::invalid_argument("no such sample");
    const int64_t* header = headers.data() + i * 5;
    const int64_t* window = windows.data() + i * 4;
    const int64_t* shape = shapes.data() + i * 3;
    const DecodeTask task{i,
                          static_cast<int>(header[4]),
                          {window[0], window[1], window[2], window[3]},
                          header[1],
                          header[2],
                          header[3]};
    const bool transposed = is_transposed(task.orientation);
    const int64_t height = transposed ? task.width : task.height;
    const int64_t width = transposed ? task.height : task.width;
    if (window[0] < 0 || window[1] < 0 || window[2] < 1 || window[3] < 1 ||
        window[0] + window[2] > height || window[1] + window[3] > width || shape[0] != window[2] ||
        shape[1] != window[3] || shape[2] != result_channels(type, task.channels)) {
      throw std::invalid_argument("a window leaves its image or does not fit its shape");
    }
    tasks.push_back(task);
  }
  std::vector<DecodeFailure> failures = decode_jpegs(out, encoded, tasks, type, fast_idct);
  std::vector<std::tuple<int64_t, bool, std::string>> reported;
  for (DecodeFailure& failure : failures) {
    // Other damage may be of the kind that libjpeg-turbo repairs.
    const bool final = failure.status == jpeg::Status::kTruncated;
    reported.emplace_back(failure.sample, final, std::move(failure.what));
  }
  return {std::move(out), std::move(reported)};
}

void write(const Samples& out, int64_t index, const Array& pixels, int gray_rule, int orientation,
           const std::array<int64_t, 4>& window, int image_type) {
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
  nb::gil_scoped_release release;
  write_pixels(out.data(index), out.dtype(), type, in, static_cast<GrayRule>(gray_rule),
               orientation, {y, x, height, width});
}

Colors rgb_of_cmyk(const Cmyk& cmyk, int rule) {
  const size_t count = cmyk.shape(0) * cmyk.shape(1);
  auto* rgb = new uint8_t[std::max<size_t>(1, 3 * count)];
  const nb::capsule owner(rgb, [](void* p) noexcept { delete[] static_cast<uint8_t*>(p); });
  {
    nb::gil_scoped_release release;
    cmyk_to_rgb(rgb, cmyk.data(), static_cast<int64_t>(count), static_cast<CmykRule>(rule));
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
  using release = nb::call_guard<nb::gil_scoped_release>;

  m.def(
      "image_headers", &headers, "encoded"_a,
      "Rows of (kind, height, width, channels, orientation), and what is wrong with some samples.");
  m.def("decode_jpegs", &decode, "encoded"_a, "chosen"_a, "headers"_a, "windows"_a, "shapes"_a,
        "image_type"_a, "type_id"_a, "fast_idct"_a, release(),
        "Uninitialized samples of the given shapes, of which the chosen ones are decoded; and the "
        "failures: sample, whether no other codec should try, and what is wrong.");
  m.def("write_pixels", &write, "out"_a, "index"_a, "pixels"_a, "gray_rule"_a, "orientation"_a,
        "window"_a, "image_type"_a,
        nb::sig("def write_pixels(out: Samples, index: int, pixels: NDArray[typing.Any], "
                "gray_rule: int, orientation: int, window: typing.Sequence[int], "
                "image_type: int) -> None"),
        "Write a window of decoded pixels into a sample.");
  m.def("cmyk_to_rgb", &rgb_of_cmyk, "cmyk"_a, "rule"_a,
        "CMYK to RGB, by the number of a CmykRule.");
  m.def("image_texts", &image_texts, release(), "images"_a,
        "Images as the text of PGM or PPM files.");
}

void bind_video(nb::module_& m) {
  using namespace nb::literals;

  m.def("write_video_frame", &write_frame, "out"_a, "sample"_a, "row"_a, "y"_a, "u"_a, "v"_a,
        "strides"_a, "x_shift"_a, "y_shift"_a, "full_range"_a,
        nb::call_guard<nb::gil_scoped_release>(),
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
