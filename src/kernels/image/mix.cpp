// SPDX-License-Identifier: Apache-2.0
#include "image/mix.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/convert.h"
#include "core/parallel.h"
#include "core/simd.h"
#include "image/mix_loops.h"

namespace daliesque::image {

namespace {

constexpr int64_t kMixBlock = 1536;
constexpr double kMixNanosecondsPerValue = 0.4, kMixNanosecondsPerPixel = 1.0;

const MixLoops& mix_loops() { return DALIESQUE_CHOOSE(mix_loops); }

/// Sums of values of any type, in blocks that stay in the cache.
class Mixer {
 public:
  explicit Mixer(DType type)
      : loops_(mix_loops()),
        bytes_(type == DType::uint8),
        load_(convert_loop(DType::float32, type)),
        store_(convert_loop(type, DType::float32)),
        size_(dtype_size(type)) {}

  void run(std::byte* out, const std::vector<const std::byte*>& inputs, const float* weights,
           int64_t count) const {
    if (bytes_ && inputs.size() == 2 && complement(weights)) {
      const auto own = static_cast<int16_t>(std::lrint(weights[0] * (1 << 14)));
      const int16_t both[] = {own, static_cast<int16_t>((1 << 14) - own)};
      const uint8_t* parts[] = {reinterpret_cast<const uint8_t*>(inputs[0]),
                                reinterpret_cast<const uint8_t*>(inputs[1])};
      loops_.blend_two(reinterpret_cast<uint8_t*>(out), parts, count, both);
      return;
    }
    float sums[kMixBlock], loaded[kMixBlock];
    for (int64_t at = 0; at < count; at += kMixBlock) {
      const int64_t length = std::min(kMixBlock, count - at);
      const size_t offset = static_cast<size_t>(at) * size_;
      std::fill(sums, sums + length, 0.0f);
      for (size_t k = 0; k < inputs.size(); k++) {
        if (weights[k] == 0) continue;
        if (bytes_) {
          loops_.add_bytes(sums, reinterpret_cast<const uint8_t*>(inputs[k] + offset), length,
                           weights[k]);
        } else {
          load_(loaded, inputs[k] + offset, length);
          loops_.add(sums, loaded, length, weights[k]);
        }
      }
      if (bytes_) {
        loops_.round_to_bytes(reinterpret_cast<uint8_t*>(out + offset), sums, length);
      } else {
        store_(out + offset, sums, length);
      }
    }
  }

 private:
  /// Two weights between 0 and 1 that add up to 1, as near as floats can say.
  static bool complement(const float* weights) {
    return weights[0] >= 0 && weights[0] <= 1 && std::fabs(weights[0] + weights[1] - 1) < 1e-6f;
  }

  const MixLoops& loops_;
  bool bytes_;
  ConvertLoop load_, store_;
  size_t size_;
};

template <size_t bytes>
void overlay_pixels(std::byte* out, const std::byte* over, const uint8_t* mask, int64_t pixels) {
  for (int64_t k = 0; k < pixels; k++) {
    if (mask[k]) std::memcpy(out + k * bytes, over + k * bytes, bytes);
  }
}

}  // namespace

void mix(Samples& out, const std::vector<const Samples*>& inputs, PerSample<float> weights) {
  const Mixer mixer(out.dtype());
  const size_t size = out.itemsize();
  parallel_slices(
      out.size(), [&](int64_t i) { return (out.volume(i) + kMixBlock - 1) / kMixBlock; },
      [&](int64_t) {
        return kMixBlock * kMixNanosecondsPerValue * static_cast<double>(inputs.size());
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        begin *= kMixBlock;
        end = std::min(end * kMixBlock, out.volume(i));
        const size_t offset = static_cast<size_t>(begin) * size;
        std::vector<const std::byte*> parts;
        for (const Samples* input : inputs)
          parts.push_back(input->data<const std::byte>(i) + offset);
        mixer.run(out.data<std::byte>(i) + offset, parts, weights.row(i), end - begin);
      });
}

void overlay(Samples& out, const Samples& in, const Samples& over, const Samples& mask) {
  const size_t size = in.itemsize();
  parallel_for(
      in.size(),
      [&](int64_t i) { return static_cast<double>(mask.volume(i)) * kMixNanosecondsPerPixel; },
      [&](int64_t i) {
        const int64_t pixels = mask.volume(i);
        if (in.volume(i) == 0) return;
        const size_t bytes = static_cast<size_t>(in.volume(i) / pixels) * size;
        auto* to = out.data<std::byte>(i);
        const auto* from = over.data<const std::byte>(i);
        const auto* shown = mask.data<const uint8_t>(i);
        std::memcpy(to, in.data(i), static_cast<size_t>(in.volume(i)) * size);
        if (bytes == 3) return overlay_pixels<3>(to, from, shown, pixels);
        for (int64_t k = 0; k < pixels; k++) {
          const size_t offset = static_cast<size_t>(k) * bytes;
          if (shown[k]) std::memcpy(to + offset, from + offset, bytes);
        }
      });
}

}  // namespace daliesque::image
