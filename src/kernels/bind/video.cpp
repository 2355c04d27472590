// SPDX-License-Identifier: Apache-2.0
// Decoded video frames.
#include <nanobind/stl/array.h>

#include <stdexcept>

#include "bind/bind.h"
#include "decode/video_frame.h"

namespace daliesque {

namespace {

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

}  // namespace

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

}  // namespace daliesque
