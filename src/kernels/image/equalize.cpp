// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "core/stream.h"
#include "image/histogram.h"
#include "tensor/lookup.h"

namespace daliesque::image {

namespace {

constexpr double kEqualizeNanosecondsPerByte = 1.0;

void equalize_image(uint8_t* out, const uint8_t* in, int64_t pixels, int64_t channels,
                    bool streamed) {
  std::vector<tensor::ByteTable> tables;
  for (const ByteCounts& counts : count_bytes(in, pixels, channels)) {
    tables.push_back(equalizing_table(counts, pixels));
  }
  tensor::look_up_bytes(out, in, pixels, channels, tables.data(), streamed);
  if (streamed) stream_fence();
}

}  // namespace

tensor::ByteTable equalizing_table(const ByteCounts& counts, int64_t pixels) {
  tensor::ByteTable table;
  const auto lowest = static_cast<size_t>(
      std::find_if(counts.begin(), counts.end(), [](int32_t n) { return n > 0; }) - counts.begin());
  if (counts[lowest] == pixels) {
    table.fill(static_cast<uint8_t>(lowest));
    return table;
  }
  const float scale = 255.0f / static_cast<float>(static_cast<int32_t>(pixels) - counts[lowest]);
  int32_t sum = 0;
  std::fill_n(table.begin(), lowest + 1, uint8_t{0});
  for (size_t k = lowest + 1; k < table.size(); k++) {
    sum += counts[k];
    // The nearest integer, halves to even.
    table[k] = static_cast<uint8_t>(std::min(std::lrint(static_cast<float>(sum) * scale), 255L));
  }
  return table;
}

void equalize(Samples& out, const Samples& in, int outer) {
  struct Image {
    uint8_t* out;
    const uint8_t* in;
    int64_t pixels, channels;
  };
  std::vector<Image> images;
  for (int64_t i = 0; i < in.size(); i++) {
    const Shape shape = in.shape(i);
    if (in.volume(i) == 0) continue;
    const auto first = static_cast<size_t>(outer);
    const int64_t pixels = shape[first] * shape[first + 1];
    const int64_t channels = volume(shape.subspan(first + 2));
    for (int64_t at = 0; at < in.volume(i); at += pixels * channels) {
      images.push_back(
          {out.data<uint8_t>(i) + at, in.data<const uint8_t>(i) + at, pixels, channels});
    }
  }
  const bool streamed = exceeds_caches(out, in);
  const auto image = [&](int64_t k) -> const Image& { return images[static_cast<size_t>(k)]; };
  parallel_for(
      static_cast<int64_t>(images.size()),
      [&](int64_t k) {
        return kEqualizeNanosecondsPerByte *
               static_cast<double>(image(k).pixels * image(k).channels);
      },
      [&](int64_t k) {
        equalize_image(image(k).out, image(k).in, image(k).pixels, image(k).channels, streamed);
      });
}

}  // namespace daliesque::image
