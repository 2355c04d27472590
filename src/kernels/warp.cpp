// SPDX-License-Identifier: Apache-2.0
#include "warp.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "convert.h"
#include "cpu.h"
#include "parallel.h"

namespace daliesque {

namespace {

// Measured for 512x512x3 images.
constexpr double kNanosecondsPerBytePixel = 2.0;
constexpr double kNanosecondsPerValue = 4.0;

const WarpLoops& warp_loops() {
#ifdef __x86_64__
  if (cpu_has_avx2()) return avx2::warp_loops;
#endif
  return portable::warp_loops;
}

/// The fill value as a pixel of the type that is read, after it has been one of the output's.
std::vector<std::byte> fill_pixel(const std::vector<float>& fill, int64_t channels, DType out,
                                  DType in) {
  std::vector<float> values(static_cast<size_t>(channels), 0.f);
  for (size_t c = 0; c < values.size() && !fill.empty(); c++) {
    values[c] = fill[fill.size() == 1 ? 0 : c];
  }
  std::vector<std::byte> written(values.size() * dtype_size(out));
  std::vector<std::byte> read(values.size() * dtype_size(in));
  convert_loop(out, DType::float32)(written.data(), values.data(), channels);
  convert_loop(in, out)(read.data(), written.data(), channels);
  return read;
}

/// Makes stretches of output pixels of one sample, whatever the interpolation.
class Sampler {
 public:
  Sampler(const Samples& out, const Samples& in, WarpInterp interp)
      : loops_(warp_loops()),
        interp_(interp),
        bytes_(in.dtype() == DType::uint8 && out.dtype() == DType::uint8 && in.ndim() == 3 &&
               interp == WarpInterp::linear),
        plain_(out.dtype() == DType::float32),
        out_size_(dtype_size(out.dtype())) {
    if (interp != WarpInterp::nearest && !bytes_) {
      loop_ = interp == WarpInterp::linear ? loops_.linear(in.dtype()) : loops_.cubic(in.dtype());
      if (!loop_) {
        throw std::invalid_argument(std::string("cannot interpolate ") + dtype_name(in.dtype()));
      }
      to_output_ = convert_loop(out.dtype(), DType::float32);
    }
  }

  bool fast() const { return bytes_; }

  void operator()(std::byte* out, const WarpSurface& in, const WarpStretch& at) const {
    const int64_t values = at.count * in.channels;
    if (interp_ == WarpInterp::nearest) {
      loops_.nearest(out, in, at, static_cast<int64_t>(out_size_) * in.channels);
    } else if (bytes_) {
      loops_.linear_bytes(reinterpret_cast<uint8_t*>(out), in, at);
    } else if (plain_) {
      loop_(reinterpret_cast<float*>(out), in, at);
    } else {
      std::vector<float> buffer(static_cast<size_t>(values));
      loop_(buffer.data(), in, at);
      to_output_(out, buffer.data(), values);
    }
  }

 private:
  const WarpLoops& loops_;
  WarpInterp interp_;
  bool bytes_, plain_;
  size_t out_size_;
  WarpLoop loop_ = nullptr;
  ConvertLoop to_output_ = nullptr;
};

/// Rows of a slice in bands of kWarpRows.
int64_t bands(int64_t height) { return (height + kWarpRows - 1) / kWarpRows; }

}  // namespace

void AffineMapping::locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const {
  const float* m = matrices_.row(sample);
  float step[3] = {};
  for (int d = 0; d < dims_; d++) {
    const float* row = m + d * (dims_ + 1);
    step[d] = row[0];
    if (tile.x % kWarpRestart != 0) continue;
    for (int r = 0; r < kWarpRows; r++) {
      float sum = row[dims_] + row[0] * 0.5f;
      sum += row[1] * (static_cast<float>(tile.y + r) + 0.5f);
      if (dims_ == 3) sum += row[2] * (static_cast<float>(tile.z) + 0.5f);
      for (int64_t x = 0; x < tile.x; x += kWarpRestart) sum += kWarpRestart * row[0];
      at.sums[d][r] = sum;
    }
  }
  warp_loops().affine(at, step, dims_);
}

void warp(Samples& out, const Samples& in, const WarpMapping& mapping, const WarpOptions& options) {
  const Sampler sampler(out, in, options.interp);
  const size_t spatial = static_cast<size_t>(in.ndim()) - 1;
  const bool volumes = spatial == 3;
  const auto masked = [&](int64_t i) { return options.mask && (*options.mask)[i] == 0; };
  const auto height = [&](int64_t i) { return out.shape(i)[spatial - 2]; };
  const auto depth = [&](int64_t i) { return volumes ? out.shape(i)[0] : 1; };
  parallel_slices(
      out.size(),
      [&](int64_t i) {
        if (out.volume(i) == 0) return int64_t{0};
        return masked(i) ? int64_t{1} : depth(i) * bands(height(i));
      },
      [&](int64_t i) {
        const auto pixels = static_cast<double>(out.shape(i)[spatial - 1] * kWarpRows);
        return pixels * (sampler.fast()
                             ? kNanosecondsPerBytePixel
                             : kNanosecondsPerValue * static_cast<double>(in.shape(i)[spatial]));
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        if (masked(i)) {
          std::memcpy(out.data(i), in.data(i), static_cast<size_t>(in.volume(i)) * in.itemsize());
          return;
        }
        const Shape shape = in.shape(i);
        const int64_t channels = shape[spatial], width = out.shape(i)[spatial - 1];
        const std::vector<std::byte> fill =
            fill_pixel(options.fill, channels, out.dtype(), in.dtype());
        const WarpSurface surface{
            in.data(i), volumes ? shape[0] : 1, shape[spatial - 2], shape[spatial - 1],
            channels,   options.border,         fill.data()};
        const auto pixel_bytes = static_cast<int64_t>(out.itemsize()) * channels;
        WarpCoordinates at;
        for (int64_t band = begin; band < end; band++) {
          const int64_t z = band / bands(height(i)), y = band % bands(height(i)) * kWarpRows;
          const int rows = static_cast<int>(std::min<int64_t>(kWarpRows, height(i) - y));
          for (int64_t x = 0; x < width; x += kWarpColumns) {
            const int columns = static_cast<int>(std::min<int64_t>(kWarpColumns, width - x));
            const WarpTile tile{z, y, x, rows, columns};
            mapping.locate(at, i, tile);
            for (int r = 0; r < rows; r++) {
              std::byte* to =
                  out.data<std::byte>(i) + (((z * height(i)) + y + r) * width + x) * pixel_bytes;
              sampler(to, surface, {at.x[r], at.y[r], volumes ? at.z[r] : nullptr, columns});
            }
          }
        }
      });
}

}  // namespace daliesque
