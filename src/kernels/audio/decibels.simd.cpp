// SPDX-License-Identifier: Apache-2.0
#include "audio/decibels.h"

#include <bit>

#include "audio/lanes.simd.h"

namespace daliesque::audio::DALIESQUE_ISA {

namespace {

/// log2 of a positive number: the exponent, and a series for the fraction in [sqrt(1/2), sqrt(2)).
/// Written without branches, for the compiler to vectorize.
DALIESQUE_INLINE float log2_positive(float value) {
  // Subnormal numbers have no exponent of their own.
  const bool tiny = value < 0x1p-126f;
  const float normal = tiny ? value * 0x1p23f : value;
  const uint32_t bits = std::bit_cast<uint32_t>(normal);
  // Subtracting the bits of sqrt(1/2) carries into the exponent where the fraction exceeds it.
  const uint32_t shifted = bits - 0x3f3504f3u;
  const int32_t exponent = static_cast<int32_t>(shifted) >> 23;
  const float fraction = std::bit_cast<float>((shifted & 0x007fffffu) + 0x3f3504f3u);
  // log(1 + x) = 2 artanh(x / (2 + x)), whose series has odd powers only.
  const float x = fraction - 1.0f;
  const float s = x / (2.0f + x);
  const float square = s * s;
  float series = 0.22222222f;
  series = series * square + 0.28571429f;
  series = series * square + 0.4f;
  series = series * square + 0.66666667f;
  const float tail = s * square * series;
  // 2 s = x - s x exactly in real numbers; adding x last keeps results near 0 precise.
  const float natural = x - s * x + tail;
  constexpr float kLog2e = 1.44269504088896340736f;
  const float base = static_cast<float>(exponent) - (tiny ? 23.0f : 0.0f);
  const float result = base + natural * kLog2e;
  return value < __builtin_inff() ? result : value;
}

void convert(float* __restrict out, const float* __restrict in, int64_t count, float scale,
             float least, float multiplier) {
  for (int64_t i = 0; i < count; i++) {
    const float ratio = in[i] * scale;
    out[i] = multiplier * log2_positive(ratio > least ? ratio : least);
  }
}

float largest(const float* in, int64_t count) {
  using W = Wide<kWidest>;
  constexpr int kVectors = 4;
  typename W::Type most[kVectors] = {};
  int64_t i = 0;
  for (; i + kVectors * W::lanes <= count; i += kVectors * W::lanes) {
    for (int v = 0; v < kVectors; v++) {
      const typename W::Type value = W::load(in + i + v * W::lanes);
      most[v] = value > most[v] ? value : most[v];
    }
  }
  float result = 0;
  for (int v = 0; v < kVectors; v++) {
    for (int k = 0; k < W::lanes; k++) result = most[v][k] > result ? most[v][k] : result;
  }
  for (; i < count; i++) result = in[i] > result ? in[i] : result;
  return result;
}

}  // namespace

const DecibelLoops decibel_loops = {convert, largest};

}  // namespace daliesque::audio::DALIESQUE_ISA
