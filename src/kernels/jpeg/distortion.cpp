// SPDX-License-Identifier: Apache-2.0
#include "jpeg/distortion.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/simd.h"
#include "jpeg/decoder_loops.h"

namespace daliesque::jpeg {

namespace {

// Measured for 512x512 images.
constexpr double kNanosecondsPerPixel = 1.5;

using Table = std::array<uint16_t, 64>;

// The example tables of ITU-T T.81, annex K, which everybody uses.
constexpr Table kLuma = {16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
                         14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
                         18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
                         49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
constexpr Table kChroma = {17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99,
                           24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
                           99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
                           99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99};

/// What happens to the coefficients of a component.
struct Quantization {
  alignas(32) Table table;
  Divisors divisors;

  Quantization(const Table& base, int quality) {
    const int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    for (size_t k = 0; k < 64; k++) {
      const int step = std::clamp((base[k] * percent + 50) / 100, 1, 255), divisor = 8 * step;
      // The divisor lies above 2^(bits - 1), which leaves 16 bits to the reciprocal.
      const int bits = std::bit_width(static_cast<unsigned>(divisor - 1));
      table[k] = static_cast<uint16_t>(step);
      divisors.half[k] = static_cast<uint16_t>(divisor / 2);
      divisors.reciprocal[k] = static_cast<uint16_t>(((1 << (15 + bits)) + divisor - 1) / divisor);
      divisors.scale[k] = static_cast<uint16_t>(1 << (17 - bits));
    }
  }
};

const EncoderLoops& encoder() { return DALIESQUE_CHOOSE(encoder_loops); }

/// Rows of samples of one component: whole blocks, with padding around every row.
class PaddedPlane {
 public:
  PaddedPlane(int64_t width, int64_t height)
      : width_((width + 7) / 8 * 8),
        height_((height + 7) / 8 * 8),
        stride_(width_ + 2 * kRowPadding),
        data_(allocate(static_cast<size_t>(stride_ * height_ + kRowPadding))) {}

  int64_t width() const { return width_; }
  int64_t height() const { return height_; }
  int64_t stride() const { return stride_; }
  uint8_t* row(int64_t y) { return static_cast<uint8_t*>(data_.get()) + y * stride_ + kRowPadding; }

  /// Repeats the last of `count` values up to the end of row y.
  void extend_row(int64_t y, int64_t count) {
    uint8_t* values = row(y);
    std::memset(values + count, values[count - 1], static_cast<size_t>(width_ - count));
  }

  /// Repeats the last of `count` rows.
  void extend_rows(int64_t count) {
    for (int64_t y = count; y < height_; y++) {
      std::memcpy(row(y), row(count - 1), static_cast<size_t>(width_));
    }
  }

 private:
  int64_t width_, height_, stride_;
  Buffer data_;
};

/// The way of an image through compression, in strips of 16 rows, so that what one step makes is
/// still in the cache for the next one.
class Distortion {
 public:
  Distortion(uint8_t* out, const uint8_t* in, int64_t height, int64_t width, int quality)
      : out_(out),
        in_(in),
        height_(height),
        width_(width),
        half_height_((height + 1) / 2),
        half_width_((width + 1) / 2),
        for_luma_(kLuma, quality),
        for_chroma_(kChroma, quality),
        luma_(width, height),
        chroma_{{half_width_, half_height_}, {half_width_, half_height_}},
        full_{{2 * chroma_[0].width(), 2}, {2 * chroma_[0].width(), 2}},
        wide_{{2 * half_width_, 1}, {2 * half_width_, 1}},
        coefficients_(static_cast<size_t>(luma_.width()) * 8),
        last_(static_cast<size_t>(luma_.width() / 8)) {}

  void run() {
    int64_t done = 0;
    for (int64_t y = 0; y < height_; y += kStrip) {
      const int64_t end = std::min(y + kStrip, height_);
      for (int64_t pair = y; pair < end; pair += 2) convert_pair(pair);
      if (end == height_) {
        luma_.extend_rows(height_);
        for (PaddedPlane& plane : chroma_) plane.extend_rows(half_height_);
      }
      quantize(luma_, y, end, for_luma_);
      for (PaddedPlane& plane : chroma_) quantize_chroma(plane, y / 2, (end + 1) / 2);
      // The last row mixes colors with the strip that follows.
      const int64_t finished = end == height_ ? end : end - 1;
      for (; done < finished; done++) emit(done);
    }
  }

 private:
  static constexpr int64_t kStrip = 16;

  /// Rows y and y + 1 as brightness and, at half the resolution, color.
  void convert_pair(int64_t y) {
    const int64_t rows = std::min<int64_t>(2, height_ - y);
    for (int64_t r = 0; r < rows; r++) {
      encoder().to_ycbcr(luma_.row(y + r), full_[0].row(r), full_[1].row(r),
                         in_ + (y + r) * width_ * 3, static_cast<int>(width_));
      luma_.extend_row(y + r, width_);
      for (PaddedPlane& plane : full_) plane.extend_row(r, width_);
    }
    for (int c = 0; c < 2; c++) {
      encoder().downsample(chroma_[c].row(y / 2), full_[c].row(0), full_[c].row(rows - 1),
                           static_cast<int>(chroma_[c].width()));
    }
  }

  /// Replaces the samples of the blocks of rows [begin, end) by what is left of them.
  void quantize(PaddedPlane& plane, int64_t begin, int64_t end, const Quantization& by) {
    const int blocks = static_cast<int>(plane.width() / 8);
    for (int64_t y = begin; y < end; y += 8) {
      encoder().forward_dct(coefficients_.data(), last_.data(), plane.row(y), plane.stride(),
                            blocks, by.divisors);
      decoder_loops().inverse_dct(plane.row(y), plane.stride(), coefficients_.data(), last_.data(),
                                  blocks, by.table.data());
    }
  }

  void quantize_chroma(PaddedPlane& plane, int64_t begin, int64_t end) {
    quantize(plane, begin, end, for_chroma_);
    for (int64_t y = begin; y < end; y++) {
      uint8_t* row = plane.row(y);
      row[-1] = row[0];
      row[half_width_] = row[half_width_ - 1];
    }
  }

  /// Row y of the result.
  void emit(int64_t y) {
    const int64_t near = y / 2;
    const int64_t far = std::clamp<int64_t>(near + (y % 2 ? 1 : -1), 0, half_height_ - 1);
    for (int c = 0; c < 2; c++) {
      decoder_loops().upsample_h2v2(wide_[c].row(0), chroma_[c].row(near), chroma_[c].row(far),
                                    static_cast<int>(half_width_));
    }
    decoder_loops().ycbcr_to_pixels(out_ + y * width_ * 3,
                                    {{luma_.row(y), wide_[0].row(0), wide_[1].row(0)}},
                                    static_cast<int>(width_), false);
  }

  uint8_t* out_;
  const uint8_t* in_;
  int64_t height_, width_, half_height_, half_width_;
  Quantization for_luma_, for_chroma_;
  PaddedPlane luma_, chroma_[2];
  PaddedPlane full_[2];  // color of two rows at full resolution, on the way in
  PaddedPlane wide_[2];  // and of one row on the way out
  std::vector<int16_t> coefficients_;
  std::vector<uint8_t> last_;
};

}  // namespace

void jpeg_distortion(Samples& out, const Samples& in, PerSample<int32_t> quality) {
  parallel_for(
      in.size(),
      [&](int64_t i) { return static_cast<double>(in.volume(i) / 3) * kNanosecondsPerPixel; },
      [&](int64_t i) {
        if (in.volume(i) == 0) return;
        Distortion(out.data<uint8_t>(i), in.data<const uint8_t>(i), in.shape(i)[0], in.shape(i)[1],
                   std::clamp(quality[i], 1, 100))
            .run();
      });
}

}  // namespace daliesque::jpeg
