// SPDX-License-Identifier: Apache-2.0
// The filters of the mel scale. The reference computes frequencies in single precision; so does
// this, because a frequency on the edge of a filter may otherwise fall on its other side.
#include <cmath>

#include "audio/filter_rows.h"

namespace daliesque::audio {

namespace {

struct MelScale {
  bool htk;

  // Slaney's scale is linear up to 1 kHz and logarithmic above.
  static constexpr float kHzPerMel = static_cast<float>(200.0 / 3.0);
  static constexpr float kBreakHz = 1000;
  static constexpr float kBreakMel = kBreakHz / kHzPerMel;
  static constexpr float kLogStep = 0.068751777f;  // log(6.4) / 27

  float from_hz(float hz) const {
    if (htk) return 1127.0f * std::log(1.0f + hz / 700.0f);
    return hz >= kBreakHz ? kBreakMel + std::log(hz / kBreakHz) / kLogStep : hz / kHzPerMel;
  }

  double to_hz(double value) const {
    const auto mel = static_cast<float>(value);
    if (htk) return 700.0f * (std::exp(mel / 1127.0f) - 1.0f);
    return mel >= kBreakMel ? kBreakHz * std::exp(kLogStep * (mel - kBreakMel)) : mel * kHzPerMel;
  }
};

}  // namespace

FilterBank mel_filters(int64_t bins, const MelArgs& args) {
  const MelScale scale{args.htk};
  const double low = scale.from_hz(args.low), high = scale.from_hz(args.high);
  const double delta = (high - low) / static_cast<double>(args.filters + 1);
  const double step = static_cast<double>(args.sample_rate) / static_cast<double>(2 * (bins - 1));
  const double inverse = 1 / step;
  const auto bin_from = [&](double hz) { return static_cast<int64_t>(std::ceil(hz * inverse)); };
  const int64_t first = bin_from(args.low), last = std::min(bin_from(args.high), bins);

  // Filters rise over one interval between their centers and fall over the next. `falls` holds the
  // falling weights of each bin, `ends` the bin after each interval.
  std::vector<float> falls(static_cast<size_t>(bins)), norms(static_cast<size_t>(args.filters), 1);
  std::vector<int64_t> ends{first};
  double mel = low;
  int64_t bin = first;
  for (int64_t interval = 0; interval <= args.filters; interval++) {
    const double next = interval == args.filters ? high : mel + delta;
    const double begin = scale.to_hz(mel), end = scale.to_hz(next);
    if (args.normalize && interval < args.filters) {
      const double far = scale.to_hz(next + delta);
      norms[static_cast<size_t>(interval)] = static_cast<float>(2.0 / (far - begin));
    }
    const double slope = 1 / (end - begin);
    for (; bin < last && static_cast<double>(bin) * step < end; bin++) {
      const double fall = (end - static_cast<double>(bin) * step) * slope;
      falls[static_cast<size_t>(bin)] = static_cast<float>(fall);
    }
    ends.push_back(bin);
    mel = next;
  }

  FilterBank bank;
  bank.inputs = bins;
  std::vector<float> weights;
  for (size_t m = 0; m < norms.size(); m++) {
    weights.clear();
    for (int64_t k = ends[m]; k < ends[m + 1]; k++) {
      weights.push_back((1.0f - falls[static_cast<size_t>(k)]) * norms[m]);
    }
    for (int64_t k = ends[m + 1]; k < ends[m + 2]; k++) {
      weights.push_back(falls[static_cast<size_t>(k)] * norms[m]);
    }
    bank.add_row(ends[m], weights.data(), static_cast<int64_t>(weights.size()));
  }
  return bank;
}

}  // namespace daliesque::audio
