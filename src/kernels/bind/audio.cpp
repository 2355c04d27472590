// SPDX-License-Identifier: Apache-2.0
#include "audio/decibels.h"
#include "audio/filter_rows.h"
#include "audio/resample.h"
#include "audio/signal.h"
#include "audio/spectrogram.h"
#include "bind/bind.h"

namespace daliesque {

namespace {

/// One bank of filters for all samples, or, where these have different numbers of frequencies, one
/// for each.
void mel_filter_bank(Samples& out, const Samples& in, int axis, int64_t filters, float sample_rate,
                     float low, float high, bool htk, bool normalize) {
  const MelArgs args{filters, sample_rate, low, high, htk, normalize};
  std::vector<FilterBank> banks;
  const auto bins = [&](int64_t i) { return in.shape(i)[static_cast<size_t>(axis)]; };
  bool alike = true;
  for (int64_t i = 1; i < in.size(); i++) alike &= bins(i) == bins(0);
  for (int64_t i = 0; i < (alike ? std::min<int64_t>(in.size(), 1) : in.size()); i++) {
    banks.push_back(mel_filters(bins(i), args));
  }
  filter_axis(out, in, axis, banks);
}

/// `tables` holds one matrix for all samples, or one for each.
void multiply_axis(Samples& out, const Samples& in, int axis,
                   const std::vector<ArgArray<float>>& tables) {
  std::vector<FilterBank> banks;
  for (const ArgArray<float>& table : tables) {
    FilterBank& bank = banks.emplace_back();
    bank.inputs = static_cast<int64_t>(table.shape(1));
    for (size_t row = 0; row < table.shape(0); row++) {
      bank.add_row(0, table.data() + row * table.shape(1), bank.inputs);
    }
  }
  filter_axis(out, in, axis, banks);
}

}  // namespace

void bind_audio(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  m.def(
      "spectrogram",
      [](Samples& out, const Samples& in, int64_t nfft, const ArgArray<float>& window,
         int64_t window_step, int padding, bool magnitude, bool time_major) {
        spectrogram(out, in,
                    {nfft, window.data(), static_cast<int64_t>(window.size()), window_step,
                     static_cast<SignalPadding>(padding), magnitude, time_major});
      },
      "out"_a, "samples"_a, "nfft"_a, "window"_a, "window_step"_a, "padding"_a, "magnitude"_a,
      "time_major"_a, release());
  m.def("power_spectrum", &power_spectrum, "out"_a, "samples"_a, "axis"_a, "nfft"_a, "magnitude"_a,
        release());
  m.def("mel_filter_bank", &mel_filter_bank, "out"_a, "samples"_a, "axis"_a, "filters"_a,
        "sample_rate"_a, "low"_a, "high"_a, "htk"_a, "normalize"_a, release());
  m.def("multiply_axis", &multiply_axis, "out"_a, "samples"_a, "axis"_a, "tables"_a, release(),
        "Multiply columns along an axis by a matrix.");
  m.def("to_decibels", &to_decibels, "out"_a, "samples"_a, "multiplier"_a, "reference"_a,
        "min_ratio"_a, release());
  m.def(
      "audio_resample",
      [](Samples& out, const Samples& in, const ArgArray<double>& steps, int lobes) {
        if (static_cast<int64_t>(steps.size()) != in.size()) {
          throw std::invalid_argument("one step for each sample needed");
        }
        audio_resample(out, in, steps.data(), lobes);
      },
      "out"_a, "samples"_a, "steps"_a, "lobes"_a, release());
  m.def(
      "preemphasis_filter",
      [](Samples& out, const Samples& in, const ArgArray<float>& coefficient, int start) {
        preemphasis_filter(out, in, per_sample(coefficient), static_cast<SignalStart>(start));
      },
      "out"_a, "samples"_a, "coefficient"_a, "start"_a, release());
  m.def(
      "nonsilent_region",
      [](Samples& begin, Samples& length, const Samples& in, float cutoff_db, float reference_power,
         int64_t window_length, int64_t reset_interval) {
        nonsilent_region(begin, length, in,
                         {cutoff_db, reference_power, window_length, reset_interval});
      },
      "begin"_a, "length"_a, "samples"_a, "cutoff_db"_a, "reference_power"_a, "window_length"_a,
      "reset_interval"_a, release());
}

}  // namespace daliesque
