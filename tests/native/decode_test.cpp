// SPDX-License-Identifier: Apache-2.0
// Writes windows of images of every type, color and orientation into buffers of exactly the right
// size, and reads headers and pixels of files that are no images. Run under a sanitizer.
#include <atomic>
#include <cstring>
#include <random>
#include <vector>

#include "check.h"
#include "decode/images.h"
#include "decode/pixels.h"

using namespace daliesque;
using namespace daliesque::decode;
using testing::check;
using testing::passed;

namespace {

/// Where EXIF says that a pixel of the upright image is stored.
int64_t stored_at(int orientation, int64_t height, int64_t width, int64_t y, int64_t x) {
  const int64_t rows[] = {y, y, height - 1 - y, height - 1 - y, x, height - 1 - x, height - 1 - x,
                          x};
  const int64_t columns[] = {x, width - 1 - x, width - 1 - x, x, y,
                             y, width - 1 - y, width - 1 - y};
  return rows[orientation - 1] * width + columns[orientation - 1];
}

void windows_of_oriented_images() {
  constexpr int64_t kHeight = 5, kWidth = 7;
  std::vector<uint8_t> stored(kHeight * kWidth * 3);
  for (size_t i = 0; i < stored.size(); i++) stored[i] = static_cast<uint8_t>(i);
  const Pixels in{stored.data(), DType::uint8, kHeight, kWidth, 3};
  for (int orientation = 1; orientation <= 8; orientation++) {
    const bool transposed = is_transposed(orientation);
    const int64_t height = transposed ? kWidth : kHeight, width = transposed ? kHeight : kWidth;
    for (int64_t top = 0; top < height; top++) {
      for (int64_t left = 0; left < width; left++) {
        const CropWindow window{top, left, height - top, (width - left + 1) / 2};
        std::vector<uint8_t> out(static_cast<size_t>(window.height * window.width * 3));
        write_pixels(out.data(), DType::uint8, ImageType::kRgb, in, GrayRule::kFloat, orientation,
                     window);
        const CropWindow part = stored_window(orientation, kHeight, kWidth, window);
        for (int64_t y = 0; y < window.height; y++) {
          for (int64_t x = 0; x < window.width; x++) {
            const int64_t from = stored_at(orientation, kHeight, kWidth, top + y, left + x);
            check(std::memcmp(&out[static_cast<size_t>((y * window.width + x) * 3)],
                              &stored[static_cast<size_t>(from * 3)], 3) == 0,
                  "a pixel comes from where EXIF says");
            const int64_t row = from / kWidth, column = from % kWidth;
            check(row >= part.y && row < part.y + part.height && column >= part.x &&
                      column < part.x + part.width,
                  "the stored window holds the pixel");
          }
        }
      }
    }
  }
}

void types_and_colors() {
  constexpr DType kStored[] = {DType::uint8, DType::uint16, DType::float32};
  constexpr DType kResults[] = {DType::uint8,  DType::int8,  DType::uint16, DType::int16,
                                DType::uint32, DType::int32, DType::float32};
  std::mt19937 random(1);
  for (const DType stored : kStored) {
    for (int64_t channels = 1; channels <= 5; channels++) {
      std::vector<uint8_t> bytes(static_cast<size_t>(6 * 4 * channels) * dtype_size(stored));
      // Any bits will do: floating-point numbers are then NaN and infinite, too.
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
      const Pixels in{bytes.data(), stored, 6, 4, channels};
      for (const DType result : kResults) {
        for (int type = 0; type < 5; type++) {
          for (int rule = 0; rule < 5; rule++) {
            const auto image_type = static_cast<ImageType>(type);
            const auto size = static_cast<size_t>(3 * 2 * result_channels(image_type, channels));
            std::vector<uint8_t> out(size * dtype_size(result));
            for (int orientation = 1; orientation <= 8; orientation++) {
              write_pixels(out.data(), result, image_type, in, static_cast<GrayRule>(rule),
                           orientation, {1, 2, 3, 2});
            }
          }
        }
      }
    }
  }
}

void files_that_are_no_images() {
  std::mt19937 random(2);
  constexpr int64_t kCount = 64;
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < kCount; i++) sizes.push_back(i * 3);
  Samples files = Samples::empty(DType::uint8, 1, sizes, "", kCount);
  for (int64_t i = 0; i < kCount; i++) {
    auto* data = files.data<uint8_t>(i);
    for (int64_t k = 0; k < files.volume(i); k++) data[k] = static_cast<uint8_t>(random());
    if (i % 2 && files.volume(i) > 2) std::memcpy(data, "\xff\xd8", 2);
  }
  const std::vector<EncodedImage> headers = read_image_headers(files);
  check(headers[0].kind == EncodedImage::Kind::kOther, "an empty file is no image");
  std::vector<DecodeTask> tasks;
  for (int64_t i = 0; i < kCount; i++) {
    check(headers[static_cast<size_t>(i)].kind != EncodedImage::Kind::kOurs, "noise is no image");
    tasks.push_back(
        {i % 3 != 0, codecs::Format::kNone, static_cast<int>(i % 8) + 1, {0, 0, 1, 1}, 1, 1, 3});
  }
  Samples out =
      Samples::empty(DType::uint16, 3, std::vector<int64_t>(kCount * 3, 3), "HWC", kCount);
  std::vector<std::atomic<int>> handed_on(kCount);
  decode_images(out, files, tasks, ImageType::kRgb, false,
                [&](int64_t i, const DecodeFailure* failure) {
                  handed_on[static_cast<size_t>(i)]++;
                  check((failure != nullptr) == (i % 3 != 0), "others are handed on unseen");
                });
  for (const auto& times : handed_on) check(times == 1, "every file fails, and is handed on once");
}

}  // namespace

int main() {
  windows_of_oriented_images();
  types_and_colors();
  files_that_are_no_images();
  return passed("decode_test");
}
