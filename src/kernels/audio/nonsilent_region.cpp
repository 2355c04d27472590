// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "parallel.h"
#include "signal.h"

namespace daliesque {

namespace {

using SignalTypes =
    Types<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, float>;

/// Squares of 16-bit integers are summed up exactly, those of other types in single precision.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T> && sizeof(T) <= 2, int64_t, float>;

template <class T>
Sum<T> square(T value) {
  const auto wide = static_cast<Sum<T>>(value);
  return wide * wide;
}

// Sums that run through the signal at the same time: each alone would wait for its last addition.
constexpr int kChains = 8;

/// The mean squares of windows ending at each position of [begin, end); the sums of `kChains` equal
/// parts of that range run side by side. Each part is a whole number of intervals.
template <class T>
void mean_squares(float* out, const T* in, int64_t begin, int64_t interval, int64_t window) {
  const float factor = 1.0f / static_cast<float>(window);
  Sum<T> sums[kChains] = {};
  for (int c = 0; c < kChains; c++) {
    const int64_t start = begin + c * interval;
    for (int64_t t = std::max<int64_t>(start - window + 1, 0); t < start; t++) {
      sums[c] += square(in[t]);
    }
  }
  const auto leaving = [&](int64_t t) { return t >= window - 1; };
  for (int64_t t = begin; t < begin + interval; t++) {
    for (int c = 0; c < kChains; c++) {
      const int64_t at = t + c * interval;
      sums[c] += square(in[at]);
      out[at] = static_cast<float>(sums[c]) * factor;
      if (leaving(at)) sums[c] -= square(in[at - window + 1]);
    }
  }
}

/// The same for one interval.
template <class T>
void mean_squares_of(float* out, const T* in, int64_t begin, int64_t end, int64_t window) {
  const float factor = 1.0f / static_cast<float>(window);
  Sum<T> sum = 0;
  for (int64_t t = std::max<int64_t>(begin - window + 1, 0); t < begin; t++) sum += square(in[t]);
  for (int64_t t = begin; t < end; t++) {
    sum += square(in[t]);
    out[t] = static_cast<float>(sum) * factor;
    if (t >= window - 1) sum -= square(in[t - window + 1]);
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
  // It is not known where under the window the sound is.
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
  dispatch(SignalTypes{}, in.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_slices(
        in.size(), [&](int64_t i) { return (in.volume(i) + interval(i) - 1) / interval(i); },
        [&](int64_t i) { return 1.5 * static_cast<double>(interval(i)); },
        [&](int64_t i, int64_t first, int64_t last) {
          const int64_t step = interval(i), total = in.volume(i);
          int64_t t = first * step;
          const int64_t end = std::min(last * step, total);
          for (; t + kChains * step <= end; t += kChains * step) {
            mean_squares(power.data<float>(i), in.data<const T>(i), t, step, window(i));
          }
          for (; t < end; t += step) {
            mean_squares_of(power.data<float>(i), in.data<const T>(i), t, std::min(t + step, end),
                            window(i));
          }
        });
  });
  parallel_for(
      in.size(), [&](int64_t i) { return 0.5 * static_cast<double>(in.volume(i)); },
      [&](int64_t i) {
        const auto* values = power.data<const float>(i);
        const int64_t count = in.volume(i);
        float reference = args.reference_power;
        if (reference == 0 && count > 0) {
          reference = values[0];
          for (int64_t t = 1; t < count; t++) reference = std::max(reference, values[t]);
        }
        const float cutoff = reference * std::pow(10.0f, args.cutoff_db * (1.0f / 10.0f));
        const Region found = find_region(values, count, cutoff, window(i));
        *begin.data<int32_t>(i) = static_cast<int32_t>(found.begin);
        *length.data<int32_t>(i) = static_cast<int32_t>(found.length);
      });
}

}  // namespace daliesque
