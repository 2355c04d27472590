// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "audio/decibels.h"
#include "audio/fft_loops.h"
#include "audio/mean_square_loops.h"
#include "audio/signal.h"
#include "core/parallel.h"
#include "core/simd.h"

namespace daliesque::audio {

namespace {

using RegionTypes =
    Types<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, float>;

/// Squares of 16-bit integers are summed up exactly, those of other types in single precision.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T> && sizeof(T) <= 2, int64_t, float>;

template <class T>
Sum<T> square(T value) {
  const auto wide = static_cast<Sum<T>>(value);
  return wide * wide;
}

/// The mean squares of windows ending at each position of [begin, end).
template <class T>
void mean_squares(float* out, const T* in, int64_t begin, int64_t end, int64_t window) {
  const float factor = 1.0f / static_cast<float>(window);
  Sum<T> sum = 0;
  for (int64_t t = std::max<int64_t>(begin - window + 1, 0); t < begin; t++) sum += square(in[t]);
  for (int64_t t = begin; t < end; t++) {
    sum += square(in[t]);
    out[t] = static_cast<float>(sum) * factor;
    if (t >= window - 1) sum -= square(in[t - window + 1]);
  }
}

const MeanSquareLoops& mean_square_loops() { return DALIESQUE_CHOOSE(mean_square_loops); }

/// The same for several intervals of a signal side by side. The sums of each begin at 0.
class SideBySide {
 public:
  SideBySide(float* out, const float* in, int64_t total, int64_t interval, int64_t window)
      : out_(out), in_(in), total_(total), interval_(interval), window_(window) {}

  /// Intervals [first, last), at most kChains of them.
  void run(int64_t first, int64_t last) {
    float sums[kChains] = {};
    for (int64_t c = 0; c < last - first; c++) {
      const int64_t start = (first + c) * interval_;
      for (int64_t t = std::max<int64_t>(start - window_ + 1, 0); t < start; t++) {
        sums[c] += in_[t] * in_[t];
      }
    }
    const float factor = 1.0f / static_cast<float>(window_);
    for (int64_t done = 0; done < interval_; done += kSteps) {
      const int64_t steps = std::min(kSteps, interval_ - done);
      for (int64_t c = 0; c < kChains; c++) {
        const int64_t begin = (first + c) * interval_ + done;
        const bool used = c < last - first && begin < total_;
        sources_[c] = used ? find(entering_rows_[c], begin, steps) : nothing_;
        gone_[c] = used ? find(leaving_rows_[c], begin - window_ + 1, steps) : nothing_;
        const bool whole = used && begin + steps <= total_;
        targets_[c] = whole ? out_ + begin : results_[c];
      }
      const FftLoops& loops = fft_loops();
      loops.interleave(entering_, nullptr, sources_, nullptr, steps);
      loops.interleave(leaving_, nullptr, gone_, nullptr, steps);
      mean_square_loops().advance(means_, sums, entering_, leaving_, steps, factor);
      loops.separate(targets_, means_, steps, kChains);
      for (int64_t c = 0; c < last - first; c++) {
        const int64_t begin = (first + c) * interval_ + done;
        if (targets_[c] == results_[c] && begin < total_) {
          std::copy_n(results_[c], total_ - begin, out_ + begin);
        }
      }
    }
  }

  static constexpr int64_t kChains = kMeanSquareChains;

 private:
  static constexpr int64_t kSteps = 128;

  /// Values [begin, begin + steps) of the signal, with zeros around it.
  const float* find(float* copy, int64_t begin, int64_t steps) const {
    if (begin >= 0 && begin + steps <= total_) return in_ + begin;
    for (int64_t j = 0; j < steps; j++) {
      copy[j] = begin + j >= 0 && begin + j < total_ ? in_[begin + j] : 0;
    }
    return copy;
  }

  float* out_;
  const float* in_;
  int64_t total_, interval_, window_;
  float entering_[kSteps * kChains], leaving_[kSteps * kChains], means_[kSteps * kChains];
  float entering_rows_[kChains][kSteps], leaving_rows_[kChains][kSteps], results_[kChains][kSteps];
  float nothing_[kSteps] = {};
  const float *sources_[kChains], *gone_[kChains];
  float* targets_[kChains];
};

/// The mean squares of intervals [first, last) of one sample.
template <class T>
void run_intervals(float* out, const T* in, int64_t total, int64_t interval, int64_t window,
                   int64_t first, int64_t last) {
  if constexpr (std::is_same_v<T, float>) {
    if (last - first > 1) {
      SideBySide chains(out, in, total, interval, window);
      for (; first < last; first += SideBySide::kChains) {
        chains.run(first, std::min(first + SideBySide::kChains, last));
      }
      return;
    }
  }
  for (; first < last; first++) {
    mean_squares(out, in, first * interval, std::min((first + 1) * interval, total), window);
  }
}

struct Region {
  int64_t begin, length;
};

Region find_region(const float* power, int64_t count, float cutoff, int64_t window) {
  int64_t begin = 0, end = count;
  while (begin < count && !(power[begin] >= cutoff)) begin++;
  if (begin == count) return {0, 0};
  while (!(power[end - 1] >= cutoff)) end--;
  // It is not known where under the window the signal is loud.
  begin = std::max<int64_t>(begin - window + 1, 0);
  return {begin, end - begin};
}

}  // namespace

void nonsilent_region(Samples& begin, Samples& length, const Samples& in,
                      const NonsilentArgs& args) {
  const Samples power = Samples::empty_like(in, DType::float32);
  const bool exact = in.itemsize() <= 2;
  const auto window = [&](int64_t i) { return std::min(args.window_length, in.volume(i)); };
  const auto interval = [&](int64_t i) {
    // Exact sums may begin anywhere.
    if (exact) return std::max<int64_t>(window(i), 4096);
    const bool resets = in.dtype() == DType::float32 && args.reset_interval > 0;
    return resets ? args.reset_interval : std::max<int64_t>(in.volume(i), 1);
  };
  dispatch(RegionTypes{}, in.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_slices(
        in.size(), [&](int64_t i) { return (in.volume(i) + interval(i) - 1) / interval(i); },
        [&](int64_t i) { return 1.5 * static_cast<double>(interval(i)); },
        [&](int64_t i, int64_t first, int64_t last) {
          run_intervals(power.data<float>(i), in.data<const T>(i), in.volume(i), interval(i),
                        window(i), first, last);
        });
  });
  parallel_for(
      in.size(), [&](int64_t i) { return 0.5 * static_cast<double>(in.volume(i)); },
      [&](int64_t i) {
        const auto* values = power.data<const float>(i);
        const int64_t count = in.volume(i);
        float reference = args.reference_power;
        if (reference == 0 && count > 0) {
          // A signal that begins with NaN has no largest power; later ones are ignored.
          reference = values[0] == values[0] ? largest_value(values, count) : values[0];
        }
        const float cutoff = reference * std::pow(10.0f, args.cutoff_db * (1.0f / 10.0f));
        const Region found = find_region(values, count, cutoff, window(i));
        *begin.data<int32_t>(i) = static_cast<int32_t>(found.begin);
        *length.data<int32_t>(i) = static_cast<int32_t>(found.length);
      });
}

}  // namespace daliesque::audio
