// SPDX-License-Identifier: Apache-2.0
// Reading files.
#include "bind/bind.h"
#include "bind/read_errors.h"
#include "files/name_list.h"
#include "files/npy_read.h"
#include "files/read.h"

namespace daliesque::files {

namespace {

using Numbers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Contents = std::tuple<Samples, ReadErrors>;

Contents read_all(const std::vector<std::string>& paths, FileCache* cache) {
  std::vector<FileError> failed;
  Samples samples;
  {
    const ReleaseGil release;
    samples = read_files(paths, cache, failed);
  }
  ReadErrors errors;
  for (const FileError& error : failed) {
    errors[nb::int_(error.sample)] =
        read_error(error.code, paths[static_cast<size_t>(error.sample)]);
  }
  return {std::move(samples), std::move(errors)};
}

/// Calls `use` with chosen names, as Python keeps them for a million files: one string of bytes,
/// and where each name ends.
template <class Use>
void for_each_name(const nb::bytes& names, const Numbers& ends, const Numbers& chosen, Use&& use) {
  for (size_t k = 0; k < chosen.size(); k++) {
    const int64_t number = chosen.data()[k];
    if (number < 0 || number >= static_cast<int64_t>(ends.size())) {
      throw std::out_of_range("no such file");
    }
    const int64_t begin = number == 0 ? 0 : ends.data()[number - 1], end = ends.data()[number];
    if (begin < 0 || end < begin || end > static_cast<int64_t>(names.size())) {
      throw std::out_of_range("a name ends outside the names");
    }
    use(std::string_view(names.c_str() + begin, static_cast<size_t>(end - begin)));
  }
}

std::vector<std::string> chosen_paths(const nb::bytes& names, const Numbers& ends,
                                      const Numbers& chosen, const nb::bytes& folder) {
  const std::string prefix = folder.size() == 0 ? "" : std::string(folder.c_str()) + "/";
  std::vector<std::string> paths;
  paths.reserve(chosen.size());
  for_each_name(names, ends, chosen, [&](std::string_view name) {
    const bool whole = name.starts_with('/') || name.starts_with("file://");
    std::string& path = paths.emplace_back(whole ? "" : prefix);
    path.append(name);
  });
  return paths;
}

nb::list chosen_names(const nb::bytes& names, const Numbers& ends, const Numbers& chosen) {
  nb::list found;
  for_each_name(names, ends, chosen, [&](std::string_view name) {
    found.append(nb::steal(
        PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size()))));
  });
  return found;
}

/// A NumPy array of what a vector holds.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_column(std::vector<T> values) {
  values.reserve(1);  // an array needs an address, even without elements
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = kept->data();
  const size_t count = kept->size();
  const nb::capsule owner(kept.release(),
                          [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {count}, owner);
}

/// All names, where they end, the labels, whether none leads out of a folder, and a bad line.
nb::tuple name_list(const nb::bytes& text, bool has_labels) {
  NameList list;
  {
    const ReleaseGil release;
    list = parse_name_list({text.c_str(), text.size()}, has_labels);
  }
  return nb::make_tuple(nb::bytes(list.names.data(), list.names.size()),
                        to_column(std::move(list.ends)), to_column(std::move(list.labels)),
                        list.is_plain, list.bad_line);
}

Contents read_listed(const nb::bytes& names, const Numbers& ends, const Numbers& chosen,
                     const nb::bytes& folder, FileCache* cache) {
  return read_all(chosen_paths(names, ends, chosen, folder), cache);
}

/// A part of arrays as Python describes it: axes; begin, end and size, and which of them are
/// relative; what to do outside; what to fill with.
using Bound = std::optional<ArgArray<double>>;
using Region = std::tuple<ArgArray<int32_t>, Bound, Bound, Bound, std::tuple<bool, bool, bool>,
                          NpyRegion::Outside, float>;

/// An error, with what is raised for an unreadable file.
struct NamedNpyError : NpyError {
  std::optional<PythonException> exception;
};
using Arrays = std::tuple<Samples, std::vector<NamedNpyError>>;

tensor::SliceBound to_bound(const Bound& values, bool relative) {
  if (!values) return {};
  return {per_sample(*values), relative};
}

std::optional<NpyRegion> to_region(const std::optional<Region>& region) {
  if (!region) return std::nullopt;
  const auto& [axes, begin, end, size, relative, outside, fill] = *region;
  return NpyRegion{
      {per_sample(axes), to_bound(begin, std::get<0>(relative)),
       to_bound(end, std::get<1>(relative)), to_bound(size, std::get<2>(relative)), true},
      outside,
      fill};
}

/// A function that lends memory for samples of an outline, or None.
using Lender = std::optional<nb::typed<nb::callable, std::optional<Samples>(Samples)>>;

