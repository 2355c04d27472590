// SPDX-License-Identifier: Apache-2.0
#include "audio/decibels.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/parallel.h"
#include "core/simd.h"

namespace daliesque::audio {

namespace {

const DecibelLoops& decibel_loops() { return DALIESQUE_CHOOSE(decibel_loops); }

constexpr int64_t kUnit = 256;

int64_t units(const Samples& in, int64_t i) { return (in.volume(i) + kUnit - 1) / kUnit; }

std::vector<float> largest_values(const Samples& in) {
  std::vector<std::atomic<float>> most(static_cast<size_t>(in.size()));
  parallel_slices(
      in.size(), [&](int64_t i) { return units(in, i); }, [](int64_t) { return 0.1 * kUnit; },
      [&](int64_t i, int64_t begin, int64_t end) {
        const int64_t count = std::min(end * kUnit, in.volume(i)) - begin * kUnit;
        const float found = decibel_loops().largest(in.data<const float>(i) + begin * kUnit, count);
        auto& slot = most[static_cast<size_t>(i)];
        float known = slot.load();
        while (found > known && !slot.compare_exchange_weak(known, found)) {
        }
      });
  return {most.begin(), most.end()};
}

}  // namespace

float largest_value(const float* in, int64_t count) { return decibel_loops().largest(in, count); }

void to_decibels(Samples& out, const Samples& in, float multiplier, float reference,
                 float min_ratio) {
  std::vector<float> references(static_cast<size_t>(in.size()), reference);
  if (reference == 0) {
    references = largest_values(in);
    std::ranges::replace(references, 0.0f, 1.0f);
  }
  constexpr float kLog10of2 = static_cast<float>(0.3010299956639812);
  parallel_slices(
      in.size(), [&](int64_t i) { return units(in, i); }, [](int64_t) { return 0.7 * kUnit; },
      [&](int64_t i, int64_t begin, int64_t end) {
        const int64_t count = std::min(end * kUnit, in.volume(i)) - begin * kUnit;
        decibel_loops().convert(
            out.data<float>(i) + begin * kUnit, in.data<const float>(i) + begin * kUnit, count,
            1 / references[static_cast<size_t>(i)], min_ratio, multiplier * kLog10of2);
      });
}

}  // namespace daliesque::audio
