// SPDX-License-Identifier: Apache-2.0
// The capsules of the Arrow PyCapsule interface, which hand over columns between libraries.
#include "core/arrow.h"

#include <memory>
#include <optional>

#include "bind/bind.h"
#include "core/arrow_export.h"
#include "core/arrow_import.h"
#include "core/errors.h"

namespace daliesque {

namespace {

constexpr const char* kSchemaName = "arrow_schema";
constexpr const char* kArrayName = "arrow_array";
constexpr const char* kStreamName = "arrow_array_stream";

template <class Struct>
Struct* content(nb::handle capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule.ptr(), name)) {
    throw nb::type_error(("not a capsule named " + std::string(name)).c_str());
  }
  return static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
}

/// A capsule that owns a struct; the consumer empties it by setting `release` to null.
template <class Struct>
nb::object capsule_of(std::unique_ptr<Struct> content, const char* name) {
  PyObject* capsule = PyCapsule_New(content.get(), name, [](PyObject* self) {
    auto* held = static_cast<Struct*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
    if (held->release != nullptr) held->release(held);
    delete held;
  });
  if (capsule == nullptr) {
    content->release(content.get());
    throw nb::python_error();
  }
  content.release();
  return nb::steal(capsule);
}

nb::dict metadata_of(const arrow::Field& field) {
  nb::dict out;
  for (const auto& [key, value] : field.metadata) {
    // Whatever is not text is not ours to read.
    out[nb::bytes(key.data(), key.size())] = nb::bytes(value.data(), value.size());
  }
  return out;
}

nb::tuple to_python(const arrow::Field& field) {
  nb::list children, dictionary;
  for (const arrow::Field& child : field.children) children.append(to_python(child));
  for (const arrow::Field& values : field.dictionary) dictionary.append(to_python(values));
  return nb::make_tuple(field.format, field.name, metadata_of(field), children, dictionary);
}

arrow::Field to_field(const nb::tuple& described) {
  arrow::Field field;
  field.format = nb::cast<std::string>(described[0]);
  field.name = nb::cast<std::string>(described[1]);
  for (auto [key, value] : nb::cast<nb::dict>(described[2])) {
    const auto name = nb::cast<nb::bytes>(key), text = nb::cast<nb::bytes>(value);
    field.metadata.emplace_back(std::string(name.c_str(), name.size()),
                                std::string(text.c_str(), text.size()));
  }
  for (nb::handle child : nb::cast<nb::sequence>(described[3])) {
    field.children.push_back(to_field(nb::cast<nb::tuple>(child)));
  }
  return field;
}

/// An array that is released when its last user is gone. The producer may need the interpreter for
/// that; whoever drops the last reference need not be a thread of Python's.
Buffer owner_of(arrow::Array taken) {
  return {new arrow::Array(taken), [](void* held) {
            auto* array = static_cast<arrow::Array*>(held);
            if (array->release != nullptr && Py_IsInitialized()) {
              const AcquireGil gil;
              survive_exit([array] { array->release(array); });
            }
            delete array;
          }};
}

arrow::Column column_of(arrow::Array taken) {
  Buffer owner = owner_of(taken);
  const auto* array = static_cast<const arrow::Array*>(owner.get());
  return {std::move(owner), array};
}

arrow::Column import_array(nb::handle capsule) {
  auto* array = content<arrow::Array>(capsule, kArrayName);
  if (array->release == nullptr) throw nb::value_error("the Arrow array has been used already");
  const arrow::Array taken = *array;
  array->release = nullptr;
  return column_of(taken);
}

/// A stream that is released in the end.
class OwnedStream {
 public:
  explicit OwnedStream(arrow::Stream* stream) : stream_(*stream) { stream->release = nullptr; }
  ~OwnedStream() { stream_.release(&stream_); }
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;

  arrow::Field field() {
    arrow::Schema schema{};
    check(call([&] { return stream_.get_schema(&stream_, &schema); }));
    auto release = [](arrow::Schema* read) { read->release(read); };
    const std::unique_ptr<arrow::Schema, decltype(release)> held(&schema, release);
    return arrow::read_field(schema);
  }

