// SPDX-License-Identifier: Apache-2.0
// Encoded sounds.
#include <stdexcept>

#include "audio/file.h"
#include "bind/bind.h"
#include "bind/read_errors.h"

namespace daliesque {

namespace {

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
    throw std::invalid_argument("encoded sounds are one-dimensional arrays of bytes");
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
    const AudioFile* sound = files.file(i);
    row[0] = sound ? sound->frames : -1;
    row[1] = sound ? sound->channels : 0;
    row[2] = sound ? sound->rate : 0;
  }
  return Table(rows, {count, kColumns}, owner);
}

std::optional<PythonException> opening_error(const AudioFiles& files, int64_t index,
                                             const std::string& path) {
  if (index < 0 || index >= files.size()) throw std::out_of_range("no such file");
  const int code = files.file_code(index);
  return code == 0 ? std::nullopt : std::optional(read_error(code, path));
}

std::vector<int64_t> decode(const AudioFiles& files, Samples& out, const Rows& rows) {
  const auto count = static_cast<size_t>(out.size());
  if (rows.shape(0) != count || rows.shape(1) != 3) {
    throw std::invalid_argument("a sound and a range for each sample needed");
  }
  std::vector<AudioFiles::Task> tasks;
  for (size_t k = 0; k < count; k++) {
    const int64_t* row = rows.data() + k * 3;
    const AudioFile* sound = row[0] >= 0 && row[0] < files.size() ? files.file(row[0]) : nullptr;
    const Shape shape = out.shape(static_cast<int64_t>(k));
    if (!sound || row[1] < 0 || row[2] < 0 || shape[0] != row[2] ||
        (out.ndim() == 2 && shape[1] != sound->channels)) {
      throw std::invalid_argument("a range does not fit its sound or its sample");
    }
    tasks.push_back({row[0], row[1], row[2]});
  }
  return files.decode(out, tasks);
}

}  // namespace

void bind_audio_file(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  nb::class_<AudioFiles>(m, "AudioFiles", "Sounds that are opened and decoded together.")
      .def("__init__", &open_samples, "encoded"_a, "library"_a.none(), release())
      .def("__init__", &open<std::vector<std::string>>, "paths"_a, "library"_a.none(), release())
      .def("information", &information, nb::sig("def information(self) -> NDArray[typing.Any]"),
           "Rows of (frames, channels, rate); -1 frames if a file could not be opened.")
      .def("read_error", &opening_error, "index"_a, "path"_a,
           "Why a file could not be read; None if it could.")
      .def("decode", &decode, "out"_a, "ranges"_a, release(),
           nb::sig("def decode(self, out: Samples, ranges: NDArray[typing.Any]) -> list[int]"),
           "Decode ranges (sound, first, count); return how many frames there were.");
}

}  // namespace daliesque
