// SPDX-License-Identifier: Apache-2.0
#include "jpeg/distortion.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/parallel.h"
#include "core/simd.h"
#include "jpeg/decoder_loops.h"

namespace daliesque::jpeg {

namespace {

// Measured for 512x512 images.
constexpr double kNanosecondsPerPixel = 6;

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

Table scaled(const Table& base, int quality) {
  const int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  Table table;
  for (size_t k = 0; k < 64; k++) {
    table[k] = static_cast<uint16_t>(std::clamp((base[k] * percent + 50) / 100, 1, 255));
  }
  return table;
}

const EncoderLoops& encoder() { return DALIESQUE_CHOOSE(encoder_loops); }

/// Samples of one component: whole blocks, with padding around every row.
class PaddedPlane {
 public:
  PaddedPlane(int64_t width, int64_t height)
      : width_((width + 7) / 8 * 8),
        height_((height + 7) / 8 * 8),
        stride_(width_ + 2 * kRowPadding),
        data_(static_cast<size_t>(stride_ * height_ + kRowPadding)) {}

  int64_t width() const { return width_; }
  int64_t height() const { return height_; }
  uint8_t* row(int64_t y) { return data_.data() + y * stride_ + kRowPadding; }

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

  /// Replaces the samples by what is left of them after quantization.
  void quantize(const Table& table) {
    const int blocks = static_cast<int>(width_ / 8);
    std::vector<int16_t> coefficients(static_cast<size_t>(blocks) * 64);
    std::vector<uint8_t> last(static_cast<size_t>(blocks));
    for (int64_t y = 0; y < height_; y += 8) {
      encoder().forward_dct(coefficients.data(), last.data(), row(y), stride_, blocks,
                            table.data());
      decoder_loops().inverse_dct(row(y), stride_, coefficients.data(), last.data(), blocks,
                                  table.data());
    }
  }

 private:
  int64_t width_, height_, stride_;
  std::vector<uint8_t> data_;
};

/// Color at half the resolution, from rows at full resolution.
void downsample_rows(PaddedPlane& out, PaddedPlane& in, int64_t rows, int64_t source_rows) {
  for (int64_t y = 0; y < rows; y++) {
    const int64_t lower = std::min(2 * y + 1, source_rows - 1);
    encoder().downsample(out.row(y), in.row(2 * y), in.row(lower), static_cast<int>(out.width()));
  }
  out.extend_rows(rows);
}

void distort(uint8_t* out, const uint8_t* in, int64_t height, int64_t width, int quality) {
  const int64_t half_width = (width + 1) / 2, half_height = (height + 1) / 2;
  PaddedPlane luma(width, height);
  PaddedPlane half[2] = {{half_width, half_height}, {half_width, half_height}};
  {
    PaddedPlane full[2] = {{2 * half[0].width(), height}, {2 * half[0].width(), height}};
    for (int64_t y = 0; y < height; y++) {
      encoder().to_ycbcr(luma.row(y), full[0].row(y), full[1].row(y), in + y * width * 3,
                         static_cast<int>(width));
      luma.extend_row(y, width);
      for (PaddedPlane& plane : full) plane.extend_row(y, width);
    }
    luma.extend_rows(height);
    for (int c = 0; c < 2; c++) downsample_rows(half[c], full[c], half_height, height);
  }
  luma.quantize(scaled(kLuma, quality));
  const Table chroma = scaled(kChroma, quality);
  for (PaddedPlane& plane : half) {
    plane.quantize(chroma);
    for (int64_t y = 0; y < half_height; y++) {
      uint8_t* row = plane.row(y);
      row[-1] = row[0];
      row[half_width] = row[half_width - 1];
    }
  }
  const auto capacity = static_cast<size_t>(2 * half_width + 2 * kRowPadding);
  std::vector<uint8_t> wide[2] = {std::vector<uint8_t>(capacity), std::vector<uint8_t>(capacity)};
  for (int64_t y = 0; y < height; y++) {
    const int64_t near = y / 2;
    const int64_t far = std::clamp<int64_t>(near + (y % 2 ? 1 : -1), 0, half_height - 1);
    for (int c = 0; c < 2; c++) {
      decoder_loops().upsample_h2v2(wide[c].data(), half[c].row(near), half[c].row(far),
                                    static_cast<int>(half_width));
    }
    decoder_loops().ycbcr_to_pixels(out + y * width * 3,
                                    {{luma.row(y), wide[0].data(), wide[1].data()}},
                                    static_cast<int>(width), false);
  }
}

}  // namespace

void jpeg_distortion(Samples& out, const Samples& in, PerSample<int32_t> quality) {
  parallel_for(
      in.size(),
      [&](int64_t i) { return static_cast<double>(in.volume(i)) * kNanosecondsPerPixel; },
      [&](int64_t i) {
        if (in.volume(i) == 0) return;
        distort(out.data<uint8_t>(i), in.data<const uint8_t>(i), in.shape(i)[0], in.shape(i)[1],
                std::clamp(quality[i], 1, 100));
      });
}

}  // namespace daliesque::jpeg
