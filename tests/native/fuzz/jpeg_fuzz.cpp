// SPDX-License-Identifier: Apache-2.0
// Decodes damaged copies of JPEG files. To be built with -fsanitize=address,undefined:
//   jpeg_fuzz DIRECTORY [ITERATIONS [SEED]]
// Every input and output lives in a heap block of its exact size, so that a sanitizer sees any
// access beyond it. Ends with status 1 if a decoder breaks its contract.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/simd.h"
#include "fuzz/damage.h"
#include "jpeg/jpeg.h"

namespace {

using namespace daliesque;
using testing::File;
using testing::Random;

constexpr int64_t kMaxPixels = 1 << 20;
constexpr uint8_t kUntouched = 0xA5;

/// Start of a random marker segment, or 0.
size_t random_segment(const File& file, Random& random) {
  std::vector<size_t> starts;
  for (size_t at = 2; at + 4 <= file.size(); ++at) {
    const uint8_t marker = file[at + 1];
    const bool restart = marker >= 0xD0 && marker <= 0xD7;
    if (file[at] == 0xFF && marker >= 0xC0 && marker != 0xFF && !restart) starts.push_back(at);
  }
  return starts.empty() ? 0 : starts[random.below(starts.size())];
}

void mutate_once(File& file, const std::vector<File>& seeds, Random& random) {
  constexpr uint8_t kInteresting[] = {0,    1,    2,    3,    4,    16,   17,   0x7F,
                                      0x80, 0xC0, 0xC2, 0xC4, 0xD0, 0xD7, 0xD8, 0xD9,
                                      0xDA, 0xDB, 0xDD, 0xE0, 0xFE, 0xFF};
  if (random.below(9) < 7) return testing::damage_anywhere(file, seeds, kInteresting, random);
  // Headers decide most; hit them more often than their share of the bytes.
  const size_t target = random_segment(file, random) + random.below(24);
  if (target < file.size()) file[target] = testing::random_byte(kInteresting, random);
}

std::pair<int, int> reduced_size(const jpeg::ImageInfo& info, int reduction) {
  return {(info.width + reduction - 1) / reduction, (info.height + reduction - 1) / reduction};
}

jpeg::DecodeOptions random_options(const jpeg::ImageInfo& info, Random& random) {
  constexpr jpeg::Format kFormats[] = {jpeg::Format::kRgb, jpeg::Format::kBgr, jpeg::Format::kGray,
                                       jpeg::Format::kYCbCr};
  jpeg::DecodeOptions options;
  options.format = info.components == 4 ? jpeg::Format::kCmyk : kFormats[random.below(4)];
  options.fancy_upsampling = random.chance(2);
  options.fast_idct = random.chance(3);
  options.smooth_inside_region = random.chance(2);
  options.max_pixels = kMaxPixels;
  options.reduction = random.chance(2) ? 1 : 1 << random.below(4);
  const auto [width, height] = reduced_size(info, options.reduction);
  if (random.chance(2)) {
    jpeg::Region& region = options.region;
    region.x = random.between(0, width - 1);
    region.y = random.between(0, height - 1);
    region.width = random.between(1, width - region.x);
    region.height = random.between(1, height - region.y);
  }
  return options;
}

/// False if bytes between the rows changed.
bool decode_one(jpeg::Decoder& decoder, const uint8_t* data, size_t size, Random& random,
                int64_t* decoded) {
  jpeg::ImageInfo info;
  const jpeg::Result parsed = jpeg::parse(data, size, &info);
  (void)jpeg::describe(parsed);
  if (info.width == 0 || int64_t{info.width} * info.height > kMaxPixels) return true;
  const jpeg::DecodeOptions options = random_options(info, random);
  const bool whole = options.region.width == 0;
  const auto [width, height] = reduced_size(info, options.reduction);
  const size_t rows = whole ? height : options.region.height;
  const size_t row_bytes = static_cast<size_t>(whole ? width : options.region.width) *
                           static_cast<size_t>(jpeg::channels(options.format));
  const size_t stride = row_bytes + random.below(4);
  const size_t total = (rows - 1) * stride + row_bytes;
  const auto out = std::make_unique_for_overwrite<uint8_t[]>(total);
  std::memset(out.get(), kUntouched, total);
  const jpeg::Result result =
      decoder.decode(data, size, options, out.get(), static_cast<ptrdiff_t>(stride));
  (void)jpeg::describe(result);
  *decoded += result.ok();
  for (size_t row = 0; row + 1 < rows; ++row) {
    for (size_t i = row_bytes; i < stride; ++i) {
      if (out[row * stride + i] != kUntouched) return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: jpeg_fuzz DIRECTORY [ITERATIONS [SEED]]\n");
    return 2;
  }
  const std::vector<File> seeds = testing::read_seeds(argv[1]);
  const long iterations = argc > 2 ? std::atol(argv[2]) : 10000;
  Random random(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  if (seeds.empty()) {
    std::fprintf(stderr, "jpeg_fuzz: the directory holds no files, or an empty one\n");
    return 2;
  }
  jpeg::Decoder decoder;
  int64_t decoded = 0;
  for (long i = 0; i < iterations; ++i) {
    File file = seeds[random.below(seeds.size())];
    const size_t mutations = random.below(6);
    for (size_t k = 0; k < mutations; ++k) mutate_once(file, seeds, random);
    const auto data = testing::exact_copy(file);
    set_simd_enabled(!random.chance(3));
    if (!decode_one(decoder, data.get(), file.size(), random, &decoded)) {
      std::fprintf(stderr, "jpeg_fuzz: iteration %ld wrote outside its rows\n", i);
      return 1;
    }
  }
  std::printf("jpeg_fuzz: %ld files, %lld of them decoded\n", iterations,
              static_cast<long long>(decoded));
  return 0;
}
