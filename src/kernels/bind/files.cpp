// SPDX-License-Identifier: Apache-2.0
// Reading files.
#include "../file_read.h"
#include "bind.h"

namespace daliesque {

namespace {

using Numbers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Contents = std::tuple<Samples, std::vector<std::tuple<int64_t, int>>>;

Contents read_all(const std::vector<std::string>& paths, FileCache* cache) {
  std::vector<FileError> errors;
  Samples samples = read_files(paths, cache, errors);
  std::vector<std::tuple<int64_t, int>> failed;
  for (const FileError& error : errors) failed.emplace_back(error.sample, error.code);
  return {std::move(samples), std::move(failed)};
}

/// Names as Python keeps them for a million files: one string of bytes, and where each name ends.
Contents read_listed(const nb::bytes& names, const Numbers& ends, const Numbers& chosen,
                     const nb::bytes& folder, FileCache* cache) {
  const std::string prefix = folder.size() == 0 ? "" : std::string(folder.c_str()) + "/";
  std::vector<std::string> paths;
  paths.reserve(chosen.size());
  for (size_t k = 0; k < chosen.size(); k++) {
    const int64_t number = chosen.data()[k];
    if (number < 0 || number >= static_cast<int64_t>(ends.size())) {
      throw std::out_of_range("no such file");
    }
    const int64_t begin = number == 0 ? 0 : ends.data()[number - 1], end = ends.data()[number];
    const std::string_view name(names.c_str() + begin, static_cast<size_t>(end - begin));
    const bool whole = name.starts_with('/') || name.starts_with("file://");
    std::string& path = paths.emplace_back(whole ? "" : prefix);
    path.append(name);
  }
  const nb::gil_scoped_release release;
  return read_all(paths, cache);
}

Contents read_named(const Samples& paths) {
  std::vector<std::string> list;
  for (int64_t i = 0; i < paths.size(); i++) {
    list.emplace_back(paths.data<const char>(i), static_cast<size_t>(paths.volume(i)));
  }
  return read_all(list, nullptr);
}

}  // namespace

void bind_files(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<FileCache>(m, "FileCache", "Contents of files, unless they are too large.")
      .def(nb::init<int64_t, double>(), "limit"_a, "least_age"_a)
      .def_prop_ro("active", &FileCache::active);
  m.def("read_listed_files", &read_listed, "names"_a, "ends"_a, "chosen"_a, "folder"_a,
        "cache"_a.none(),
        "The contents of chosen files of a list, and (sample, errno) of those that failed.");
  m.def("read_named_files", &read_named, nb::call_guard<nb::gil_scoped_release>(), "paths"_a,
        "The contents of files named by samples of characters, and (sample, errno) of failures.");
}

}  // namespace daliesque
