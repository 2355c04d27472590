// SPDX-License-Identifier: Apache-2.0
#include "image/random_crop.h"

#include <algorithm>
#include <cmath>

#include "random/std_random.h"

namespace daliesque::image {

namespace {

// The constant of the reference; any would do to keep the two streams apart.
constexpr uint64_t kKeyChange = 0x12345678abcdefe;

struct Size {
  int64_t height, width;
};

/// A whole number of pixels. More than images have is as good as any such number.
int64_t at_least_one(float extent) {
  return std::max<int64_t>(1, static_cast<int64_t>(std::min(extent, 0x1p31f)));
}

/// The largest window with a legal aspect ratio, shrunk to the largest legal area.
Size largest_size(Size image, Size limit, const RandomCropArgs& args) {
  const float ratio = static_cast<float>(image.width) / static_cast<float>(image.height);
  Size size = image;
  if (ratio > args.max_aspect) {
    size.width = limit.width;
  } else if (ratio < args.min_aspect) {
    size.height = limit.height;
  }
  const float max_area =
      args.max_area * static_cast<float>(image.width) * static_cast<float>(image.height);
  const float scale = std::min(1.0f, max_area / static_cast<float>(size.height * size.width));
  return {at_least_one(static_cast<float>(size.height) * std::sqrt(scale)),
          at_least_one(static_cast<float>(size.width) * std::sqrt(scale))};
}

/// Every product is rounded to float, in the reference's order: a window depends on each of them.
Size draw_size(random::Philox& generator, Size image, const RandomCropArgs& args) {
  const auto height = static_cast<float>(image.height), width = static_cast<float>(image.width);
  const auto area = static_cast<float>(image.height * image.width);
  const Size limit = {at_least_one(width * (1 / args.min_aspect)),
                      at_least_one(height * args.max_aspect)};
  const float min_area = area * args.min_area;
  if (static_cast<float>(image.height * limit.width) < min_area) {
    return {image.height, limit.width};
  }
  if (static_cast<float>(image.width * limit.height) < min_area) {
    return {limit.height, image.width};
  }
  const float low = std::log(args.min_aspect), high = std::log(args.max_aspect);
  for (int attempt = 0; attempt < args.attempts; attempt++) {
    const float target = random::uniform_real(generator, args.min_area, args.max_area) * area;
    const float wanted = std::exp(random::uniform_real(generator, low, high));
    const int64_t w = std::max<int64_t>(1, std::lround(std::sqrt(target * wanted)));
    const int64_t h = std::max<int64_t>(1, std::lround(std::sqrt(target / wanted)));
    const float ratio = static_cast<float>(w) / static_cast<float>(h);
    if (w <= image.width && h <= image.height && ratio >= args.min_aspect &&
        ratio <= args.max_aspect) {
      return {h, w};
    }
  }
  return largest_size(image, limit, args);
}

}  // namespace

random::PhiloxState random_crop_state(const random::PhiloxState& state, int64_t index) {
  random::PhiloxState out = random::sample_state(state, index);
  out.key ^= kKeyChange;
  return out;
}

CropWindow random_crop(random::Philox& generator, int64_t height, int64_t width,
                       const RandomCropArgs& args) {
  Size size = draw_size(generator, {height, width}, args);
  // Areas above 1 are legal arguments.
  size = {std::min(size.height, height), std::min(size.width, width)};
  const auto y = random::uniform_int<int64_t>(generator, 0, height - size.height);
  const auto x = random::uniform_int<int64_t>(generator, 0, width - size.width);
  return {y, x, size.height, size.width};
}

}  // namespace daliesque::image
