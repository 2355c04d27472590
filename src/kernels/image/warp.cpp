// SPDX-License-Identifier: Apache-2.0
#include "image/warp.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "core/convert.h"
#include "core/errors.h"
#include "core/parallel.h"
#include "core/simd.h"
#include "core/stream.h"

namespace daliesque::image {

namespace {

// Measured for 512x512x3 images.
constexpr double kNanosecondsPerBytePixel = 2.0;
constexpr double kWarpNanosecondsPerValue = 4.0;

const WarpLoops& warp_loops() { return DALIESQUE_CHOOSE(warp_loops); }

/// The fill value as pixels of the type that is read, after it has been one of the output's.
std::vector<std::byte> fill_pixels(const std::vector<float>& fill, int64_t channels, DType out,
                                   DType in) {
  std::vector<float> values(static_cast<size_t>(channels), 0.f);
  for (size_t c = 0; c < values.size() && !fill.empty(); c++) {
    values[c] = fill[fill.size() == 1 ? 0 : c];
  }
  std::vector<std::byte> written(values.size() * dtype_size(out));
  std::vector<std::byte> read(values.size() * dtype_size(in));
  convert_loop(out, DType::float32)(written.data(), values.data(), channels);
  convert_loop(in, out)(read.data(), written.data(), channels);
  std::vector<std::byte> pixels;
  pixels.reserve(read.size() * kWarpColumns);
  for (int k = 0; k < kWarpColumns; k++) pixels.insert(pixels.end(), read.begin(), read.end());
  return pixels;
}

/// Makes stretches of output pixels of one sample, whatever the interpolation.
class Sampler {
 public:
  Sampler(const Samples& out, const Samples& in, WarpInterp interp)
      : nearest_(DALIESQUE_CHOOSE_512(nearest)),
        linear_bytes_(DALIESQUE_CHOOSE_512(linear_bytes)),
        interp_(interp),
        bytes_(in.dtype() == DType::uint8 && out.dtype() == DType::uint8 && in.ndim() == 3 &&
               interp == WarpInterp::linear),
        plain_(out.dtype() == DType::float32),
        out_size_(dtype_size(out.dtype())) {
    if (interp != WarpInterp::nearest && !bytes_) {
      loop_ = interp == WarpInterp::linear ? warp_loops().linear(in.dtype())
                                           : warp_loops().cubic(in.dtype());
      if (!loop_) {
        throw UsageError(std::string("cannot interpolate ") + dtype_name(in.dtype()));
      }
      to_output_ = convert_loop(out.dtype(), DType::float32);
    }
  }

  /// Whether bytes() is to be called.
  bool fast() const { return bytes_; }

  LinearBytesLoop& bytes() const { return *linear_bytes_; }

  void operator()(std::byte* out, const WarpSurface& in, const WarpStretch& at) const {
    const int64_t values = at.count * in.channels;
    if (interp_ == WarpInterp::nearest) {
      nearest_(out, in, at, static_cast<int64_t>(out_size_) * in.channels);
    } else if (plain_) {
      loop_(reinterpret_cast<float*>(out), in, at);
    } else {
      std::vector<float> buffer(static_cast<size_t>(values));
      loop_(buffer.data(), in, at);
      to_output_(out, buffer.data(), values);
    }
  }

