// SPDX-License-Identifier: Apache-2.0
#include "audio/spectrogram.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "audio/fft.h"
#include "core/border.h"
#include "core/parallel.h"
#include "core/scratch.h"

namespace daliesque::audio {

namespace {

/// Floats in a line of the cache.
constexpr int64_t kLine = 16;

/// Nanoseconds for the spectra of kFftLanes signals.
double transform_cost(int64_t length) {
  const auto n = static_cast<double>(length);
  return 0.6 * n * (std::log2(n) + 2);
}

/// Spectra of neighboring windows of one signal.
class WindowSpectra {
 public:
  WindowSpectra(const SpectrogramArgs& args, const RealFft& fft, const float* signal,
                int64_t length)
      : args_(args), fft_(fft), signal_(signal), length_(length) {
    work_.require(fft.work_size(kFftLanes));
    padded_.require(args.window_length * kFftLanes);
    rows_.require(fft.bins() * kFftLanes);
  }

  /// Windows [first, first + count) of `total`, at most kFftLanes.
  void run(float* out, int64_t first, int64_t count, int64_t total) {
    const float* windows[kFftLanes];
    for (int64_t lane = 0; lane < kFftLanes; lane++) {
      // Lanes without a window of their own repeat one; their results are not used.
      windows[lane] = lane < count ? find(first + lane, lane) : windows[0];
    }
    const int64_t bins = fft_.bins();
    if (!args_.time_major && count == kFftLanes) {
      transform(out + first, total, windows, {out + first + kFftLanes - 1, total, bins}, first);
      return;
    }
    float* rows = rows_.data();
    if (args_.time_major) {
      float* targets[kFftLanes];
      for (int64_t lane = 0; lane < count; lane++) targets[lane] = out + (first + lane) * bins;
      transform(rows, kFftLanes, windows, {targets[0], kLine, count * bins / kLine}, first);
      fft_loops().separate(targets, rows, bins, count);
    } else {
      transform(rows, kFftLanes, windows, {}, first);
      for (int64_t k = 0; k < bins; k++) {
        std::copy_n(rows + k * kFftLanes, count, out + k * total + first);
      }
    }
  }

 private:
  /// Writes the spectra of windows from number `first` on; `results` is where these will go.
  void transform(float* out, int64_t out_stride, const float* const* windows,
                 const FrameAhead& results, int64_t first) {
    if (const FrameFft* frames = fft_.frames()) {
      frames->power(out, out_stride, work_.data(), {windows, args_.window, args_.window_length},
                    {signal_after(first + kFftLanes), results}, args_.magnitude);
    } else {
      fft_.load_rows(work_.data(), windows, args_.window, args_.window_length);
      fft_.power(out, out_stride, work_.data(), kFftLanes, args_.magnitude);
    }
  }

  /// Where window `number` begins in the signal, or in what surrounds it.
  int64_t begin_of(int64_t number) const {
    const int64_t begin = number * args_.window_step;
    return args_.padding == SignalPadding::none ? begin : begin - args_.window_length / 2;
  }

  /// The part of the signal that kFftLanes windows from `number` on cover, and none before them.
  FrameAhead signal_after(int64_t number) const {
    const int64_t begin = begin_of(number - 1) + args_.window_length;
    const int64_t end = std::min(length_, begin + kFftLanes * args_.window_step);
    if (args_.window_step > args_.window_length || begin < 0 || begin >= end) return {};
    return {signal_ + begin, kLine, (end - begin) / kLine};
  }

  /// The numbers under a window: in the signal itself, or where that ends, in a copy.
  const float* find(int64_t number, int64_t lane) {
    const int64_t begin = begin_of(number);
    if (begin >= 0 && begin + args_.window_length <= length_) return signal_ + begin;
    float* copy = padded_.data() + lane * args_.window_length;
    const Border border =
        args_.padding == SignalPadding::reflect ? Border::reflect_101 : Border::constant;
    for (int64_t j = 0; j < args_.window_length; j++) {
      const int64_t index = border_index(begin + j, length_, border);
      copy[j] = index == kOutside ? 0 : signal_[index];
    }
    return copy;
  }

  const SpectrogramArgs& args_;
  const RealFft& fft_;
  const float* signal_;
  int64_t length_;
  Scratch<float> work_, padded_, rows_;
};

/// The axes of a sample around the one that is transformed.
struct AxisView {
  int64_t outer = 1, extent, inner = 1;

  AxisView(Shape shape, int axis) : extent(shape[static_cast<size_t>(axis)]) {
    for (int k = 0; k < axis; k++) outer *= shape[static_cast<size_t>(k)];
    for (size_t k = static_cast<size_t>(axis) + 1; k < shape.size(); k++) inner *= shape[k];
  }
};

// Longer signals are transformed one by one, because several would not fit into the cache.
constexpr int64_t kLongestTogether = 8192;

/// Spectra along an axis of one sample, some signals at a time.
class AxisSpectra {
 public:
  AxisSpectra(const RealFft& fft, const AxisView& view, bool magnitude)
      : fft_(fft), view_(view), magnitude_(magnitude) {
    work_.require(fft.work_size(kFftLanes));
    rows_.require(fft.bins() * kFftLanes);
  }

  /// Signals that are transformed in one go.
  static int64_t together(const RealFft& fft) {
    return fft.length() > kLongestTogether ? 1 : kFftLanes;
  }

