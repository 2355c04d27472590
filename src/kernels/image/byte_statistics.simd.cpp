// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "core/half.h"
#include "image/byte_statistics_loops.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

#if defined(__AVX512VBMI__)
constexpr int kVector = 64;
#elif defined(__AVX2__)
constexpr int kVector = 32;
#else
constexpr int kVector = 16;
#endif

using ByteVector [[gnu::vector_size(kVector)]] = uint8_t;
using WordVector [[gnu::vector_size(kVector)]] = uint16_t;

template <class Vector>
DALIESQUE_INLINE Vector load_vector(const uint8_t* from) {
  Vector values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

/// As many vectors as there are channels begin with the same channel again.
template <int channels>
DALIESQUE_INLINE int64_t find_vector_ranges(uint8_t* low, uint8_t* high, const uint8_t* bytes,
                                            int64_t count) {
  ByteVector lowest[channels], highest[channels];
  for (int k = 0; k < channels; k++) {
    lowest[k] = ~ByteVector{};
    highest[k] = ByteVector{};
  }
  int64_t i = 0;
  for (; i + channels * kVector <= count; i += channels * kVector) {
    for (int k = 0; k < channels; k++) {
      const auto values = load_vector<ByteVector>(bytes + i + k * kVector);
      lowest[k] = values < lowest[k] ? values : lowest[k];
      highest[k] = values > highest[k] ? values : highest[k];
    }
  }
  for (int at = 0; at < channels * kVector; at++) {
    const uint8_t below = lowest[at / kVector][at % kVector];
    const uint8_t above = highest[at / kVector][at % kVector];
    if (below < low[at % channels]) low[at % channels] = below;
    if (above > high[at % channels]) high[at % channels] = above;
  }
  return i;
}

void find_ranges(uint8_t* low, uint8_t* high, const uint8_t* bytes, int64_t pixels,
                 int64_t channels) {
  const int64_t count = pixels * channels;
  int64_t i = 0;
  if (channels == 1) i = find_vector_ranges<1>(low, high, bytes, count);
  if (channels == 3) i = find_vector_ranges<3>(low, high, bytes, count);
  for (int64_t c = 0; i < count; i++, c = c + 1 < channels ? c + 1 : 0) {
    if (bytes[i] < low[c]) low[c] = bytes[i];
    if (bytes[i] > high[c]) high[c] = bytes[i];
  }
}

template <int channels>
DALIESQUE_INLINE int64_t sum_vectors(int64_t* sums, const uint8_t* bytes, int64_t count) {
  constexpr int64_t kStride = channels * kVector;
  int64_t i = 0;
  while (i + kStride <= count) {
    // Sums of even and odd bytes; so many fit into 16 bits.
    WordVector even[channels] = {}, odd[channels] = {};
    const int64_t last = i + 256 * kStride < count ? i + 256 * kStride : count;
    for (; i + kStride <= last; i += kStride) {
      for (int k = 0; k < channels; k++) {
        const auto values = load_vector<WordVector>(bytes + i + k * kVector);
        even[k] += values & 0xff;
        odd[k] += values >> 8;
      }
    }
    for (int at = 0; at < kStride; at += 2) {
      sums[at % channels] += even[at / kVector][at % kVector / 2];
      sums[(at + 1) % channels] += odd[at / kVector][at % kVector / 2];
    }
  }
  return i;
}

void sum_bytes(int64_t* sums, const uint8_t* bytes, int64_t pixels, int64_t channels) {
  const int64_t count = pixels * channels;
  int64_t i = 0;
  if (channels == 1) i = sum_vectors<1>(sums, bytes, count);
  if (channels == 3) i = sum_vectors<3>(sums, bytes, count);
  for (int64_t c = 0; i < count; i++, c = c + 1 < channels ? c + 1 : 0) sums[c] += bytes[i];
}

}  // namespace

const ByteStatisticsLoops byte_statistics_loops = {find_ranges, sum_bytes};

}  // namespace daliesque::image::DALIESQUE_ISA
