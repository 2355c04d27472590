// SPDX-License-Identifier: Apache-2.0
// Archives of records.
#include "bind/bind.h"
#include "bind/read_errors.h"
#include "files/archives.h"
#include "records/component_index.h"
#include "records/component_reader.h"
#include "records/crc32c.h"
#include "records/datum.h"
#include "records/lmdb_index.h"
#include "records/lz4.h"
#include "records/record_index.h"
#include "records/recordio.h"
#include "records/tfrecord.h"

namespace daliesque::records {

namespace {

using Numbers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NumPyNumbers = nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>;

/// A property: the vector `member` as an array that keeps its owner alive.
template <class Owner>
auto view(std::vector<int64_t> Owner::* member) {
  return [member](nb::handle_t<Owner> self) {
    std::vector<int64_t>& values = nb::cast<Owner&>(self).*member;
    values.reserve(1);  // an array needs an address, even without elements
    return NumPyNumbers(values.data(), {values.size()}, self);
  };
}

std::string to_string(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

std::span<const int64_t> to_span(const Numbers& numbers) {
  return {numbers.data(), numbers.size()};
}

/// Runs Python on any thread; what it raises is a failure to read.
auto call_opener(auto&& function) {
  const AcquireGil acquire;
  return run_python([&] {
    try {
      return function();
    } catch (const nb::python_error& error) {
      throw files::ReadFailure(files::kOtherFailure, nb::str(error.value()).c_str());
    }
  });
}

/// An object of Python with `size` and `read_at(offset, size)`, which returns bytes.
class PythonSource : public files::ByteSource {
 public:
  explicit PythonSource(nb::object object)
      : object_(std::move(object)), size_(nb::cast<int64_t>(object_.attr("size"))) {}
  PythonSource(const PythonSource&) = delete;
  PythonSource& operator=(const PythonSource&) = delete;
  ~PythonSource() override {
    const AcquireGil acquire;
    survive_exit([this] { object_.reset(); });
  }

  int64_t size() const override { return size_; }

  void read_at(int64_t offset, int64_t size, char* out) const override {
    call_opener([&] {
      const auto data = nb::cast<nb::bytes>(object_.attr("read_at")(offset, size));
      if (static_cast<int64_t>(data.size()) != size) throw files::ReadFailure(files::kEndsEarly);
      std::memcpy(out, data.c_str(), data.size());
    });
  }

 private:
  nb::object object_;
  int64_t size_;
};

/// Keeps a function of Python, which may be called and dropped on any thread.
files::Archives::Opener make_opener(nb::object function, bool may_map) {
  const auto drop = [](nb::object* p) {
    const AcquireGil acquire;
    survive_exit([p] { delete p; });
  };
  const std::shared_ptr<nb::object> kept(new nb::object(std::move(function)), drop);
  return [kept, may_map](const std::string& path) -> files::SourceHandle {
    if (path.starts_with("file://") || path.find("://") == std::string::npos) {
      return files::open_file(path, may_map);
    }
    return call_opener([&] { return std::make_shared<PythonSource>((*kept)(path)); });
  };
}

void check_sizes(const Numbers& first, const Numbers& second, const Numbers& third) {
  if (second.size() != first.size() || third.size() != first.size()) {
    throw std::invalid_argument("files, offsets and sizes must have equal length");
  }
}

files::ReadErrors to_errors(const std::vector<files::PieceError>& failed,
                            const files::Archives& archives) {
  files::ReadErrors errors;
  for (const files::PieceError& error : failed) {
    errors[nb::int_(error.index)] = files::piece_error(error, archives.path(error.file));
  }
  return errors;
}

std::tuple<Samples, files::ReadErrors> read_pieces(files::Archives& archives, const Numbers& files,
                                                   const Numbers& offsets, const Numbers& sizes,
                                                   int dtype) {
  check_sizes(files, offsets, sizes);
  std::vector<files::PieceError> failed;
  Samples out;
  {
    const ReleaseGil release;
    out = archives.read(static_cast<DType>(dtype), to_span(files), to_span(offsets), to_span(sizes),
                        failed);
  }
  return {std::move(out), to_errors(failed, archives)};
}

/// What `read(source)` makes of a file, without the GIL. Raises OSError.
template <class Read>
auto with_source(files::Archives& archives, int64_t file, Read&& read) {
  if (file < 0 || file >= archives.count()) throw std::out_of_range("no such file");
  std::optional<files::PieceError> failed;
  {
    const ReleaseGil release;
    try {
      return read(*archives.open(file));
    } catch (const files::ReadFailure& failure) {
      failed = {0, file, 0, failure.code(), failure.what()};
    }
  }
  files::raise(files::piece_error(*failed, archives.path(file)));
}

RecordIndex index_file(files::Archives& archives, int64_t file) {
  return with_source(archives, file, index_tfrecord);
}

std::string read_text(files::Archives& archives, int64_t file) {
  return with_source(archives, file, [](const files::ByteSource& source) {
    std::string text(static_cast<size_t>(source.size()), '\0');
    source.read_at(0, source.size(), text.data());
    return text;
  });
}

/// The numbers of a text with two in each line, and the first line without them, or 0.
struct NumberPairs {
  std::vector<int64_t> first, second;
  int64_t bad_line;
};

NumberPairs read_number_pairs(files::Archives& archives, int64_t file) {
  const std::string text = read_text(archives, file);
  const ReleaseGil release;
  NumberPairs pairs;
  pairs.bad_line = parse_number_pairs(text, pairs.first, pairs.second);
  return pairs;
}

void make_component_index(ComponentIndex* self,
                          const std::vector<std::vector<nb::bytes>>& extensions,
                          const std::vector<int>& dtypes, bool case_sensitive,
                          MissingComponents missing) {
  std::vector<DType> types;
  for (const int dtype : dtypes) types.push_back(static_cast<DType>(dtype));
  std::vector<std::vector<std::string>> lists;
  for (const auto& list : extensions) {
    auto& texts = lists.emplace_back();
    for (const nb::bytes& extension : list) texts.push_back(to_string(extension));
  }
  new (self) ComponentIndex(lists, std::move(types), case_sensitive, missing);
}

std::vector<ComponentError> add_archive(ComponentIndex& index, files::Archives& archives,
                                        int64_t file) {
  return with_source(archives, file, [&](const files::ByteSource& source) {
    std::vector<ComponentError> errors;
    index.add_tar(source, errors);
    return errors;
  });
}

std::vector<ComponentError> add_index(ComponentIndex& index, files::Archives& archives,
                                      int64_t file) {
  const std::string text = read_text(archives, file);
  const ReleaseGil release;
  std::vector<ComponentError> errors;
  index.add_text(text, errors);
  return errors;
}

void check_numbers(const ComponentIndex& index, std::span<const int64_t> numbers) {
  for (const int64_t number : numbers) {
    if (number < 0 || number >= index.samples()) throw std::invalid_argument("no such sample");
  }
}

std::tuple<std::vector<Samples>, files::ReadErrors> read_samples(const ComponentIndex& index,
                                                                 files::Archives& archives,
                                                                 const Numbers& numbers) {
  check_numbers(index, to_span(numbers));
  std::vector<files::PieceError> failed;
  std::vector<Samples> outputs;
  {
    const ReleaseGil release;
    outputs = read_components(archives, index, to_span(numbers), failed);
  }
  return {std::move(outputs), to_errors(failed, archives)};
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

IndexText make_tar_index(files::Archives& archives, int64_t file, bool with_names) {
  return with_source(archives, file, [&](const files::ByteSource& source) {
    return make_index(source, with_names);
  });
}

// The shape is converted later: nanobind's conversion of tuples cannot report missing memory.
using RuleTuple =
    std::tuple<nb::bytes, int, bool, nb::typed<nb::sequence, int>, std::optional<nb::bytes>>;

void make_parser(ExampleParser* self, const std::vector<RuleTuple>& rules) {
  std::vector<FeatureRule> list;
  for (const auto& [name, dtype, fixed, sizes, fallback] : rules) {
    const auto shape = nb::cast<std::vector<int64_t>>(sizes);
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

using Parsed = std::tuple<std::vector<Samples>, std::vector<RecordError>>;

std::tuple<std::vector<Samples>, files::ReadErrors, std::vector<RecordError>> read_examples(
    const ExampleParser& parser, files::Archives& archives, const Numbers& files,
    const Numbers& offsets, const Numbers& sizes) {
  check_sizes(files, offsets, sizes);
  std::vector<files::PieceError> unread;
  std::vector<RecordError> errors;
  std::vector<Samples> outputs;
  {
    const ReleaseGil release;
    outputs =
        parser.read(archives, {to_span(files), to_span(offsets), to_span(sizes)}, unread, errors);
  }
  return {std::move(outputs), to_errors(unread, archives), std::move(errors)};
}

Parsed parse_images(const Samples& records) {
  std::vector<RecordError> errors;
  std::vector<Samples> outputs = parse_recordio(records, errors);
  return {std::move(outputs), std::move(errors)};
}

Parsed parse_caffe(const Samples& records, bool image, bool label) {
  std::vector<RecordError> errors;
  std::vector<Samples> outputs = parse_datums(records, image, label, errors);
  return {std::move(outputs), std::move(errors)};
}

Parsed parse_caffe2(const Samples& records, bool image, LabelType label_type, int64_t num_labels,
                    int64_t additional, bool box) {
  std::vector<RecordError> errors;
  std::vector<Samples> outputs =
      parse_tensors(records, {image, label_type, num_labels, additional, box}, errors);
  return {std::move(outputs), std::move(errors)};
}

LmdbIndex index_database(files::Archives& archives, int64_t file) {
  return with_source(archives, file, index_lmdb);
}

int64_t file_size(files::Archives& archives, int64_t file) {
  return with_source(archives, file, [](const files::ByteSource& source) { return source.size(); });
}

void bind_faults(nb::module_& m) {
  nb::enum_<RecordFault>(m, "RecordFault", "What is wrong with a record.")
      .value("none", RecordFault::none)
      .value("too_short", RecordFault::too_short)
      .value("bad_length", RecordFault::bad_length)
      .value("cut_short", RecordFault::cut_short)
      .value("bad_checksum", RecordFault::bad_checksum)
      .value("malformed", RecordFault::malformed)
      .value("missing_feature", RecordFault::missing_feature)
      .value("wrong_type", RecordFault::wrong_type)
      .value("too_many_values", RecordFault::too_many_values)
      .value("wrong_multiple", RecordFault::wrong_multiple)
      .value("bad_magic", RecordFault::bad_magic)
      .value("wrong_size", RecordFault::wrong_size)
      .value("mixed", RecordFault::mixed)
      .value("bad_label", RecordFault::bad_label)
      .value("missing_tensor", RecordFault::missing_tensor);
  nb::class_<RecordError>(m, "RecordError", "A record that cannot be used.")
      .def_ro("index", &RecordError::index, "Its index in the request.")
      .def_ro("fault", &RecordError::fault)
      .def_ro("part", &RecordError::part, "The number of a feature or tensor.")
      .def_ro("value", &RecordError::value);
  nb::enum_<TarFault>(m, "TarFault", "Why the files of a tar archive end before their time.")
      .value("none", TarFault::none)
      .value("no_tar", TarFault::no_tar)
      .value("cut_short", TarFault::cut_short)
      .value("compressed", TarFault::compressed);
  nb::enum_<ComponentFault>(m, "ComponentFault", "What is wrong with samples of tar archives.")
      .value("none", ComponentFault::none)
      .value("no_tar", ComponentFault::no_tar)
      .value("cut_short", ComponentFault::cut_short)
      .value("compressed", ComponentFault::compressed)
      .value("bad_version", ComponentFault::bad_version)
      .value("bad_count", ComponentFault::bad_count)
      .value("bad_line", ComponentFault::bad_line)
      .value("bad_offset", ComponentFault::bad_offset)
      .value("too_few_lines", ComponentFault::too_few_lines)
      .value("missing", ComponentFault::missing)
      .value("bad_size", ComponentFault::bad_size);
  nb::class_<ComponentError>(m, "ComponentError", "A sample of a tar archive with a fault.")
      .def_ro("fault", &ComponentError::fault)
      .def_ro("where", &ComponentError::where, "The byte of the archive or line of the index.")
      .def_ro("output", &ComponentError::output);
  nb::enum_<LmdbFault>(m, "LmdbFault", "What ended the entries of a database.")
      .value("none", LmdbFault::none)
      .value("no_database", LmdbFault::no_database)
      .value("unsupported", LmdbFault::unsupported)
      .value("damaged", LmdbFault::damaged);
}

void bind_indices(nb::module_& m) {
  nb::class_<RecordIndex>(m, "RecordIndex", "The records of a TFRecord file.")
      .def_prop_ro("offsets", view(&RecordIndex::offsets))
      .def_prop_ro("sizes", view(&RecordIndex::sizes))
      .def_ro("fault", &RecordIndex::fault, "What ended the records before their time.")
      .def_ro("fault_offset", &RecordIndex::fault_offset);
  nb::class_<LmdbIndex>(m, "LmdbIndex", "The entries of a database.")
      .def_prop_ro("offsets", view(&LmdbIndex::offsets))
      .def_prop_ro("sizes", view(&LmdbIndex::sizes))
      .def_prop_ro("key_ends", view(&LmdbIndex::key_ends))
      .def_prop_ro(
          "keys",
          [](const LmdbIndex& index) { return nb::bytes(index.keys.data(), index.keys.size()); })
      .def_ro("fault", &LmdbIndex::fault)
      .def_ro("fault_page", &LmdbIndex::fault_page);
  nb::class_<NumberPairs>(m, "NumberPairs", "The numbers of a text with two in each line.")
      .def_prop_ro("first", view(&NumberPairs::first))
      .def_prop_ro("second", view(&NumberPairs::second))
      .def_ro("bad_line", &NumberPairs::bad_line, "The first line without two numbers, or 0.");
  nb::class_<IndexText>(m, "TarIndexText", "The index of a tar archive.")
      .def_prop_ro(
          "text",
          [](const IndexText& index) { return nb::bytes(index.text.data(), index.text.size()); })
      .def_prop_ro("fault", [](const IndexText& index) { return index.end.fault; })
      .def_prop_ro("fault_offset", [](const IndexText& index) { return index.end.offset; })
      .def_ro("blank_extensions", &IndexText::blank_extensions)
      .def_ro("blank_names", &IndexText::blank_names);
}

std::optional<std::tuple<int64_t, int64_t, std::string>> bound_lz4(Samples& out, const Samples& in,
                                                                   const Samples& offsets,
                                                                   const Samples& sizes) {
  auto failure = lz4_decompress(out, in, offsets, sizes);
  if (!failure) return std::nullopt;
  return std::tuple(failure->sample, failure->chunk, std::move(failure->reason));
}

void bind_archives(nb::module_& m) {
  using namespace nb::literals;

  bind_faults(m);
  bind_indices(m);
  nb::enum_<MissingComponents>(m, "MissingComponents",
                               "What becomes of samples that have nothing for an output.")
      .value("stay_empty", MissingComponents::stay_empty)
      .value("skip", MissingComponents::skip)
      .value("error", MissingComponents::error);
  nb::enum_<LabelType>(m, "LabelType", "What the labels of Caffe2's records are.")
      .value("single", LabelType::single)
      .value("sparse", LabelType::sparse)
      .value("dense", LabelType::dense)
      .value("weighted_sparse", LabelType::weighted_sparse)
      .value("none", LabelType::none);
  nb::class_<files::Archives>(m, "Archives", "Files of which pieces are read; only few stay open.")
      .def(
          "__init__",
          [](files::Archives* self, const std::vector<nb::bytes>& paths, nb::object open_url,
             bool joined, bool may_map, int64_t kept_bytes, double least_age) {
            std::vector<std::string> list;
            for (const nb::bytes& path : paths) list.push_back(to_string(path));
            new (self) files::Archives(std::move(list), make_opener(std::move(open_url), may_map),
                                       joined, kept_bytes, least_age);
          },
          "paths"_a, "open_url"_a, "joined"_a, "may_map"_a, "kept_bytes"_a, "least_age"_a)
      .def("read", &read_pieces, "files"_a, "offsets"_a, "sizes"_a, "dtype"_a = 0,
           "Parts of files, and by index why some could not be read.")
      .def("read_number_pairs", &read_number_pairs, "file"_a, "Raises OSError.")
      .def("size", &file_size, "file"_a, "The bytes of a file. Raises OSError.")
      .def("index_lmdb", &index_database, "file"_a, "Raises OSError.")
      .def("make_tar_index", &make_tar_index, "file"_a, "with_names"_a, "Raises OSError.")
      .def("index_tfrecord", &index_file, "file"_a, "Raises OSError.");
}

void bind_components(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<ComponentIndex>(m, "ComponentIndex", "The samples of tar archives.")
      .def("__init__", &make_component_index, "extensions"_a, "dtypes"_a, "case_sensitive"_a,
           "missing"_a)
      .def("add_tar", &add_archive, "archives"_a, "file"_a,
           "Add the samples of an archive; the errors of some. Raises OSError.")
      .def("add_index", &add_index, "archives"_a, "file"_a,
           "Add the samples that an index lists; the errors of some. Raises OSError.")
      .def("end_file", &ComponentIndex::end_file, "What comes next belongs to the next archive.")
      .def_prop_ro("samples", &ComponentIndex::samples)
      .def_ro("file_ends", &ComponentIndex::file_ends)
      .def_prop_ro("ambiguous",
                   [](const ComponentIndex& index) {
                     return std::make_tuple(index.ambiguous_at, index.ambiguous_output);
                   })
      .def("read", &read_samples, "archives"_a, "numbers"_a,
           "The outputs, and by index why some samples could not be read.")
      .def("find", &find_components, "numbers"_a, "output"_a,
           "Archive, offset (-1: nothing) and name of what samples have for an output.");
}

void bind_parsers(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;
  const auto no_gil = nb::call_guard<ReleaseGil>();

  nb::class_<ExampleParser>(m, "ExampleParser", "Takes Example messages of TFRecords apart.")
      .def("__init__", &make_parser, "rules"_a)
      .def("read", &read_examples, "archives"_a, "files"_a, "offsets"_a, "sizes"_a,
           "The features; by index why some records could not be read; the errors of others.");
  m.def("parse_recordio", &parse_images, no_gil, "records"_a,
        "Images and labels, and the errors of some records.");
  m.def("parse_datums", &parse_caffe, no_gil, "records"_a, "image"_a, "label"_a,
        "Images and labels, and the errors of some records.");
  m.def("parse_tensors", &parse_caffe2, no_gil, "records"_a, "image"_a, "label_type"_a,
        "num_labels"_a, "additional"_a, "box"_a, "Tensors, and the errors of some records.");
  m.def(
      "crc32c",
      [](const nb::bytes& data, bool portable) {
        const auto checksum = portable ? crc32c_portable : crc32c;
        return checksum(data.c_str(), data.size());
      },
      "data"_a, "portable"_a = false, "The checksum CRC-32C; only tests call it.");
  m.def("lz4_decompress", &bound_lz4, release(), "out"_a, "input"_a, "offsets"_a, "sizes"_a,
        "The first chunk that cannot be read: sample, chunk and reason.");
}

}  // namespace

void bind_records(nb::module_& m) {
  bind_archives(m);
  bind_components(m);
  bind_parsers(m);
}

}  // namespace daliesque::records
