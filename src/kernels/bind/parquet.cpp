// SPDX-License-Identifier: Apache-2.0
// Columns of Parquet files.
#include "bind/bind.h"
#include "core/parallel.h"
#include "files/archives.h"
#include "parquet/column.h"

namespace daliesque::parquet {

namespace {

/// The columns of a row group. Once something is not decoded, nothing is any more.
class RowGroupReader {
 public:
  RowGroupReader(files::Archives& archives, int64_t file, const std::vector<ColumnChunk>& chunks) {
    if (file < 0 || file >= archives.count()) throw std::out_of_range("no such file");
    attempt([&] {
      const files::SourceHandle source = archives.open(file);
      for (const ColumnChunk& chunk : chunks) columns_.emplace_back(source, chunk);
    });
  }

  std::optional<std::vector<Samples>> read(int64_t rows) {
    std::vector<Samples> outputs(columns_.size());
    const bool decoded = attempt([&] {
      parallel_for(
          static_cast<int64_t>(columns_.size()),
          [&](int64_t k) { return columns_[static_cast<size_t>(k)].cost(rows); },
          [&](int64_t k) {
            outputs[static_cast<size_t>(k)] = columns_[static_cast<size_t>(k)].read(rows);
          });
    });
    if (!decoded) return std::nullopt;
    return outputs;
  }

 private:
  template <class Function>
  bool attempt(Function&& function) {
    if (failed_) return false;
    failed_ = true;
    try {
      function();
      failed_ = false;
    } catch (const Undecoded&) {
    } catch (const files::ReadFailure&) {
    }
    return !failed_;
  }

  std::vector<ColumnReader> columns_;
  bool failed_ = false;
};

using ChunkTuple = std::tuple<int64_t, int64_t, int64_t, Codec, ValueType, int64_t, int, int>;

void make_row_group_reader(RowGroupReader* self, files::Archives& archives, int64_t file,
                           const std::vector<ChunkTuple>& columns) {
  std::vector<ColumnChunk> chunks;
  for (const auto& [offset, size, rows, codec, type, width, level, dtype] : columns) {
    chunks.push_back({offset, size, rows, codec, type, width, level, static_cast<DType>(dtype)});
  }
  const ReleaseGil release;
  new (self) RowGroupReader(archives, file, chunks);
}

}  // namespace

void bind_parquet(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  nb::enum_<Codec>(m, "ParquetCodec", "How pages are compressed.")
      .value("none", Codec::none)
      .value("snappy", Codec::snappy)
      .value("gzip", Codec::gzip);
  nb::enum_<ValueType>(m, "ParquetType", "How values are stored.")
      .value("boolean", ValueType::boolean)
      .value("int32", ValueType::int32)
      .value("int64", ValueType::int64)
      .value("float32", ValueType::float32)
      .value("float64", ValueType::float64)
      .value("bytes", ValueType::bytes)
      .value("fixed", ValueType::fixed);
  nb::class_<RowGroupReader>(m, "RowGroupReader", "Decodes columns of a row group.")
      .def("__init__", &make_row_group_reader, "archives"_a, "file"_a, "columns"_a,
           "Each column: offset, size, rows, codec, type, width, definition level and dtype.")
      .def("read", &RowGroupReader::read, release(), "rows"_a,
           "The next rows; None if something is damaged, or of a kind that is not decoded here.");
}

}  // namespace daliesque::parquet
