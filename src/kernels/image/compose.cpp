// SPDX-License-Identifier: Apache-2.0
#include "image/compose.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/convert.h"
#include "core/parallel.h"
#include "core/stream.h"

namespace daliesque::image {

namespace {

// Measured for batches larger than the caches.
constexpr double kComposeNanosecondsPerByte = 0.15;

/// What is left of a number after its whole part. Numbers beyond 32 bits, which have no fraction,
/// give 0. Unlike std::floor this vectorizes for any processor.
float fraction(float x) {
  const bool small = std::fabs(x) < 1e9f;
  const float within = small ? x : 0.f;
  const auto whole = static_cast<float>(static_cast<int32_t>(within));
  return within - (whole > within ? whole - 1.f : whole);
}

/// The box of one region within a sample, cut into runs that lie in one piece.
class Box {
 public:
  Box(Shape shape, const int64_t* begin, const int64_t* end) : shape_(shape), begin_(begin) {
    const size_t ndim = shape.size();
    end_.assign(end, end + ndim);
    inner_ = ndim;
    // Whole axes at the end, and the one before them, make a run.
    while (inner_ > 0) {
      run_ *= end[inner_ - 1] - begin[inner_ - 1];
      inner_--;
      if (begin[inner_] != 0 || end[inner_] != shape[inner_]) break;
    }
  }

  /// Elements of a run.
  int64_t run() const { return run_; }
  /// The axes from this one on lie within a run.
  size_t inner() const { return inner_; }

  /// Calls body(offset, index) for each run with its offset and its index along the outer axes.
  template <class Body>
  void each(Body&& body) const {
    std::vector<int64_t> index(begin_, begin_ + shape_.size());
    while (true) {
      int64_t offset = 0;
      for (size_t d = 0; d < shape_.size(); d++) offset = offset * shape_[d] + index[d];
      body(offset, index);
      size_t d = inner_;
      while (d > 0 && ++index[d - 1] == end_[d - 1]) {
        index[d - 1] = begin_[d - 1];
        d--;
      }
      if (d == 0) return;
    }
  }

