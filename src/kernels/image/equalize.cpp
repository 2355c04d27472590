// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <vector>

#include "core/parallel.h"
#include "core/stream.h"
#include "image/histogram.h"
#include "tensor/lookup.h"

namespace daliesque::image {

namespace {

constexpr double kEqualizeNanosecondsPerByte = 1.0;

using Counts = std::array<int32_t, 256>;

/// How often each byte occurs, channel by channel. Two sets of counters alternate: incrementing
/// what was just incremented would have to wait.
template <int channels>
void count_bytes(Counts* counts, const uint8_t* bytes, int64_t pixels) {
  Counts even[channels] = {}, odd[channels] = {};
  int64_t i = 0;
  for (; i + 2 <= pixels; i += 2, bytes += 2 * channels) {
    for (int c = 0; c < channels; c++) {
      even[c][bytes[c]]++;
      odd[c][bytes[channels + c]]++;
    }
  }
  for (int c = 0; i < pixels && c < channels; c++) even[c][bytes[c]]++;
  for (int c = 0; c < channels; c++) {
    for (size_t k = 0; k < 256; k++) counts[c][k] = even[c][k] + odd[c][k];
  }
}

std::vector<Counts> count_channels(const uint8_t* bytes, int64_t pixels, int64_t channels) {
  std::vector<Counts> counts(static_cast<size_t>(channels));
  if (channels == 1) {
    count_bytes<1>(counts.data(), bytes, pixels);
  } else if (channels == 3) {
    count_bytes<3>(counts.data(), bytes, pixels);
  } else {
    for (int64_t i = 0; i < pixels * channels; i++) {
      counts[static_cast<size_t>(i % channels)][bytes[i]]++;
    }
  }
  return counts;
}

/// Maps the lowest value to 0 and the highest to 255, others by how many are below.
void make_table(uint8_t (&table)[256], const Counts& counts, int64_t pixels) {
  const auto lowest = static_cast<size_t>(
      std::find_if(counts.begin(), counts.end(), [](int32_t n) { return n > 0; }) - counts.begin());
  if (counts[lowest] == pixels) {
    std::fill(std::begin(table), std::end(table), static_cast<uint8_t>(lowest));
    return;
  }
  const float scale = 255.0f / static_cast<float>(static_cast<int32_t>(pixels) - counts[lowest]);
  int32_t sum = 0;
  std::fill(table, table + lowest + 1, uint8_t{0});
  for (size_t k = lowest + 1; k < std::size(table); k++) {
    sum += counts[k];
    // The nearest integer, halves to even.
    table[k] = static_cast<uint8_t>(std::min(std::lrint(static_cast<float>(sum) * scale), 255L));
  }
}

void equalize_image(uint8_t* out, const uint8_t* in, int64_t pixels, int64_t channels,
                    bool streamed) {
  const std::vector<Counts> counts = count_channels(in, pixels, channels);
  const auto tables = std::make_unique<uint8_t[][256]>(counts.size());
  for (size_t c = 0; c < counts.size(); c++) make_table(tables[c], counts[c], pixels);
  tensor::look_up_bytes(out, in, pixels, channels, tables.get(), streamed);
  if (streamed) stream_fence();
}

}  // namespace

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
