// SPDX-License-Identifier: Apache-2.0
#include "resize/resize.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"

namespace daliesque::resize {

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
  const auto row = geometry.rows() == 1 ? 0 : static_cast<size_t>(request.first_row + i) * count;
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

ImageResizer image_resizer(const Sample& sample, DType in, DType out) {
  return ImageResizer(make_resample_plan(sample.axes), sample.channels, in, out);
}

ImageStack image_stack(Samples& out, const Samples& in, const Sample& sample, int64_t i) {
  return {.out = out.data<std::byte>(i),
          .in = in.data<const std::byte>(i),
          .frames = in.volume(i) && out.volume(i) ? sample.frames : 0,
          .in_height = sample.axes[0].in_size,
          .in_width = sample.axes[1].in_size,
          .out_height = sample.axes[0].out_size,
          .out_width = sample.axes[1].out_size,
          .channels = sample.channels,
          .in_type = in.dtype(),
          .out_type = out.dtype()};
}

/// Images: every thread makes the tables for the pieces that it works on, unless all are alike.
void resize_images(Samples& out, const Samples& in, const std::vector<Sample>& samples) {
  std::vector<ImageStack> stacks;
  for (int64_t i = 0; i < in.size(); i++) {
    stacks.push_back(image_stack(out, in, samples[static_cast<size_t>(i)], i));
  }
  std::optional<ImageResizer> common;
  if (!stacks.empty() && stacks[0].frames && in.uniform() &&
      std::ranges::all_of(samples, [&](const Sample& s) { return s.axes == samples[0].axes; })) {
    common = image_resizer(samples[0], in.dtype(), out.dtype());
  }
  parallel_slices(
      in.size(),
      [&](int64_t i) {
        const ImageStack& stack = stacks[static_cast<size_t>(i)];
        return stack.frames * stack.groups();
      },
      [&](int64_t i) {
        const AxisRequest& axis = samples[static_cast<size_t>(i)].axes[0];
        const bool nearest =
            axis.min_filter == Interp::nearest && axis.mag_filter == Interp::nearest;
        return group_cost(stacks[static_cast<size_t>(i)], nearest, taps_per_scale(axis.min_filter));
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const ImageStack& stack = stacks[static_cast<size_t>(i)];
        if (common) return stack.run(*common, begin, end);
        stack.run(image_resizer(samples[static_cast<size_t>(i)], in.dtype(), out.dtype()), begin,
                  end);
      });
}

TablePtr identity_table(int64_t size) {
  AxisRequest axis;
  axis.in_size = axis.out_size = size;
  axis.end = static_cast<float>(size);
  axis.mag_filter = Interp::nearest;
  return make_resample_plan(std::span(&axis, 1)).axes[0];
}

/// A volume on its way through the passes.
class VolumeResizer {
 public:
  VolumeResizer(const Sample& sample, DType type)
      : plan_(make_resample_plan(sample.axes)),
        frames_(sample.frames),
        channels_(sample.channels),
        type_(type) {
    for (size_t d = 0; d < 3; d++) extents_[d] = sample.axes[d].in_size;
    for (const int axis : plan_.order) {
      if (!plan_.axes[static_cast<size_t>(axis)]->identity) passes_.push_back(axis);
    }
    if (passes_.empty()) passes_.push_back(0);
  }

  void run(std::byte* out, DType out_type, const std::byte* in) {
    if (passes_.size() == 2 && std::abs(passes_[0] - passes_[1]) == 1) {
      const int first = std::min(passes_[0], passes_[1]);
      return run_pass(out, out_type, in, first, first + 1, passes_[0] == first);
    }
    Buffer previous;
    for (size_t p = 0; p + 1 < passes_.size(); p++) {
      const DType between = plan_.pure_nearest ? type_ : DType::float32;
      Buffer next = allocate(result_size(passes_[p]) * dtype_size(between));
      run_axis(static_cast<std::byte*>(next.get()), between, in, passes_[p]);
      previous = std::move(next);
      in = static_cast<const std::byte*>(previous.get());
    }
    run_axis(out, out_type, in, passes_.back());
  }

