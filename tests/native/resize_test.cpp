// SPDX-License-Identifier: Apache-2.0
// Resizes images of random sizes, types, regions and filters in exactly sized buffers with padded
// rows: pieces must make up the whole, padding must stay, and the portable and the vector code must
// agree. Meant to be run under sanitizers.
#include "resize/resize.h"

#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "core/simd.h"

namespace {

using namespace daliesque;
using namespace daliesque::resize;
using testing::check;
using testing::passed;

constexpr DType kTypes[] = {DType::uint8, DType::uint16, DType::int16, DType::float32};
constexpr std::byte kUntouched{0xA5};

void check_axes(bool good, const char* what, const AxisRequest& rows, const AxisRequest& columns) {
  check(good, what, rows.in_size, 'x', columns.in_size, "to", rows.out_size, 'x', columns.out_size);
}

/// Rows with `padding` bytes between, but none behind the last: whoever reads on is caught.
struct Image {
  Image(int64_t height, int64_t row_bytes, int64_t padding)
      : stride(row_bytes + padding), size(static_cast<size_t>((height - 1) * stride + row_bytes)) {
    data.reset(new std::byte[size]);
    std::memset(data.get(), static_cast<int>(kUntouched), size);
  }
  int64_t stride;
  size_t size;
  std::unique_ptr<std::byte[]> data;
};

class Trial {
 public:
  explicit Trial(unsigned seed) : rng_(seed) {
    in_type_ = kTypes[pick(0, 3)];
    out_type_ = pick(0, 2) ? in_type_ : DType::float32;
    channels_ = pick(0, 3) ? pick(1, 4) : pick(5, 20);
    rows_ = axis();
    columns_ = axis();
    columns_.min_filter = rows_.min_filter;
  }

  void run() {
    const auto in_row = columns_.in_size * channels_ * static_cast<int64_t>(dtype_size(in_type_));
    Image in(rows_.in_size, in_row, 4 * pick(0, 3));
    for (size_t i = 0; i < in.size; i++) in.data[i] = static_cast<std::byte>(pick(0, 255));
    if (in_type_ == DType::float32) fill_floats(in);
    const Image whole = resize(in, rows_.out_size);
    check_padding(whole);
    const Image pieces = resize(in, pick(1, 9));
    check_axes(same(whole, pieces), "pieces differ from the whole", rows_, columns_);
    set_simd_enabled(false);
    const Image plain = resize(in, rows_.out_size);
    set_simd_enabled(true);
    check_axes(same(whole, plain), "portable and vector code differ", rows_, columns_);
  }

  /// Several threads make parts of one image with one resizer.
  void run_threads() {
    const auto in_row = columns_.in_size * channels_ * static_cast<int64_t>(dtype_size(in_type_));
    Image in(rows_.in_size, in_row, 0);
    std::memset(in.data.get(), 0x3C, in.size);
    const ImageResizer resizer(rows_, columns_, channels_, in_type_, out_type_);
    Image out(rows_.out_size, out_row(), 0);
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < 3; t++) {
      threads.emplace_back([&, t] {
        resizer.run({out.data.get(), out.stride}, {in.data.get(), in.stride},
                    rows_.out_size * t / 3, rows_.out_size * (t + 1) / 3);
      });
    }
    for (auto& thread : threads) thread.join();
    check_axes(same(out, resize(in, rows_.out_size)), "threads differ", rows_, columns_);
  }

 private:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng_);
  }
  float real(double low, double high) {
    return static_cast<float>(std::uniform_real_distribution<double>(low, high)(rng_));
  }

  AxisRequest axis() {
    AxisRequest axis;
    axis.in_size = pick(0, 5) ? pick(1, 90) : pick(1, 2);
    axis.out_size = pick(0, 5) ? pick(1, 140) : pick(1, 2);
    axis.start = 0;
    axis.end = static_cast<float>(axis.in_size);
    if (pick(0, 1)) {
      axis.start = real(-0.5, 1.5) * axis.end;
      axis.end = axis.start + real(-1.5, 1.5) * axis.end + 0.01f;
    }
    axis.min_filter = static_cast<Interp>(pick(0, 5));
    axis.mag_filter = static_cast<Interp>(pick(0, 5));
    axis.antialias = pick(0, 2) > 0;
    return axis;
  }

  void fill_floats(Image& image) {
    for (size_t i = 0; i + 4 <= image.size; i += 4) {
      const float value = real(-100, 100);
      std::memcpy(image.data.get() + i, &value, 4);
    }
  }

  int64_t out_row() const {
    return columns_.out_size * channels_ * static_cast<int64_t>(dtype_size(out_type_));
  }

  Image resize(const Image& in, int64_t step) {
    Image out(rows_.out_size, out_row(), 12);
    const ImageResizer resizer(rows_, columns_, channels_, in_type_, out_type_);
    for (int64_t y = 0; y < rows_.out_size; y += step) {
      resizer.run({out.data.get(), out.stride}, {in.data.get(), in.stride}, y,
                  std::min(y + step, rows_.out_size));
    }
    return out;
  }

  bool same(const Image& a, const Image& b) const {
    for (int64_t y = 0; y < rows_.out_size; y++) {
      if (std::memcmp(a.data.get() + y * a.stride, b.data.get() + y * b.stride,
                      static_cast<size_t>(out_row())) != 0) {
        return false;
      }
    }
    return true;
  }

  void check_padding(const Image& image) {
    bool kept = true;
    for (int64_t y = 0; y + 1 < rows_.out_size; y++) {
      for (int64_t i = out_row(); i < image.stride; i++) {
        kept &= image.data[static_cast<size_t>(y * image.stride + i)] == kUntouched;
      }
    }
    check_axes(kept, "written between rows", rows_, columns_);
  }

  std::mt19937 rng_;
  DType in_type_, out_type_;
  int64_t channels_;
  AxisRequest rows_, columns_;
};

}  // namespace

int main() {
  for (unsigned seed = 0; seed < 1500; seed++) Trial(seed).run();
  for (unsigned seed = 0; seed < 20; seed++) Trial(seed).run_threads();
  return passed("resize_test");
}