Arrays read_arrays(std::vector<std::unique_ptr<NpySource>> sources,
                   const std::vector<std::string>& paths, const std::optional<Region>& region,
                   const Lender& lender) {
  const std::optional<NpyRegion> part = to_region(region);
  const auto ask = [&](const Samples& outline) {
    const AcquireGil acquire;
    return run_python([&] { return nb::cast<std::optional<Samples>>((*lender)(outline)); });
  };
  const NpyMemory lend(ask);
  std::vector<NpyError> errors;
  Samples samples;
  {
    const ReleaseGil release;
    samples = read_npy(sources, part ? &*part : nullptr, errors, lender ? &lend : nullptr);
  }
  std::vector<NamedNpyError> named;
  for (const NpyError& error : errors) {
    NamedNpyError& last = named.emplace_back(NamedNpyError{error, std::nullopt});
    if (error.fault == NpyFault::unreadable) {
      last.exception = read_error(error.code, paths[static_cast<size_t>(error.sample)]);
    }
  }
  return {std::move(samples), std::move(named)};
}

Arrays read_npy_files(const nb::bytes& names, const Numbers& ends, const Numbers& chosen,
                      const nb::bytes& folder, NpyHeaderCache* cache,
                      const std::optional<Region>& region, const Lender& lender) {
  const std::vector<std::string> paths = chosen_paths(names, ends, chosen, folder);
  std::vector<std::unique_ptr<NpySource>> sources;
  for (const std::string& path : paths) sources.push_back(file_source(path, cache));
  return read_arrays(std::move(sources), paths, region, lender);
}

Arrays read_npy_contents(const Samples& contents, const std::vector<std::string>& paths,
                         const std::optional<Region>& region, const Lender& lender) {
  if (static_cast<int64_t>(paths.size()) != contents.size()) {
    throw std::invalid_argument("contents and paths must have equal length");
  }
  std::vector<std::unique_ptr<NpySource>> sources;
  for (int64_t i = 0; i < contents.size(); i++) sources.push_back(memory_source(contents, i));
  return read_arrays(std::move(sources), paths, region, lender);
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

  m.def("file_cache_bytes", [] { return FileCache::all_bytes.load(); });
  nb::class_<FileCache>(m, "FileCache", "Contents of files, unless they are too large.")
      .def(nb::init<int64_t, double>(), "limit"_a, "least_age"_a)
      .def_prop_ro("active", &FileCache::active);
  m.def("max_sample_bytes", &max_sample_bytes, "How many bytes of a file one sample may take.");
  m.def("set_max_sample_bytes", &set_max_sample_bytes, "limit"_a);
  m.def("parse_name_list", &name_list, "text"_a, "has_labels"_a,
        nb::sig("def parse_name_list(text: bytes, has_labels: bool) -> tuple[bytes, "
                "NDArray[typing.Any], NDArray[typing.Any], bool, int]"),
        "The names in a text of lines, joined, where each ends, and their labels; whether all of "
        "them are relative and without '..'; and the number of the first bad line, or 0.");
  m.def("chosen_names", &chosen_names, "names"_a, "ends"_a, "chosen"_a,
        nb::sig("def chosen_names(names: bytes, ends: NDArray[typing.Any], chosen: "
                "NDArray[typing.Any]) -> list[str]"),
        "Chosen names of a list, as strings.");
  m.def("read_listed_files", &read_listed, "names"_a, "ends"_a, "chosen"_a, "folder"_a,
        "cache"_a.none(),
        "The contents of chosen files of a list, and by index why some could not be read.");
  m.def("read_named_files", &read_named, "paths"_a,
        "The contents of files named by samples of characters, likewise.");
  nb::enum_<NpyRegion::Outside>(m, "NpyOutside", "What to do where a region leaves an array.")
      .value("error", NpyRegion::Outside::error)
      .value("pad", NpyRegion::Outside::pad)
      .value("trim", NpyRegion::Outside::trim);
  nb::enum_<NpyFault>(m, "NpyFault", "Why an array cannot be read.")
      .value("unreadable", NpyFault::unreadable)
      .value("malformed", NpyFault::malformed)
      .value("bound_count", NpyFault::bound_count)
      .value("region", NpyFault::region)
      .value("other_axes", NpyFault::other_axes)
      .value("other_type", NpyFault::other_type);
  nb::class_<NamedNpyError>(m, "NpyError", "An array that could not be read.")
      .def_ro("sample", &NamedNpyError::sample)
      .def_ro("fault", &NamedNpyError::fault)
      .def_ro("window", &NamedNpyError::window, "The fault of the region.")
      .def_ro("axis", &NamedNpyError::axis)
      .def_ro("value", &NamedNpyError::value)
      .def_ro("first", &NamedNpyError::first, "The sample that this one differs from.")
      .def_ro("exception", &NamedNpyError::exception, "Of an unreadable file.");
  nb::class_<NpyHeaderCache>(m, "NpyHeaderCache", "Headers of .npy files read before.")
      .def(nb::init<double>(), "least_age"_a);
  m.def("read_npy_files", &read_npy_files, "names"_a, "ends"_a, "chosen"_a, "folder"_a,
        "cache"_a.none(), "region"_a.none(), "lender"_a = nb::none(),
        "The arrays in chosen files that could be read, and the errors of the others. They are "
        "read into the memory that `lender` gives, if that is not None.");
  m.def("read_npy_contents", &read_npy_contents, "contents"_a, "paths"_a, "region"_a.none(),
        "lender"_a = nb::none(), "The arrays in the contents of files, likewise.");
}

}  // namespace daliesque::files
