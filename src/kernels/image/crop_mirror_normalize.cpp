// SPDX-License-Identifier: Apache-2.0
#include "image/crop_mirror_normalize.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/rearrange.h"
#include "tensor/slice.h"

namespace daliesque::image {

namespace {

constexpr double kCropNanosecondsPerValue = 0.4;

struct CropAxis {
  int64_t extent;             // of the window
  int64_t before, inside;     // window indices [before, before + inside) lie in the input
  int64_t first;              // input index of `before`
  int64_t in_step, out_step;  // bytes
};

/// How one sample is cut. A row is what the width and the channel axis span.
struct PixelWindow {
  std::vector<CropAxis> outer;
  CropAxis width, channel;
  int64_t rows = 1;
  bool mirror;
};

CropAxis make_axis(int64_t extent, int64_t in_extent, int64_t anchor, int64_t in_step,
                   int64_t out_step) {
  CropAxis axis{extent, 0, 0, 0, in_step, out_step};
  axis.before = std::clamp<int64_t>(-anchor, 0, extent);
  axis.first = std::max<int64_t>(0, anchor);
  axis.inside = std::clamp<int64_t>(in_extent - axis.first, 0, extent - axis.before);
  return axis;
}

PixelWindow make_window(const Samples& out, const Samples& in, const CropMirrorNormalizeArgs& args,
                        int64_t i) {
  const Shape out_shape = out.shape(i), in_shape = in.shape(i);
  const auto in_steps = in.strides(i), out_steps = out.strides(i);
  PixelWindow window;
  window.mirror = args.mirror[i] != 0;
  std::vector<CropAxis> axes(in_shape.size());
  for (size_t k = 0; k < axes.size(); k++) {
    const auto axis = static_cast<size_t>(args.permutation[k]);
    axes[axis] = make_axis(out_shape[k], in_shape[axis], args.anchors.row(i)[axis], in_steps[axis],
                           out_steps[k]);
  }
  window.width = axes[static_cast<size_t>(args.width_axis)];
  window.channel = axes[static_cast<size_t>(args.channel_axis)];
  if (window.mirror) {
    // Counted from the other end, as the output sees it.
    CropAxis& width = window.width;
    width.before = width.extent - width.before - width.inside;
  }
  for (size_t axis = 0; axis < axes.size(); axis++) {
    if (static_cast<int>(axis) == args.width_axis || static_cast<int>(axis) == args.channel_axis) {
      continue;
    }
    window.outer.push_back(axes[axis]);
    window.rows *= axes[axis].extent;
  }
  return window;
}

/// Repeats a single value for each channel.
std::vector<float> for_channels(const PerSample<float>& values, int64_t i, int64_t channels) {
  std::vector<float> out(static_cast<size_t>(channels));
  for (int64_t c = 0; c < channels; c++) {
    out[static_cast<size_t>(c)] = values.row(i)[values.width() == 1 ? 0 : c];
  }
  return out;
}

/// The form that rows are normalized in: (in - mean) * scale.
struct Normalization {
  std::vector<float> mean, scale;
};

Normalization make_normalization(const CropMirrorNormalizeArgs& args, int64_t i, int64_t channels) {
  Normalization out{for_channels(args.mean, i, channels), for_channels(args.std, i, channels)};
  for (size_t c = 0; c < out.mean.size(); c++) {
    const double mean = out.mean[c], std = out.scale[c];
    out.mean[c] =
        static_cast<float>(std::fma(-static_cast<double>(args.shift), std / args.scale, mean));
    out.scale[c] = static_cast<float>(args.scale / std);
  }
  return out;
}

/// Makes rows of one sample; serves one thread.
class RowMaker {
 public:
  RowMaker(const Samples& out, const Samples& in, const CropMirrorNormalizeArgs& args,
           const PixelWindow& window, int64_t i)
      : window_(window),
        size_(static_cast<int64_t>(out.itemsize())),
        fill_(fill_elements(out, args, window, i)),
        normalization_(make_normalization(args, i, window.channel.inside)),
        pixels_({out.dtype(), in.dtype()}, {window.channel.inside, window.channel.extent},
                normalization_.mean.data(), normalization_.scale.data(),
                fill_.data() + window.channel.inside * size_),
        row_step_(window.outer.empty() ? 0 : window.outer.back().in_step),
        out_(out.data<std::byte>(i)),
        in_(in.data<const std::byte>(i)) {}

  void run(int64_t row) {
    std::byte* to = out_;
    const std::byte* from = in_;
    bool outside = window_.width.inside == 0 || window_.channel.inside == 0;
    for (size_t k = window_.outer.size(); k-- > 0;) {
      const CropAxis& axis = window_.outer[k];
      const int64_t index = row % axis.extent;
      row /= axis.extent;
      to += index * axis.out_step;
      from += (index - axis.before + axis.first) * axis.in_step;
      outside |= index < axis.before || index >= axis.before + axis.inside;
    }
    const CropAxis &width = window_.width, &channel = window_.channel;
    if (outside) {
      fill(to, 0, width.extent);
      return;
    }
    fill(to, 0, width.before);
    const std::byte* first = from + width.first * width.in_step;
    if (window_.mirror) prefetch_row(first + row_step_, width.inside * width.in_step);
    pixels_.run(to + width.before * width.out_step, {width.out_step, channel.out_step}, first,
                {width.in_step, channel.in_step}, width.inside, window_.mirror);
    fill(to, width.before + width.inside, width.extent);
  }

 private:
  static std::vector<std::byte> fill_elements(const Samples& out,
                                              const CropMirrorNormalizeArgs& args,
                                              const PixelWindow& window, int64_t i) {
    const auto values = for_channels(args.fill, i, window.channel.extent);
    std::vector<std::byte> elements(values.size() * out.itemsize());
    for (size_t c = 0; c < values.size(); c++) {
      tensor::store_fill(elements.data() + c * out.itemsize(), out.dtype(), values[c]);
    }
    return elements;
  }

  void fill(std::byte* to, int64_t begin, int64_t end) const {
    const CropAxis &width = window_.width, &channel = window_.channel;
    for (int64_t c = 0; c < channel.extent && begin < end; c++) {
      rearrange_loops().copy_runs(to + begin * width.out_step + c * channel.out_step,
                                  width.out_step, fill_.data() + c * size_, 0, size_, end - begin);
    }
  }

  const PixelWindow& window_;
  int64_t size_;
  std::vector<std::byte> fill_;
  Normalization normalization_;
  PixelNormalizer pixels_;
  int64_t row_step_;
  std::byte* out_;
  const std::byte* in_;
};

}  // namespace

void crop_mirror_normalize(Samples& out, const Samples& in, const CropMirrorNormalizeArgs& args) {
  std::vector<PixelWindow> windows;
  windows.reserve(static_cast<size_t>(in.size()));
  for (int64_t i = 0; i < in.size(); i++) windows.push_back(make_window(out, in, args, i));
  parallel_slices(
      in.size(),
      [&](int64_t i) { return out.volume(i) ? windows[static_cast<size_t>(i)].rows : 0; },
      [&](int64_t i) {
        const PixelWindow& window = windows[static_cast<size_t>(i)];
        return static_cast<double>(window.width.extent * window.channel.extent) *
               kCropNanosecondsPerValue;
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        RowMaker maker(out, in, args, windows[static_cast<size_t>(i)], i);
        for (int64_t row = begin; row < end; row++) maker.run(row);
      });
}

}  // namespace daliesque::image