 private:
  NearestLoop* nearest_;
  LinearBytesLoop* linear_bytes_;
  WarpInterp interp_;
  bool bytes_, plain_;
  size_t out_size_;
  WarpLoop loop_ = nullptr;
  ConvertLoop to_output_ = nullptr;
};

/// Rows of a slice in bands of kWarpRows.
int64_t bands(int64_t height) { return (height + kWarpRows - 1) / kWarpRows; }

/// Images up to this size stay in the second-level cache while they are read.
constexpr int64_t kResidentBytes = 1 << 20;

/// Brings an image into the cache line by line, which is much faster than to wait for each line
/// when some pixel of an odd index needs it. Lines are read, since processors drop prefetches when
/// there are too many at once.
void load_lines(const void* data, int64_t bytes) {
  const auto* from = static_cast<const volatile std::byte*>(data);
  for (int64_t i = 0; i < bytes; i += 64) static_cast<void>(from[i]);
}

/// Makes bands of one sample. Bands have no gaps between them.
class BandMaker {
 public:
  BandMaker(const Samples& out, const Samples& in, int64_t sample, const WarpMapping& mapping,
            const WarpOptions& options, const Sampler& sampler)
      : mapping_(mapping), sampler_(sampler), sample_(sample) {
    const auto spatial = static_cast<size_t>(in.ndim()) - 1;
    const Shape from = in.shape(sample), to = out.shape(sample);
    const bool volume = spatial == 3;
    fill_ = fill_pixels(options.fill, from[spatial], out.dtype(), in.dtype());
    surface_ = {in.data(sample), volume ? from[0] : 1, from[spatial - 2], from[spatial - 1],
                from[spatial],   options.border,       fill_.data()};
    volume_ = volume;
    if (options.origins) {
      top_ = options.origins->row(sample)[0];
      left_ = options.origins->row(sample)[1];
    }
    height_ = to[spatial - 2];
    width_ = to[spatial - 1];
    item_bytes_ = static_cast<int64_t>(in.itemsize());
    scattered_ = !volume && in.volume(sample) * item_bytes_ > kResidentBytes;
    pixel_bytes_ = static_cast<int64_t>(out.itemsize()) * from[spatial];
    const bool plain = options.border == Border::constant || options.border == Border::clamp;
    // Shifts that are finite for the first and the last row are so for all of them.
    shifts_rows_ = sampler.fast() && plain && in.volume(sample) &&
                   mapping.row_shift(sample, top_) && mapping.row_shift(sample, top_ + height_ - 1);
    if (shifts_rows_) buffer_.resize(static_cast<size_t>(2 * (width_ + 1) * pixel_bytes_));
  }

  int64_t row_bytes() const { return width_ * pixel_bytes_; }
  /// The row of the sample, counted through all slices, that a band begins with.
  int64_t first_row(int64_t band) const {
    return band / bands(height_) * height_ + band % bands(height_) * kWarpRows;
  }
  int64_t rows(int64_t band) const {
    return std::min<int64_t>(kWarpRows, height_ - band % bands(height_) * kWarpRows);
  }

  void make(std::byte* out, int64_t band) {
    const int64_t z = band / bands(height_), y = top_ + band % bands(height_) * kWarpRows;
    const auto row_count = static_cast<int>(rows(band));
    if (shifts_rows_) return shift_rows(reinterpret_cast<uint8_t*>(out), y, row_count);
    int columns = 0;
    for (int64_t x = left_; x < left_ + width_; x += columns) {
      // Running sums start again between tiles only.
      columns = static_cast<int>(std::min<int64_t>(kWarpColumns, kWarpRestart - x % kWarpRestart));
      columns = static_cast<int>(std::min<int64_t>(columns, left_ + width_ - x));
      mapping_.locate(at_, sample_, {z, y, x, row_count, columns, x == left_});
      if (scattered_) prefetch_tile(row_count, columns);
      make_tile(out + (x - left_) * pixel_bytes_, row_count, columns);
    }
  }

 private:
  void make_tile(std::byte* out, int row_count, int columns) const {
    const bool straight = mapping_.is_straight();
    if (sampler_.fast()) {
      sampler_.bytes()(reinterpret_cast<uint8_t*>(out), row_bytes(), surface_, at_,
                       {row_count, columns, straight});
      return;
    }
    for (int r = 0; r < row_count; r++, out += row_bytes()) {
      sampler_(out, surface_,
               {at_.x[r], at_.y[r], volume_ ? at_.z[r] : nullptr, columns, straight});
    }
  }

  /// Asks for the lines that a tile needs, all at once: no pixel waits for those of another.
  /// A function of its own has no effect that GCC knows of, and would be left out.
  [[gnu::always_inline]] void prefetch_tile(int row_count, int columns) const {
    constexpr int64_t kLine = 64;
    const auto* data = static_cast<const std::byte*>(surface_.data);
    const int64_t bytes = surface_.channels * item_bytes_;
    const auto width = static_cast<float>(surface_.width);
    const auto height = static_cast<float>(surface_.height);
    const int step = static_cast<int>(std::clamp<int64_t>(kLine / bytes, 1, kWarpColumns));
    for (int r = 0; r < row_count; r++) {
      for (int k = 0; k < columns; k += step) {
        const float x = at_.x[r][k], y = at_.y[r][k];
        if (!(x >= 0 && x < width && y >= 0 && y < height)) continue;
        const int64_t row = static_cast<int64_t>(y) * surface_.width;
        __builtin_prefetch(data + (row + static_cast<int64_t>(x)) * bytes, 0, 2);
      }
    }
  }