 private:
  Shape shape_;
  const int64_t* begin_;
  std::vector<int64_t> end_;
  size_t inner_;
  int64_t run_ = 1;
};

/// Fills one region of a sample with values of `size` bytes each.
void fill_region(std::byte* data, Shape shape, const int64_t* begin, const int64_t* end,
                 const std::vector<std::byte>& values, size_t size, int channel_axis,
                 bool streamed) {
  const Box box(shape, begin, end);
  const size_t count = values.size() / size;
  const auto axis = static_cast<size_t>(channel_axis);
  const auto value_at = [&](int64_t channel) {
    return values.data() + (count == 1 ? 0 : static_cast<size_t>(channel)) * size;
  };
  std::vector<std::byte> run(static_cast<size_t>(box.run()) * size);
  const auto paint = [&](int64_t first, int64_t period, int64_t extent) {
    for (int64_t k = 0; k < box.run(); k++) {
      std::memcpy(run.data() + static_cast<size_t>(k) * size, value_at(first + k / period % extent),
                  size);
    }
  };
  const bool inside = count > 1 && axis >= box.inner();
  if (inside) {
    int64_t period = 1;
    for (size_t d = axis + 1; d < shape.size(); d++) period *= end[d] - begin[d];
    paint(begin[axis], period, end[axis] - begin[axis]);
  } else {
    paint(count > 1 ? begin[axis] : 0, box.run(), 1);
  }
  int64_t painted = count > 1 && !inside ? begin[axis] : 0;
  box.each([&](int64_t offset, const std::vector<int64_t>& index) {
    if (count > 1 && !inside && index[axis] != painted) {
      painted = index[axis];
      paint(painted, box.run(), 1);
    }
    copy_bytes(data + static_cast<size_t>(offset) * size, run.data(), run.size(), streamed);
  });
}

}  // namespace

void erase(Samples& out, const Samples& in, const Regions& regions, PerSample<float> fill,
           int channel_axis) {
  const size_t size = in.itemsize();
  const auto ndim = static_cast<int64_t>(in.ndim());
  const ConvertLoop convert = convert_loop(in.dtype(), DType::float32);
  const bool streamed = exceeds_caches(out, in);
  parallel_for(
      in.size(),
      [&](int64_t i) {
        return static_cast<double>(in.volume(i)) * static_cast<double>(size) *
               kComposeNanosecondsPerByte;
      },
      [&](int64_t i) {
        const size_t bytes = static_cast<size_t>(in.volume(i)) * size;
        if (bytes == 0) return;
        copy_bytes(out.data(i), in.data(i), bytes, streamed);
        std::vector<std::byte> values(static_cast<size_t>(fill.width()) * size);
        convert(values.data(), fill.row(i), fill.width());
        const auto sample = static_cast<size_t>(i);
        for (int64_t r = regions.offsets[sample]; r < regions.offsets[sample + 1]; r++) {
          const int64_t* begin = regions.bounds + r * 2 * ndim;
          fill_region(out.data<std::byte>(i), in.shape(i), begin, begin + ndim, values, size,
                      channel_axis, streamed);
        }
        if (streamed) stream_fence();
      });
}

void grid_mask(Samples& out, const Samples& in, const Grid& grid) {
  parallel_slices(
      in.size(), [&](int64_t i) { return in.volume(i) ? in.shape(i)[0] : 0; },
      [&](int64_t i) {
        return static_cast<double>(in.shape(i)[1] * in.shape(i)[2]) *
               static_cast<double>(in.itemsize()) * 2 * kComposeNanosecondsPerByte;
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const auto tile = static_cast<float>(grid.tile[i]);
        const float ratio = grid.ratio[i];
        const float along = std::cos(grid.angle[i]) / tile, across = std::sin(grid.angle[i]) / tile;
        const float shift_x = grid.shift_x[i] / tile, shift_y = grid.shift_y[i] / tile;
        const int64_t width = in.shape(i)[1];
        const auto pixel = static_cast<int64_t>(in.itemsize()) * in.shape(i)[2];
        std::vector<uint8_t> kept(static_cast<size_t>(width));
        for (int64_t y = begin; y < end; y++) {
          const auto row = static_cast<float>(y);
          const float start_x = -shift_x + row * -across, start_y = -shift_y + row * along;
          for (int64_t x = 0; x < width; x++) {
            const float fx = start_x + static_cast<float>(static_cast<int32_t>(x)) * along;
            const float fy = start_y + static_cast<float>(static_cast<int32_t>(x)) * across;
            kept[static_cast<size_t>(x)] = (fraction(fx) >= ratio) | (fraction(fy) >= ratio);
          }
          std::byte* to = out.data<std::byte>(i) + y * width * pixel;
          const std::byte* from = in.data<const std::byte>(i) + y * width * pixel;
          // Squares are wide: whole runs are copied or cleared.
          for (int64_t x = 0; x < width;) {
            const uint8_t keep = kept[static_cast<size_t>(x)];
            int64_t stop = x + 1;
            while (stop < width && kept[static_cast<size_t>(stop)] == keep) stop++;
            const auto bytes = static_cast<size_t>((stop - x) * pixel);
            if (keep) {
              std::memcpy(to + x * pixel, from + x * pixel, bytes);
            } else {
              std::memset(to + x * pixel, 0, bytes);
            }
            x = stop;
          }
        }
      });
}

void multi_paste(Samples& out, const std::vector<const Samples*>& inputs,
                 std::span<const int64_t> offsets, const Patch* patches) {
  const ConvertLoop convert = convert_loop(out.dtype(), inputs[0]->dtype());
  const size_t in_size = inputs[0]->itemsize(), out_size = out.itemsize();
  const bool same = out.dtype() == inputs[0]->dtype();
  parallel_for(
      out.size(),
      [&](int64_t i) {
        return static_cast<double>(out.volume(i)) * static_cast<double>(out_size) * 2 *
               kComposeNanosecondsPerByte;
      },
      [&](int64_t i) {
        const Shape canvas = out.shape(i);
        const int64_t first = offsets[static_cast<size_t>(i)];
        const int64_t stop = offsets[static_cast<size_t>(i) + 1];
        const bool covered = std::any_of(patches + first, patches + stop, [&](const Patch& p) {
          return p.height == canvas[0] && p.width == canvas[1];
        });
        if (!covered && out.volume(i)) {
          std::memset(out.data(i), 0, static_cast<size_t>(out.volume(i)) * out_size);
        }
        for (int64_t k = first; k < stop; k++) {
          const Patch& p = patches[k];
          const Samples& in = *inputs[static_cast<size_t>(p.input)];
          const Shape shape = in.shape(p.sample);
          const int64_t channels = shape[2], values = p.width * channels;
          for (int64_t y = 0; y < p.height && values; y++) {
            const int64_t source = ((p.from_y + y) * shape[1] + p.from_x) * channels;
            const int64_t target = ((p.to_y + y) * canvas[1] + p.to_x) * channels;
            const std::byte* from =
                in.data<const std::byte>(p.sample) + static_cast<size_t>(source) * in_size;
            std::byte* to = out.data<std::byte>(i) + static_cast<size_t>(target) * out_size;
            if (same) {
              std::memcpy(to, from, static_cast<size_t>(values) * out_size);
            } else {
              convert(to, from, values);
            }
          }
        }
      });
}

}  // namespace daliesque::image