  /// None when there are no more.
  std::optional<arrow::Array> next() {
    arrow::Array array{};
    check(call([&] { return stream_.get_next(&stream_, &array); }));
    return array.release == nullptr ? std::nullopt : std::optional(array);
  }

 private:
  /// Producers that need the interpreter take its lock; others may wait for threads that need it.
  template <class Function>
  static int call(Function&& function) {
    const ReleaseGil release;
    return function();
  }

  void check(int fault) {
    if (fault == 0) return;
    const char* text = stream_.get_last_error(&stream_);
    throw UsageError("the Arrow stream failed: " + std::string(text == nullptr ? "" : text));
  }

  arrow::Stream stream_;
};

nb::tuple read_stream(nb::handle capsule) {
  auto* given = content<arrow::Stream>(capsule, kStreamName);
  if (given->release == nullptr) throw nb::value_error("the Arrow stream has been used already");
  OwnedStream stream(given);
  const arrow::Field field = stream.field();
  nb::list columns;
  while (auto array = stream.next()) columns.append(column_of(*array));
  return nb::make_tuple(to_python(field), columns);
}

nb::object export_field(const nb::tuple& described) {
  auto schema = std::make_unique<arrow::Schema>();
  arrow::export_field(to_field(described), schema.get());
  return capsule_of(std::move(schema), kSchemaName);
}

nb::object export_samples(const Samples& samples, arrow::Form form) {
  auto array = std::make_unique<arrow::Array>();
  arrow::export_samples(samples, form, array.get());
  return capsule_of(std::move(array), kArrayName);
}

Samples column_samples(const arrow::Column& column, const std::vector<std::string>& formats,
                       int type) {
  const ReleaseGil release;
  return column.samples(formats, static_cast<DType>(type));
}

}  // namespace

void bind_arrow(nb::module_& m) {
  using namespace nb::literals;

  nb::enum_<arrow::Form>(m, "ArrowForm", "How samples are the rows of an Arrow column.")
      .value("numbers", arrow::Form::numbers)
      .value("fixed_lists", arrow::Form::fixed_lists)
      .value("lists", arrow::Form::lists)
      .value("large_lists", arrow::Form::large_lists)
      .value("bytes", arrow::Form::bytes)
      .value("large_bytes", arrow::Form::large_bytes)
      .value("tensors", arrow::Form::tensors)
      .value("large_tensors", arrow::Form::large_tensors);
  nb::class_<arrow::Column>(m, "ArrowColumn", "A column of an Arrow array, or of a field of one.")
      .def("__len__", &arrow::Column::size)
      .def("field", &arrow::Column::field, "index"_a, "The rows of a field of structs.")
      .def("dictionary", &arrow::Column::dictionary, "What indices refer to.")
      .def("first_missing", &arrow::Column::first_missing, "formats"_a,
           "The first row in which a value is missing; -1 if there is none.")
      .def("samples", &column_samples, "formats"_a, "type_id"_a,
           "The rows as samples; the formats are those of the nested lists, and of the values.")
      .def("integers", &arrow::Column::integers, "format"_a, "The rows as numbers.");
  m.def("import_arrow_array", &import_array, "capsule"_a,
        "Take over the array of a capsule, which is empty afterwards.");
  m.def(
      "read_arrow_schema",
      [](nb::handle capsule) {
        return to_python(arrow::read_field(*content<arrow::Schema>(capsule, kSchemaName)));
      },
      "capsule"_a, nb::sig("def read_arrow_schema(capsule: object) -> tuple[typing.Any, ...]"),
      "Format, name, metadata, children and dictionary of a type.");
  m.def("read_arrow_stream", &read_stream, "capsule"_a,
        nb::sig("def read_arrow_stream(capsule: object) -> "
                "tuple[tuple[typing.Any, ...], list[ArrowColumn]]"),
        "The type and all arrays of a stream.");
  m.def("export_arrow_schema", &export_field, "field"_a,
        nb::sig("def export_arrow_schema(field: tuple[typing.Any, ...]) -> typing.Any"),
        "A capsule of a type that is described as `read_arrow_schema` does.");
  m.def("export_arrow_array", &export_samples, "samples"_a, "form"_a,
        nb::sig("def export_arrow_array(samples: Samples, form: ArrowForm) -> typing.Any"),
        "A capsule of packed samples.");
}

}  // namespace daliesque
