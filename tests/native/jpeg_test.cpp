// SPDX-License-Identifier: Apache-2.0
// Decodes sequential and progressive JPEGs whose scans are random bits, under codes by which almost
// any bits are a picture, then damaged copies of them. Inputs and outputs live in heap blocks of
// their exact size. Run under a sanitizer.
#include "jpeg/jpeg.h"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "check.h"
#include "core/simd.h"

using namespace daliesque;
using testing::check;
using testing::passed;

namespace {

using Bytes = std::vector<uint8_t>;

constexpr int kImages = 600;
constexpr int kDamagedCopies = 20;

class Random {
 public:
  int below(int limit) { return static_cast<int>(engine_() % static_cast<uint64_t>(limit)); }

 private:
  std::mt19937_64 engine_{1};
};

struct Picture {
  int width;
  int height;
  Bytes factors;  ///< sampling of each component
};

struct Scan {
  Bytes components;
  int first;
  int last;
  int high;
  int low;
};

void append(Bytes& out, int marker, const Bytes& body) {
  const size_t length = body.size() + 2;
  out.insert(out.end(), {0xFF, static_cast<uint8_t>(marker), static_cast<uint8_t>(length >> 8),
                         static_cast<uint8_t>(length)});
  out.insert(out.end(), body.begin(), body.end());
}

/// Complete codes. Coefficients follow each other without zeros between, so that none lies beyond
/// its band, and half of the symbols end the band.
void append_tables(Bytes& out) {
  append(out, 0xC4, {0x00, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3});
  append(out, 0xC4, {0x10, 1, 0, 2, 3, 2,    0,    0,    0,    0,    0,    0,   0,
                     0,    0, 0, 0, 0, 0x01, 0x02, 0x10, 0x01, 0x03, 0x20, 0x04});
  append(out, 0xC4, {0x11, 1, 0, 2, 3, 2,    0,    0,    0,    0,    0,    0,   0,
                     0,    0, 0, 0, 0, 0x01, 0x01, 0x10, 0x01, 0x01, 0x20, 0x01});
  // The longest values are too long for look-up tables.
  append(out, 0xC4, {0x12, 1, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x10, 0x0F, 0x20});
}

void append_scan(Bytes& out, const Picture& picture, const Scan& scan, int restart,
                 Random& random) {
  Bytes body = {static_cast<uint8_t>(scan.components.size())};
  const int table = scan.high != 0 ? 1 : random.below(4) == 0 ? 2 : 0;
  for (const uint8_t component : scan.components) {
    body.insert(body.end(), {component, static_cast<uint8_t>(table)});
  }
  body.insert(body.end(), {static_cast<uint8_t>(scan.first), static_cast<uint8_t>(scan.last),
                           static_cast<uint8_t>(scan.high << 4 | scan.low)});
  append(out, 0xDA, body);
  // Enough for any picture of this size; what is left over is ignored.
  const int blocks = (picture.width + 31) / 8 * ((picture.height + 31) / 8) * 4;
  const int segments = restart != 0 ? blocks / restart + 1 : 1;
  for (int segment = 0; segment < segments; ++segment) {
    if (segment > 0) out.insert(out.end(), {0xFF, static_cast<uint8_t>(0xD0 + (segment - 1) % 8)});
    const int units = restart != 0 ? restart : blocks;
    for (int i = 0; i < units * 40; ++i) out.push_back(static_cast<uint8_t>(random.below(255)));
  }
}

Bytes make_file(const Picture& picture, const std::vector<Scan>& scans, bool progressive,
                int restart, Random& random) {
  Bytes out = {0xFF, 0xD8};
  Bytes quant = {0};
  for (int i = 0; i < 64; ++i) quant.push_back(static_cast<uint8_t>(1 + i));
  append(out, 0xDB, quant);
  Bytes frame = {8,
                 0,
                 static_cast<uint8_t>(picture.height),
                 0,
                 static_cast<uint8_t>(picture.width),
                 static_cast<uint8_t>(picture.factors.size())};
  for (size_t i = 0; i < picture.factors.size(); ++i) {
    frame.insert(frame.end(), {static_cast<uint8_t>(i), picture.factors[i], 0});
  }
  append(out, progressive ? 0xC2 : 0xC0, frame);
  append_tables(out);
  append(out, 0xDD, {0, static_cast<uint8_t>(restart)});
  if (random.below(2) != 0) {
    append(out, 0xEE,
           {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, static_cast<uint8_t>(random.below(3))});
  }
  for (const Scan& scan : scans) append_scan(out, picture, scan, restart, random);
  out.insert(out.end(), {0xFF, 0xD9});
  return out;
}

std::vector<Scan> progressive_scans(size_t components) {
  Bytes all;
  for (size_t i = 0; i < components; ++i) all.push_back(static_cast<uint8_t>(i));
  std::vector<Scan> scans = {{all, 0, 0, 0, 1}};
  for (const uint8_t i : all) {
    scans.insert(scans.end(), {{{i}, 1, 5, 0, 2}, {{i}, 6, 63, 0, 2}, {{i}, 1, 63, 2, 1}});
  }
  scans.push_back({all, 0, 0, 1, 0});
  for (const uint8_t i : all) scans.push_back({{i}, 1, 63, 1, 0});
  return scans;
}

struct Outcome {
  jpeg::Result result;
  std::unique_ptr<uint8_t[]> pixels;
};

int reduced(int extent, const jpeg::DecodeOptions& options) {
  return (extent + options.reduction - 1) / options.reduction;
}

Outcome decode(jpeg::Decoder& decoder, const Bytes& file, const Picture& picture,
               const jpeg::DecodeOptions& options) {
  const auto data = std::make_unique_for_overwrite<uint8_t[]>(file.size());
  std::copy(file.begin(), file.end(), data.get());
  const bool whole = options.region.width == 0;
  const int width = whole ? reduced(picture.width, options) : options.region.width;
  const int height = whole ? reduced(picture.height, options) : options.region.height;
  const ptrdiff_t stride = ptrdiff_t{width} * jpeg::channels(options.format);
  Outcome outcome;
  outcome.pixels = std::make_unique<uint8_t[]>(static_cast<size_t>(stride * height));
  outcome.result = decoder.decode(data.get(), file.size(), options, outcome.pixels.get(), stride);
  (void)jpeg::describe(outcome.result);
  return outcome;
}

jpeg::DecodeOptions random_options(const Picture& picture, Random& random) {
  constexpr jpeg::Format kFormats[] = {jpeg::Format::kRgb, jpeg::Format::kBgr, jpeg::Format::kGray,
                                       jpeg::Format::kYCbCr};
  jpeg::DecodeOptions options;
  options.format = picture.factors.size() == 4 ? jpeg::Format::kCmyk : kFormats[random.below(4)];
  options.fancy_upsampling = random.below(2) != 0;
  options.fast_idct = random.below(3) == 0;
  options.reduction = random.below(2) == 0 ? 1 : 1 << random.below(4);
  return options;
}

/// The vector code, the portable code and the decoding of a region give the same pixels.
bool compare_ways(jpeg::Decoder& decoder, const Bytes& file, const Picture& picture,
                  Random& random) {
  jpeg::DecodeOptions options = random_options(picture, random);
  const Outcome whole = decode(decoder, file, picture, options);
  set_simd_enabled(false);
  const Outcome portable = decode(decoder, file, picture, options);
  set_simd_enabled(true);
  check(whole.result.status == portable.result.status, "both codes agree on what is damage");
  if (!whole.result.ok()) return false;
  const int channels = jpeg::channels(options.format);
  const int width = reduced(picture.width, options), height = reduced(picture.height, options);
  const size_t bytes = static_cast<size_t>(width * height * channels);
  check(std::equal(whole.pixels.get(), whole.pixels.get() + bytes, portable.pixels.get()),
        "both codes give the same pixels");
  jpeg::Region& region = options.region;
  region.x = random.below(width);
  region.y = random.below(height);
  region.width = 1 + random.below(width - region.x);
  region.height = 1 + random.below(height - region.y);
  const Outcome part = decode(decoder, file, picture, options);
  check(part.result.ok(), "a region of a whole image is whole");
  for (int y = 0; y < region.height; ++y) {
    const ptrdiff_t from = (ptrdiff_t{region.y + y} * width + region.x) * channels;
    const ptrdiff_t to = ptrdiff_t{y} * region.width * channels;
    check(std::equal(part.pixels.get() + to,
                     part.pixels.get() + to + ptrdiff_t{region.width} * channels,
                     whole.pixels.get() + from),
          "a region equals that part of the image");
  }
  return true;
}

void decode_damaged_copies(jpeg::Decoder& decoder, const Bytes& file, const Picture& picture,
                           Random& random) {
  for (int copy = 0; copy < kDamagedCopies; ++copy) {
    Bytes broken = file;
    for (int change = random.below(4); change >= 0; --change) {
      const int size = static_cast<int>(broken.size());
      // The size itself stays: the output is made for it.
      const int at = 80 + random.below(random.below(2) != 0 ? 160 : size - 80);
      if (at < size) broken[static_cast<size_t>(at)] = static_cast<uint8_t>(random.below(256));
    }
    if (random.below(4) == 0) {
      broken.resize(static_cast<size_t>(random.below(static_cast<int>(broken.size()))));
    }
    jpeg::ImageInfo info;
    (void)jpeg::parse(broken.data(), broken.size(), &info);
    if (info.width != 0 && (info.width != picture.width || info.height != picture.height)) continue;
    set_simd_enabled(random.below(3) != 0);
    (void)decode(decoder, broken, picture, random_options(picture, random));
  }
  set_simd_enabled(true);
}

}  // namespace

int main() {
  const Bytes kSamplings[] = {{0x11},
                              {0x22},
                              {0x11, 0x11, 0x11},
                              {0x22, 0x11, 0x11},
                              {0x21, 0x11, 0x11},
                              {0x12, 0x11, 0x11},
                              {0x41, 0x11, 0x11},
                              {0x11, 0x11, 0x11, 0x11},
                              {0x22, 0x11, 0x11, 0x22}};
  Random random;
  jpeg::Decoder decoder;
  int decoded[2] = {};
  for (int i = 0; i < kImages; ++i) {
    const bool progressive = i % 3 != 0;
    const Picture picture = {1 + random.below(60), 1 + random.below(60),
                             kSamplings[random.below(static_cast<int>(std::size(kSamplings)))]};
    std::vector<Scan> scans = progressive_scans(picture.factors.size());
    if (!progressive) scans = {{scans[0].components, 0, 63, 0, 0}};
    const Bytes file = make_file(picture, scans, progressive, random.below(3), random);
    decoded[progressive] += compare_ways(decoder, file, picture, random);
    decode_damaged_copies(decoder, file, picture, random);
  }
  check(decoded[0] > kImages / 6 && decoded[1] > kImages / 3, "most of the files are images");
  return passed("jpeg_test");
}
