// SPDX-License-Identifier: Apache-2.0
#include "resize.h"

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "memory.h"
#include "parallel.h"

namespace daliesque {

namespace {

int64_t product(Shape extents) {
  int64_t result = 1;
  for (const int64_t extent : extents) result *= extent;
  return result;
}

/// A stack of equal images, one after the other in memory.
struct ImageStack {
  std::byte* out;
  const std::byte* in;
  int64_t frames;
  int64_t in_height, in_width, out_height, out_width, channels;
  DType in_type, out_type;

  int64_t groups() const { return (out_height + kRowGroup - 1) / kRowGroup; }

  /// Runs the groups of rows [begin, end), counted through all frames.
  void run(const ImageResizer& resizer, int64_t begin, int64_t end) const {
    const auto in_stride = in_width * channels * static_cast<int64_t>(dtype_size(in_type));
    const auto out_stride = out_width * channels * static_cast<int64_t>(dtype_size(out_type));
    while (begin < end) {
      const int64_t frame = begin / groups();
      const int64_t stop = std::min(end, (frame + 1) * groups());
      const int64_t first = (begin - frame * groups()) * kRowGroup;
      const int64_t last = std::min(out_height, (stop - frame * groups()) * kRowGroup);
      resizer.run({out + frame * out_height * out_stride, out_stride},
                  {in + frame * in_height * in_stride, in_stride}, first, last);
      begin = stop;
    }
  }
};

/// Estimated nanoseconds per group of rows.
double group_cost(const ImageStack& stack, bool nearest, double taps) {
  const auto channels = static_cast<double>(stack.channels);
  const auto in_pixels = static_cast<double>(stack.in_height * stack.in_width);
  const auto out_pixels = static_cast<double>(stack.out_height * stack.out_width);
  const auto between = static_cast<double>(stack.out_height * stack.in_width);
  const bool fixed = stack.in_type == DType::uint8 && stack.out_type == DType::uint8;
  const double value = nearest ? 0.4 : fixed ? 0.06 : 0.15;
  const double values =
      nearest ? out_pixels : taps * (in_pixels + out_pixels) + 4 * (between + out_pixels);
  return value * values * channels / static_cast<double>(std::max<int64_t>(1, stack.groups()));
}

double taps_per_scale(Interp type) {
  switch (type) {
    case Interp::cubic:
      return 4;
    case Interp::lanczos3:
      return 6;
    default:
      return 2;
  }
}

/// One sample of the request, taken apart.
struct Sample {
  std::vector<AxisRequest> axes;  // two or three
  int64_t frames;
  int64_t channels;
};

Sample take_apart(const Samples& in, const ResizeRequest& request, int64_t i) {
  const auto first = static_cast<size_t>(request.first_axis);
  const ResizeGeometry& geometry = request.geometry;
  const auto count = static_cast<size_t>(geometry.axes);
  const auto row = geometry.rows() == 1 ? 0 : static_cast<size_t>(i) * count;
  Sample sample;
  sample.frames = product(in.shape(i).first(first));
  sample.channels = product(in.shape(i).subspan(first + count));
  AxisRequest axis;
  axis.min_filter = static_cast<Interp>(request.min_filters[i]);
  axis.mag_filter = static_cast<Interp>(request.mag_filters[i]);
  axis.antialias = request.antialias;
  if (count == 1) {
    // The reference has no resampling of single axes either, and treats a line as a flat image.
    axis.in_size = axis.out_size = 1;
    axis.end = 1;
    sample.axes.push_back(axis);
  }
  for (size_t d = 0; d < count; d++) {
    axis.in_size = in.shape(i)[first + d];
    axis.out_size = geometry.sizes[row + d];
    axis.start = geometry.starts[row + d];
    axis.end = geometry.ends[row + d];
    sample.axes.push_back(axis);
  }
  return sample;
}

bool same_axes(const std::vector<Sample>& samples) {
  return std::ranges::all_of(samples,
                             [&](const Sample& s) { return s.axes == samples.front().axes; });
}

/// Images: every thread makes the tables for the pieces that it works on, unless all are alike.
void resize_images(Samples& out, const Samples& in, const std::vector<Sample>& samples) {
  const auto stack_of = [&](int64_t i) {
    const Sample& sample = samples[static_cast<size_t>(i)];
    return ImageStack{out.data<std::byte>(i),
                      in.data<const std::byte>(i),
                      in.volume(i) && out.volume(i) ? sample.frames : 0,
                      sample.axes[0].in_size,
                      sample.axes[1].in_size,
                      sample.axes[0].out_size,
                      sample.axes[1].out_size,
                      sample.channels,
                      in.dtype(),
                      out.dtype()};
  };
  const auto resizer_of = [&](const Sample& sample) {
    return ImageResizer(make_resample_plan(sample.axes), sample.channels, in.dtype(), out.dtype());
  };
  std::optional<ImageResizer> common;
  if (!samples.empty() && in.uniform() && in.volume(0) && out.volume(0) && same_axes(samples)) {
    common = resizer_of(samples[0]);
  }
  parallel_slices(
      in.size(),
      [&](int64_t i) {
        const ImageStack stack = stack_of(i);
        return stack.frames * stack.groups();
      },
      [&](int64_t i) {
        const AxisRequest& axis = samples[static_cast<size_t>(i)].axes[0];
        const bool nearest =
            axis.min_filter == Interp::nearest && axis.mag_filter == Interp::nearest;
        return group_cost(stack_of(i), nearest, taps_per_scale(axis.min_filter));
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const Sample& sample = samples[static_cast<size_t>(i)];
        stack_of(i).run(common ? *common : resizer_of(sample), begin, end);
      });
}

TablePtr identity_table(int64_t size) {
  AxisRequest axis;
  axis.in_size = axis.out_size = size;
  axis.end = static_cast<float>(size);
  axis.mag_filter = Interp::nearest;
  return make_resample_plan(std::span(&axis, 1)).axes[0];
}

/// Runs one stack of images on all threads.
void run_stack(const ImageStack& stack, const ImageResizer& resizer, double taps) {
  parallel_slices(
      1, [&](int64_t) { return stack.frames * stack.groups(); },
      [&](int64_t) { return group_cost(stack, false, taps); },
      [&](int64_t, int64_t begin, int64_t end) { stack.run(resizer, begin, end); });
}

/// Resamples a volume axis by axis; each pass is a stack of images of which one axis stays.
void resize_volume(std::byte* out, const std::byte* in, const Sample& sample, DType in_type,
                   DType out_type) {
  const ResamplePlan plan = make_resample_plan(sample.axes);
  int64_t extents[3];
  for (size_t d = 0; d < 3; d++) extents[d] = sample.axes[d].in_size;
  std::vector<int> passes;
  for (const int axis : plan.order) {
    if (!plan.axes[static_cast<size_t>(axis)]->identity) passes.push_back(axis);
  }
  if (passes.empty()) passes.push_back(0);
  Buffer previous;
  const std::byte* from = in;
  DType type = in_type;
  for (size_t p = 0; p < passes.size(); p++) {
    const auto axis = static_cast<size_t>(passes[p]);
    const TablePtr& table = plan.axes[axis];
    const bool last = p + 1 == passes.size();
    int64_t outer = sample.frames, inner = sample.channels;
    for (size_t d = 0; d < axis; d++) outer *= extents[d];
    for (size_t d = axis + 1; d < 3; d++) inner *= extents[d];
    extents[axis] = table->out_size;
    const DType result = last ? out_type : plan.pure_nearest ? in_type : DType::float32;
    Buffer next;
    if (!last)
      next = allocate(static_cast<size_t>(outer * inner * table->out_size) * dtype_size(result));
    std::byte* to = last ? out : static_cast<std::byte*>(next.get());
    if (axis == 2) {
      const ImageStack stack{to,    from, 1,     outer, table->in_size, outer, table->out_size,
                             inner, type, result};
      run_stack(stack, ImageResizer(identity_table(outer), table, true, inner, type, result),
                table->taps);
    } else {
      const ImageStack stack{to, from,  outer, table->in_size, 1, table->out_size,
                             1,  inner, type,  result};
      run_stack(stack, ImageResizer(table, identity_table(1), true, inner, type, result),
                table->taps);
    }
    previous = std::move(next);
    from = to;
    type = result;
  }
}

}  // namespace

void resize(Samples& out, const Samples& in, const ResizeRequest& request) {
  if (!in.contiguous() || !out.contiguous()) {
    throw std::invalid_argument("only contiguous samples can be resampled");
  }
  std::vector<Sample> samples;
  for (int64_t i = 0; i < in.size(); i++) samples.push_back(take_apart(in, request, i));
  if (request.geometry.axes < 3) return resize_images(out, in, samples);
  for (int64_t i = 0; i < in.size(); i++) {
    if (in.volume(i) == 0 || out.volume(i) == 0) continue;
    resize_volume(out.data<std::byte>(i), in.data<const std::byte>(i),
                  samples[static_cast<size_t>(i)], in.dtype(), out.dtype());
  }
}

}  // namespace daliesque