  void shift_rows(uint8_t* out, int64_t first, int row_count) {
    for (int r = 0; r < row_count; r++, out += row_bytes()) {
      shift_row(out, surface_, first + r, {left_, left_ + width_},
                *mapping_.row_shift(sample_, first + r), buffer_.data());
    }
  }

  const WarpMapping& mapping_;
  const Sampler& sampler_;
  int64_t sample_, height_, width_, pixel_bytes_, item_bytes_;
  int64_t top_ = 0, left_ = 0;
  bool volume_, shifts_rows_, scattered_;
  std::vector<uint8_t> buffer_;
  std::vector<std::byte> fill_;
  WarpSurface surface_;
  // Loops read whole rows of it, also where a tile is narrower.
  WarpCoordinates at_{};
};

/// Makes the bands from `begin` to `end`, past the caches if `streamed`.
void make_bands(std::byte* out, BandMaker& maker, int64_t begin, int64_t end, bool streamed) {
  const int64_t row_bytes = maker.row_bytes(), band_bytes = row_bytes * kWarpRows;
  // The buffer must stay in the cache, beside the part of the input that is read.
  if (!streamed || band_bytes > kResidentBytes / 4) {
    for (int64_t band = begin; band < end; band++) {
      maker.make(out + maker.first_row(band) * row_bytes, band);
    }
    return;
  }
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(band_bytes));
  for (int64_t band = begin; band < end; band++) {
    maker.make(buffer.get(), band);
    stream_copy(out + maker.first_row(band) * row_bytes, buffer.get(),
                static_cast<size_t>(maker.rows(band) * row_bytes));
  }
  stream_fence();
}

}  // namespace

void AffineMapping::locate(WarpCoordinates& at, int64_t sample, const WarpTile& tile) const {
  const float* m = matrices_.row(sample);
  float step[3] = {};
  for (int d = 0; d < dims_; d++) {
    const float* row = m + d * (dims_ + 1);
    step[d] = row[0];
    const int64_t steps = tile.x % kWarpRestart;
    if (steps != 0 && !tile.first) continue;
    float* sums = at.sums[d];
    for (int r = 0; r < kWarpRows; r++) {
      float sum = row[dims_] + row[0] * 0.5f;
      sum += row[1] * (static_cast<float>(tile.y + r) + 0.5f);
      if (dims_ == 3) sum += row[2] * (static_cast<float>(tile.z) + 0.5f);
      for (int64_t x = 0; x < tile.x - steps; x += kWarpRestart) sum += kWarpRestart * row[0];
      sums[r] = sum;
    }
    for (int64_t k = 0; k < steps; k++) {
      for (int r = 0; r < kWarpRows; r++) sums[r] += row[0];
    }
  }
  warp_loops().affine(at, step, dims_);
}

std::optional<RowShift> AffineMapping::row_shift(int64_t sample, int64_t y) const {
  const float* m = matrices_.row(sample);
  if (dims_ != 2 || m[0] != 1 || m[3] != 0 || m[4] != 1) return std::nullopt;
  const float x = m[1] * (static_cast<float>(y) + 0.5f) + m[2];
  if (!std::isfinite(x) || !std::isfinite(m[5])) return std::nullopt;
  return RowShift{x, m[5]};
}

void warp(Samples& out, const Samples& in, const WarpMapping& mapping, const WarpOptions& options) {
  const Sampler sampler(out, in, options.interp);
  const size_t spatial = static_cast<size_t>(in.ndim()) - 1;
  const bool volumes = spatial == 3;
  const bool streamed = exceeds_caches(out, in);
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
        return pixels * (sampler.fast() ? kNanosecondsPerBytePixel
                                        : kWarpNanosecondsPerValue *
                                              static_cast<double>(in.shape(i)[spatial]));
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        if (masked(i)) {
          std::memcpy(out.data(i), in.data(i), static_cast<size_t>(in.volume(i)) * in.itemsize());
          return;
        }
        const int64_t bytes = in.volume(i) * static_cast<int64_t>(in.itemsize());
        const bool whole = begin == 0 && end == depth(i) * bands(height(i));
        // A result that is much smaller may need little of its input.
        if (whole && bytes <= kResidentBytes && 4 * out.volume(i) >= in.volume(i)) {
          load_lines(in.data(i), bytes);
        }
        BandMaker maker(out, in, i, mapping, options, sampler);
        make_bands(out.data<std::byte>(i), maker, begin, end, streamed);
      });
}

}  // namespace daliesque::image