 private:
  const TablePtr& table(int axis) const { return plan_.axes[static_cast<size_t>(axis)]; }

  size_t result_size(int axis) const {
    int64_t size = frames_ * channels_;
    for (int d = 0; d < 3; d++) size *= d == axis ? table(d)->out_size : extents_[d];
    return static_cast<size_t>(size);
  }

  /// The volume becomes a stack of images of height `first` and width `second`, of which at most
  /// one is an axis that stays: then it is -1.
  void run_pass(std::byte* out, DType out_type, const std::byte* in, int first, int second,
                bool rows_first) {
    int64_t outer = frames_, inner = channels_;
    const int begin = first < 0 ? second : first, end = second < 0 ? first : second;
    for (int d = 0; d < begin; d++) outer *= extents_[d];
    for (int d = end + 1; d < 3; d++) inner *= extents_[d];
    // Without an axis for the height, the outer axes are it; without one for the width, the inner.
    const TablePtr rows = first < 0 ? identity_table(outer) : table(first);
    const TablePtr columns = second < 0 ? identity_table(1) : table(second);
    const ImageStack stack{.out = out,
                           .in = in,
                           .frames = first < 0 ? 1 : outer,
                           .in_height = rows->in_size,
                           .in_width = columns->in_size,
                           .out_height = rows->out_size,
                           .out_width = columns->out_size,
                           .channels = inner,
                           .in_type = type_,
                           .out_type = out_type};
    const ImageResizer resizer(rows, columns, rows_first, inner, type_, out_type);
    parallel_slices(
        1, [&](int64_t) { return stack.frames * stack.groups(); },
        [&](int64_t) { return group_cost(stack, false, std::max(rows->taps, columns->taps)); },
        [&](int64_t, int64_t start, int64_t stop) { stack.run(resizer, start, stop); });
    if (first >= 0) extents_[first] = rows->out_size;
    if (second >= 0) extents_[second] = columns->out_size;
    type_ = out_type;
  }

  void run_axis(std::byte* out, DType out_type, const std::byte* in, int axis) {
    axis == 2 ? run_pass(out, out_type, in, -1, axis, true)
              : run_pass(out, out_type, in, axis, -1, true);
  }

  ResamplePlan plan_;
  int64_t frames_, channels_;
  int64_t extents_[3];
  DType type_;
  std::vector<int> passes_;
};

void resize_volumes(Samples& out, const Samples& in, const std::vector<Sample>& samples) {
  auto body = [&](int64_t i) {
    if (in.volume(i) == 0 || out.volume(i) == 0) return;
    VolumeResizer resizer(samples[static_cast<size_t>(i)], in.dtype());
    resizer.run(out.data<std::byte>(i), out.dtype(), in.data<const std::byte>(i));
  };
  // Many volumes are shared out; the work on one of a few is.
  if (in.size() < 2 * current_pool()->num_threads()) {
    for (int64_t i = 0; i < in.size(); i++) body(i);
    return;
  }
  constexpr double kNanosecondsPerValue = 1;
  parallel_for(
      in.size(),
      [&](int64_t i) {
        return kNanosecondsPerValue * static_cast<double>(in.volume(i) + out.volume(i));
      },
      body);
}

}  // namespace

void resize(Samples& out, const Samples& in, const ResizeRequest& request) {
  if (!in.contiguous() || !out.contiguous()) {
    throw std::invalid_argument("only contiguous samples can be resampled");
  }
  std::vector<Sample> samples;
  for (int64_t i = 0; i < in.size(); i++) samples.push_back(take_apart(in, request, i));
  request.geometry.axes < 3 ? resize_images(out, in, samples) : resize_volumes(out, in, samples);
}

}  // namespace daliesque::resize
