// SPDX-License-Identifier: Apache-2.0
// Audio: operators and encoded files.
#include <stdexcept>

#include "audio/decibels.h"
#include "audio/file.h"
#include "audio/filter_rows.h"
#include "audio/resample.h"
#include "audio/signal.h"
#include "audio/spectrogram.h"
#include "bind/bind.h"
#include "bind/read_errors.h"

namespace daliesque::audio {

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

using Table = nb::ndarray<nb::numpy, int64_t, nb::ndim<2>>;
using Rows = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Addresses = std::optional<std::vector<uintptr_t>>;

template <class Source>
void open(AudioFiles* self, const Source& source, const Addresses& addresses) {
  if (!addresses) {
    new (self) AudioFiles(source, nullptr);
    return;
  }
  const std::vector<uintptr_t>& at = *addresses;
  if (at.size() != 6) throw std::invalid_argument("six functions of libsndfile needed");
  const SndfileFunctions library{at[0], at[1], at[2], at[3], at[4], at[5]};
  new (self) AudioFiles(source, &library);
}

void open_samples(AudioFiles* self, const Samples& encoded, const Addresses& addresses) {
  if (encoded.dtype() != DType::uint8 || encoded.ndim() != 1 || !encoded.contiguous()) {
    throw std::invalid_argument("encoded audio must be one-dimensional arrays of bytes");
  }
  open(self, encoded, addresses);
}

constexpr size_t kColumns = 3;

Table information(const AudioFiles& files) {
  const auto count = static_cast<size_t>(files.size());
  auto* rows = new int64_t[std::max<size_t>(1, count * kColumns)];
  const nb::capsule owner(rows, [](void* p) noexcept { delete[] static_cast<int64_t*>(p); });
  for (int64_t i = 0; i < files.size(); i++) {
    int64_t* row = rows + i * static_cast<int64_t>(kColumns);
    const AudioFile* file = files.file(i);
    row[0] = file ? file->frames : -1;
    row[1] = file ? file->channels : 0;
    row[2] = file ? file->rate : 0;
  }
  return Table(rows, {count, kColumns}, owner);
}

std::optional<files::PythonException> opening_error(const AudioFiles& files, int64_t index,
                                                    const std::string& path) {
  if (index < 0 || index >= files.size()) throw std::out_of_range("no such file");
  const int code = files.file_code(index);
  return code == 0 ? std::nullopt : std::optional(files::read_error(code, path));
}

std::vector<int64_t> decode(const AudioFiles& files, Samples& out, const Rows& rows) {
  const auto count = static_cast<size_t>(out.size());
  if (rows.shape(0) != count || rows.shape(1) != 3) {
    throw std::invalid_argument("a file and a range for each sample needed");
  }
  std::vector<AudioFiles::Task> tasks;
  for (size_t k = 0; k < count; k++) {
    const int64_t* row = rows.data() + k * 3;
    const AudioFile* file = row[0] >= 0 && row[0] < files.size() ? files.file(row[0]) : nullptr;
    const Shape shape = out.shape(static_cast<int64_t>(k));
    if (!file || row[1] < 0 || row[2] < 0 || shape[0] != row[2] ||
        (out.ndim() == 2 && shape[1] != file->channels)) {
      throw std::invalid_argument("a range does not fit its file or its sample");
    }
    tasks.push_back({row[0], row[1], row[2]});
  }
  return files.decode(out, tasks);
}

void bind_operators(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  nb::enum_<SignalPadding>(m, "SignalPadding", "What there is beyond the ends of a signal.")
      .value("none", SignalPadding::none)
      .value("zeros", SignalPadding::zeros)
      .value("reflect", SignalPadding::reflect);
  nb::enum_<SignalStart>(m, "SignalStart", "What comes before the first sample of a signal.")
      .value("zero", SignalStart::zero)
      .value("clamp", SignalStart::clamp)
      .value("reflect", SignalStart::reflect);
  m.def(
      "spectrogram",
      [](Samples& out, const Samples& in, int64_t nfft, const ArgArray<float>& window,
         int64_t window_step, SignalPadding padding, bool magnitude, bool time_major) {
        spectrogram(out, in,
                    {nfft, window.data(), static_cast<int64_t>(window.size()), window_step, padding,
                     magnitude, time_major});
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
      [](Samples& out, const Samples& in, const ArgArray<float>& coefficient, SignalStart start) {
        preemphasis_filter(out, in, per_sample(coefficient, in.size()), start);
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

void bind_files(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  nb::class_<AudioFiles>(m, "AudioFiles", "Audio files that are opened and decoded together.")
      .def("__init__", &open_samples, "encoded"_a, "library"_a.none(), release())
      .def("__init__", &open<std::vector<std::string>>, "paths"_a, "library"_a.none(), release())
      .def("information", &information, nb::sig("def information(self) -> NDArray[typing.Any]"),
           "Rows of (frames, channels, rate); -1 frames if a file could not be opened.")
      .def("read_error", &opening_error, "index"_a, "path"_a,
           "Why a file could not be read; None if it could.")
      .def("decode", &decode, "out"_a, "ranges"_a, release(),
           nb::sig("def decode(self, out: Samples, ranges: NDArray[typing.Any]) -> list[int]"),
           "Decode ranges (file, first, count); return how many frames there were.");
}

}  // namespace

void bind_audio(nb::module_& m) {
  bind_operators(m);
  bind_files(m);
}

}  // namespace daliesque::audio