  /// Signals [first, last), counted along the outer and then the inner axes.
  void run(float* out, const float* in, int64_t first, int64_t last) {
    const int64_t most = together(fft_);
    while (first < last) {
      const int64_t column = first % view_.inner;
      const int64_t here =
          view_.inner == 1 ? last - first : std::min(last - first, view_.inner - column);
      const int64_t count = std::min(most, here);
      if (view_.inner == 1 && fft_.frames()) {
        run_frames(out, in, first, count);
        first += count;
      } else if (count < 3) {
        // A few signals cost as much as a full set.
        run_one(out, in, first);
        first++;
      } else {
        view_.inner == 1 ? run_rows(out, in, first, count) : run_columns(out, in, first, count);
        first += count;
      }
    }
  }

 private:
  void run_one(float* out, const float* in, int64_t signal) {
    const int64_t block = signal / view_.inner, column = signal % view_.inner;
    fft_.load_columns(work_.data(), 1, in + block * view_.extent * view_.inner + column,
                      view_.inner, view_.extent, 1);
    fft_.power(out + block * fft_.bins() * view_.inner + column, view_.inner, work_.data(), 1,
               magnitude_);
  }

  struct Rows {
    const float* from[kFftLanes];
    float* to[kFftLanes];
  };

  Rows rows_of(float* out, const float* in, int64_t first, int64_t count) const {
    Rows rows;
    for (int64_t lane = 0; lane < kFftLanes; lane++) {
      const int64_t signal = first + std::min(lane, count - 1);
      rows.from[lane] = in + signal * view_.extent;
      rows.to[lane] = out + signal * fft_.bins();
    }
    return rows;
  }

  void run_frames(float* out, const float* in, int64_t first, int64_t count) {
    const Rows rows = rows_of(out, in, first, count);
    const int64_t left = view_.outer - first - count;
    const FrameAhead next{rows.from[count - 1] + view_.extent, kLine,
                          std::min(left, kFftLanes) * view_.extent / kLine};
    const FrameAhead results{rows.to[0], kLine, count * fft_.bins() / kLine};
    fft_.frames()->power(rows_.data(), kFftLanes, work_.data(), {rows.from, nullptr, view_.extent},
                         {next, results}, magnitude_);
    fft_loops().separate(rows.to, rows_.data(), fft_.bins(), count);
  }

  void run_rows(float* out, const float* in, int64_t first, int64_t count) {
    const Rows rows = rows_of(out, in, first, count);
    fft_.load_rows(work_.data(), rows.from, nullptr, view_.extent);
    fft_.power(rows_.data(), kFftLanes, work_.data(), kFftLanes, magnitude_);
    fft_loops().separate(rows.to, rows_.data(), fft_.bins(), count);
  }

  void run_columns(float* out, const float* in, int64_t first, int64_t count) {
    const int64_t block = first / view_.inner, column = first % view_.inner;
    fft_.load_columns(work_.data(), kFftLanes, in + block * view_.extent * view_.inner + column,
                      view_.inner, view_.extent, count);
    fft_.power(rows_.data(), kFftLanes, work_.data(), kFftLanes, magnitude_);
    float* to = out + block * fft_.bins() * view_.inner + column;
    for (int64_t k = 0; k < fft_.bins(); k++) {
      std::copy_n(rows_.data() + k * kFftLanes, count, to + k * view_.inner);
    }
  }

  const RealFft& fft_;
  const AxisView view_;
  bool magnitude_;
  Scratch<float> work_, rows_;
};

}  // namespace

void spectrogram(Samples& out, const Samples& in, const SpectrogramArgs& args) {
  const auto fft = real_fft(args.nfft);
  const size_t time_axis = args.time_major ? 0 : 1;
  const double cost = transform_cost(args.nfft);
  parallel_slices(
      in.size(), [&](int64_t i) { return (out.shape(i)[time_axis] + kFftLanes - 1) / kFftLanes; },
      [&](int64_t) { return cost; },
      [&](int64_t i, int64_t begin, int64_t end) {
        const int64_t total = out.shape(i)[time_axis];
        WindowSpectra spectra(args, *fft, in.data<const float>(i), in.volume(i));
        for (int64_t first = begin * kFftLanes; first < std::min(end * kFftLanes, total);
             first += kFftLanes) {
          spectra.run(out.data<float>(i), first, std::min(kFftLanes, total - first), total);
        }
      });
}

void power_spectrum(Samples& out, const Samples& in, int axis, int64_t nfft, bool magnitude) {
  // Without a given length, samples may have different ones.
  std::vector<std::shared_ptr<const RealFft>> plans;
  for (int64_t i = 0; i < in.size(); i++) {
    plans.push_back(real_fft(nfft > 0 ? nfft : in.shape(i)[static_cast<size_t>(axis)]));
  }
  const auto plan = [&](int64_t i) -> const RealFft& { return *plans[static_cast<size_t>(i)]; };
  const auto signals = [&](int64_t i) {
    const AxisView view(in.shape(i), axis);
    return view.outer * view.inner;
  };
  parallel_slices(
      in.size(),
      [&](int64_t i) {
        const int64_t most = AxisSpectra::together(plan(i));
        return (signals(i) + most - 1) / most;
      },
      [&](int64_t i) { return transform_cost(plan(i).length()); },
      [&](int64_t i, int64_t begin, int64_t end) {
        const int64_t most = AxisSpectra::together(plan(i));
        AxisSpectra spectra(plan(i), AxisView(in.shape(i), axis), magnitude);
        spectra.run(out.data<float>(i), in.data<const float>(i), begin * most,
                    std::min(end * most, signals(i)));
      });
}

}  // namespace daliesque::audio
