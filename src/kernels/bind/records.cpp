// SPDX-License-Identifier: Apache-2.0
// Archives of records.
#include "bind/bind.h"
#include "files/archives.h"
#include "records/component_index.h"
#include "records/component_reader.h"
#include "records/crc32c.h"
#include "records/datum.h"
#include "records/lmdb_index.h"
#include "records/record_index.h"
#include "records/recordio.h"
#include "records/tfrecord.h"

namespace daliesque {

namespace {

using Numbers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NumPyNumbers = nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>;
// Place in the request, file, offset, code and reason.
using Failures = std::vector<std::tuple<int64_t, int64_t, int64_t, int, std::string>>;
using Faults = std::vector<std::tuple<int64_t, int, int64_t, int64_t>>;

/// A vector as an array that owns it.
NumPyNumbers to_numpy(std::vector<int64_t> values) {
  auto* kept = new std::vector<int64_t>(std::move(values));
  const nb::capsule owner(kept,
                          [](void* p) noexcept { delete static_cast<std::vector<int64_t>*>(p); });
  return NumPyNumbers(kept->data(), {kept->size()}, owner);
}

std::string to_string(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

std::span<const int64_t> to_span(const Numbers& numbers) {
  return {numbers.data(), numbers.size()};
}

/// An object of Python with `size` and `read_at(offset, size)`, which returns bytes.
class PythonSource : public ByteSource {
 public:
  explicit PythonSource(nb::object object)
      : object_(std::move(object)), size_(nb::cast<int64_t>(object_.attr("size"))) {}
  PythonSource(const PythonSource&) = delete;
  PythonSource& operator=(const PythonSource&) = delete;
  ~PythonSource() override {
    const nb::gil_scoped_acquire acquire;
    object_.reset();
  }

  int64_t size() const override { return size_; }

  void read_at(int64_t offset, int64_t size, char* out) const override {
    const nb::gil_scoped_acquire acquire;
    try {
      const auto data = nb::cast<nb::bytes>(object_.attr("read_at")(offset, size));
      if (static_cast<int64_t>(data.size()) != size) throw ReadFailure(kEndsEarly);
      std::memcpy(out, data.c_str(), data.size());
    } catch (const nb::python_error& error) {
      throw ReadFailure(kOtherFailure, nb::str(error.value()).c_str());
    }
  }

 private:
  nb::object object_;
  int64_t size_;
};

/// Keeps a function of Python, which may be called and dropped on any thread.
Archives::Opener make_opener(nb::object function, bool may_map) {
  const auto drop = [](nb::object* p) {
    const nb::gil_scoped_acquire acquire;
    delete p;
  };
  const std::shared_ptr<nb::object> kept(new nb::object(std::move(function)), drop);
  return [kept, may_map](const std::string& path) -> SourceHandle {
    if (path.starts_with("file://") || path.find("://") == std::string::npos) {
      return open_file(path, may_map);
    }
    const nb::gil_scoped_acquire acquire;
    try {
      return std::make_shared<PythonSource>((*kept)(path));
    } catch (const nb::python_error& error) {
      throw ReadFailure(kOtherFailure, nb::str(error.value()).c_str());
    }
  };
}

void check_sizes(const Numbers& first, const Numbers& second, const Numbers& third) {
  if (second.size() != first.size() || third.size() != first.size()) {
    throw std::invalid_argument("as many of one as of the other");
  }
}

Failures to_failures(std::vector<PieceError>& errors) {
  Failures failures;
  for (PieceError& error : errors) {
    failures.emplace_back(error.place, error.file, error.offset, error.code,
                          std::move(error.reason));
  }
  return failures;
}

std::tuple<Samples, Failures> read_pieces(Archives& archives, const Numbers& files,
                                          const Numbers& offsets, const Numbers& sizes, int dtype) {
  check_sizes(files, offsets, sizes);
  std::vector<PieceError> errors;
  const nb::gil_scoped_release release;
  Samples out = archives.read(static_cast<DType>(dtype), to_span(files), to_span(offsets),
                              to_span(sizes), errors);
  return {std::move(out), to_failures(errors)};
}

/// Runs `body` with the source, without the GIL; the code and reason of what failed, if anything.
template <class Body>
std::tuple<int, std::string> with_source(Archives& archives, int64_t file, Body&& body) {
  const nb::gil_scoped_release release;
  try {
    body(*archives.open(file));
  } catch (const ReadFailure& failure) {
    return {failure.code(), failure.what()};
  }
  return {0, ""};
}

auto index_file(Archives& archives, int64_t file) {
  RecordIndex index;
  const auto failure = with_source(
      archives, file, [&](const ByteSource& source) { index = index_tfrecord(source); });
  return std::make_tuple(to_numpy(std::move(index.offsets)), to_numpy(std::move(index.sizes)),
                         static_cast<int>(index.fault), index.fault_offset, failure);
}

/// Calls `parse(text)` with all of a file.
template <class Parse>
std::tuple<int, std::string> with_text(Archives& archives, int64_t file, Parse&& parse) {
  return with_source(archives, file, [&](const ByteSource& source) {
    std::string text(static_cast<size_t>(source.size()), '\0');
    source.read_at(0, source.size(), text.data());
    parse(std::string_view(text));
  });
}

auto read_number_pairs(Archives& archives, int64_t file) {
  std::vector<int64_t> first, second;
  int64_t line = 0;
  const auto failure = with_text(archives, file, [&](std::string_view text) {
    line = parse_number_pairs(text, first, second);
  });
  return std::make_tuple(to_numpy(std::move(first)), to_numpy(std::move(second)), line, failure);
}

void make_component_index(ComponentIndex* self,
                          const std::vector<std::vector<nb::bytes>>& extensions,
                          const std::vector<int>& dtypes, bool case_sensitive, int missing) {
  std::vector<DType> types;
  for (const int dtype : dtypes) types.push_back(static_cast<DType>(dtype));
  std::vector<std::vector<std::string>> lists;
  for (const auto& list : extensions) {
    auto& texts = lists.emplace_back();
    for (const nb::bytes& extension : list) texts.push_back(to_string(extension));
  }
  new (self) ComponentIndex(lists, std::move(types), case_sensitive,
                            static_cast<MissingComponents>(missing));
}

using ComponentFaults = std::vector<std::tuple<int, int64_t, int64_t>>;

ComponentFaults to_list(const std::vector<ComponentError>& errors) {
  ComponentFaults list;
  for (const ComponentError& error : errors) {
    list.emplace_back(static_cast<int>(error.fault), error.where, error.output);
  }
  return list;
}

auto add_archive(ComponentIndex& index, Archives& archives, int64_t file) {
  std::vector<ComponentError> errors;
  const auto failure =
      with_source(archives, file, [&](const ByteSource& source) { index.add_tar(source, errors); });
  return std::make_tuple(to_list(errors), failure);
}

auto add_index(ComponentIndex& index, Archives& archives, int64_t file) {
  std::vector<ComponentError> errors;
  const auto failure =
      with_text(archives, file, [&](std::string_view text) { index.add_text(text, errors); });
  return std::make_tuple(to_list(errors), failure);
}

void check_numbers(const ComponentIndex& index, std::span<const int64_t> numbers) {
  for (const int64_t number : numbers) {
    if (number < 0 || number >= index.samples()) throw std::invalid_argument("no such sample");
  }
}

std::tuple<std::vector<Samples>, Failures> read_samples(const ComponentIndex& index,
                                                        Archives& archives,
                                                        const Numbers& numbers) {
  check_numbers(index, to_span(numbers));
  std::vector<PieceError> errors;
  const nb::gil_scoped_release release;
  std::vector<Samples> outputs = read_components(archives, index, to_span(numbers), errors);
  return {std::move(outputs), to_failures(errors)};
}

/// Archive, offset and name of what samples have for an output; the offset of nothing is -1.
auto find_components(const ComponentIndex& index, const std::vector<int64_t>& numbers,
                     int64_t output) {
  check_numbers(index, numbers);
  if (output < 0 || output >= index.outputs()) throw std::invalid_argument("no such output");
  std::vector<std::tuple<int64_t, int64_t, nb::bytes>> found;
  for (const int64_t number : numbers) {
    const int64_t component = index.component(number, output);
    const std::string_view name = component < 0 ? std::string_view() : index.name(component);
    found.emplace_back(index.file_of(number),
                       component < 0 ? -1 : index.offsets[static_cast<size_t>(component)],
                       nb::bytes(name.data(), name.size()));
  }
  return found;
}

auto make_tar_index(Archives& archives, int64_t file, bool with_names) {
  IndexText index;
  const auto failure = with_source(
      archives, file, [&](const ByteSource& source) { index = make_index(source, with_names); });
  return std::make_tuple(nb::bytes(index.text.data(), index.text.size()),
                         static_cast<int>(index.end.fault), index.end.offset,
                         index.blank_extensions, index.blank_names, failure);
}

using RuleTuple = std::tuple<nb::bytes, int, bool, std::vector<int64_t>, std::optional<nb::bytes>>;

void make_parser(ExampleParser* self, const std::vector<RuleTuple>& rules) {
  std::vector<FeatureRule> list;
  for (const auto& [name, dtype, fixed, shape, fallback] : rules) {
    FeatureRule& rule = list.emplace_back(
        FeatureRule{to_string(name), static_cast<DType>(dtype), fixed, shape, std::nullopt});
    if (fallback) rule.fallback = to_string(*fallback);
    const bool is_string = rule.dtype == DType::uint8;
    const auto bytes = is_string ? 0 : static_cast<size_t>(volume(shape)) * dtype_size(rule.dtype);
    if (fixed && fallback && !is_string && rule.fallback->size() != bytes) {
      throw std::invalid_argument("a default must fill the shape");
    }
  }
  new (self) ExampleParser(std::move(list));
}

using Parsed = std::tuple<std::vector<Samples>, Faults>;

/// Calls `parse(errors)` and makes tuples of the errors.
template <class Parse>
Parsed with_faults(Parse&& parse) {
  std::vector<RecordError> errors;
  std::vector<Samples> outputs = parse(errors);
  Faults faults;
  for (const RecordError& error : errors) {
    faults.emplace_back(error.place, static_cast<int>(error.fault), error.part, error.value);
  }
  return {std::move(outputs), std::move(faults)};
}

std::tuple<std::vector<Samples>, Failures, Faults> read_examples(const ExampleParser& parser,
                                                                 Archives& archives,
                                                                 const Numbers& files,
                                                                 const Numbers& offsets,
                                                                 const Numbers& sizes) {
  check_sizes(files, offsets, sizes);
  std::vector<PieceError> unread;
  const nb::gil_scoped_release release;
  auto [outputs, faults] = with_faults([&](auto& errors) {
    return parser.read(archives, {to_span(files), to_span(offsets), to_span(sizes)}, unread,
                       errors);
  });
  return {std::move(outputs), to_failures(unread), std::move(faults)};
}

Parsed parse_images(const Samples& records) {
  return with_faults([&](auto& errors) { return parse_recordio(records, errors); });
}

Parsed parse_caffe(const Samples& records, bool image, bool label) {
  return with_faults([&](auto& errors) { return parse_datums(records, image, label, errors); });
}

Parsed parse_caffe2(const Samples& records, bool image, int label_type, int64_t num_labels,
                    int64_t additional, bool box) {
  const TensorLayout layout{image, static_cast<LabelType>(label_type), num_labels, additional, box};
  return with_faults([&](auto& errors) { return parse_tensors(records, layout, errors); });
}

auto index_database(Archives& archives, int64_t file) {
  LmdbIndex index;
  const auto failure =
      with_source(archives, file, [&](const ByteSource& source) { index = index_lmdb(source); });
  return std::make_tuple(to_numpy(std::move(index.offsets)), to_numpy(std::move(index.sizes)),
                         to_numpy(std::move(index.key_ends)),
                         nb::bytes(index.keys.data(), index.keys.size()),
                         static_cast<int>(index.fault), index.fault_page, failure);
}

auto file_size(Archives& archives, int64_t file) {
  int64_t size = 0;
  const auto failure =
      with_source(archives, file, [&](const ByteSource& source) { size = source.size(); });
  return std::make_tuple(size, failure);
}

}  // namespace

void bind_records(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<Archives>(m, "Archives", "Files of which pieces are read; only few stay open.")
      .def(
          "__init__",
          [](Archives* self, const std::vector<nb::bytes>& paths, nb::object open_url, bool joined,
             bool may_map, int64_t kept_bytes, double least_age) {
            std::vector<std::string> list;
            for (const nb::bytes& path : paths) list.push_back(to_string(path));
            new (self) Archives(std::move(list), make_opener(std::move(open_url), may_map), joined,
                                kept_bytes, least_age);
          },
          "paths"_a, "open_url"_a, "joined"_a, "may_map"_a, "kept_bytes"_a, "least_age"_a)
      .def("read", &read_pieces, "files"_a, "offsets"_a, "sizes"_a, "dtype"_a = 0,
           "Pieces of files, and (place, file, offset, errno, reason) of those that failed.")
      .def("read_number_pairs", &read_number_pairs, "file"_a,
           "First and second numbers of all lines; the first bad line or 0; (errno, reason).")
      .def("size", &file_size, "file"_a, "The bytes of a file; (errno, reason).")
      .def("index_lmdb", &index_database, "file"_a,
           "Offsets, sizes, ends of keys and keys of the entries; fault and page that ended them; "
           "(errno, reason).")
      .def("make_tar_index", &make_tar_index, "file"_a, "with_names"_a,
           "Text; fault and its place; blanks in extensions, in names; (errno, reason).")
      .def("index_tfrecord", &index_file, "file"_a,
           "Offsets and sizes of the records; fault and place that ended them; (errno, reason).");

  nb::class_<ComponentIndex>(m, "ComponentIndex", "The samples of tar archives.")
      .def("__init__", &make_component_index, "extensions"_a, "dtypes"_a, "case_sensitive"_a,
           "missing"_a)
      .def("add_tar", &add_archive, "archives"_a, "file"_a,
           "(fault, byte, output) of what is wrong; (errno, reason).")
      .def("add_index", &add_index, "archives"_a, "file"_a,
           "(fault, line, output) of what is wrong; (errno, reason).")
      .def("end_file", &ComponentIndex::end_file, "What comes next belongs to the next archive.")
      .def_prop_ro("samples", &ComponentIndex::samples)
      .def_ro("file_ends", &ComponentIndex::file_ends)
      .def_prop_ro("ambiguous",
                   [](const ComponentIndex& index) {
                     return std::make_tuple(index.ambiguous_at, index.ambiguous_output);
                   })
      .def("read", &read_samples, "archives"_a, "numbers"_a,
           "The outputs, and (place, file, offset, errno, reason) of samples that could not be "
           "read.")
      .def("find", &find_components, "numbers"_a, "output"_a,
           "Archive, offset (-1: nothing) and name of what samples have for an output.");

  nb::class_<ExampleParser>(m, "ExampleParser", "Takes Example messages of TFRecords apart.")
      .def("__init__", &make_parser, "rules"_a)
      .def("read", &read_examples, "archives"_a, "files"_a, "offsets"_a, "sizes"_a,
           "The features; (place, file, offset, errno, reason) of records that could not be read; "
           "(place, fault, feature, values) of those with faults.");

  const auto no_gil = nb::call_guard<nb::gil_scoped_release>();
  m.def("parse_recordio", &parse_images, no_gil, "records"_a,
        "Images and labels, and (place, fault, part, value) of records with faults.");
  m.def("parse_datums", &parse_caffe, no_gil, "records"_a, "image"_a, "label"_a,
        "Images and labels, and (place, fault, part, value) of records with faults.");
  m.def("parse_tensors", &parse_caffe2, no_gil, "records"_a, "image"_a, "label_type"_a,
        "num_labels"_a, "additional"_a, "box"_a,
        "Tensors, and (place, fault, part, value) of records with faults.");
  m.def(
      "crc32c",
      [](const nb::bytes& data, bool portable) {
        const auto checksum = portable ? crc32c_portable : crc32c;
        return checksum(data.c_str(), data.size());
      },
      "data"_a, "portable"_a = false, "The checksum CRC-32C.");
}

}  // namespace daliesque
