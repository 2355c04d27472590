// SPDX-License-Identifier: Apache-2.0
#include "parquet/column.h"

#include <algorithm>
#include <bit>

namespace daliesque::parquet {

namespace {

// Samples lie in the memory of pages up to this size; larger ones would be kept by few samples.
constexpr size_t kLargestShared = size_t{4} << 20;

constexpr double kColumnCost = 5e3, kRowCost = 10, kPackedByteCost = 0.12;

/// Copies numbers that the file has in more bytes: the lowest of them.
template <size_t kFrom, size_t kTo>
void narrow(uint8_t* out, const uint8_t* in, size_t count) {
  for (size_t k = 0; k < count; k++) std::memcpy(out + k * kTo, in + k * kFrom, kTo);
}

void convert_numbers(uint8_t* out, const uint8_t* in, size_t count, size_t from, size_t to) {
  if (from == to) {
    if (count > 0) std::memcpy(out, in, count * to);
  } else if (from == 4 && to == 1) {
    narrow<4, 1>(out, in, count);
  } else if (from == 4 && to == 2) {
    narrow<4, 2>(out, in, count);
  } else if (from == 8 && to == 4) {
    narrow<8, 4>(out, in, count);
  } else {
    throw Undecoded("numbers of another size");
  }
}

template <class T>
void gather(uint8_t* out, const uint8_t* table, std::span<const uint32_t> indices) {
  for (size_t k = 0; k < indices.size(); k++) {
    std::memcpy(out + k * sizeof(T), table + indices[k] * sizeof(T), sizeof(T));
  }
}

/// Keeps several buffers alive.
Buffer keep_all(std::vector<Buffer> buffers) {
  if (buffers.size() == 1) return std::move(buffers[0]);
  return std::make_shared<std::vector<Buffer>>(std::move(buffers));
}

}  // namespace

/// Vectors of bytes: where they are, who owns them, and whether they can stay there.
struct ColumnReader::Found {
  std::vector<void*> data;
  std::vector<int64_t> sizes;
  std::vector<Buffer> owners;
  bool can_stay = true;

  void add(Bytes value) {
    data.push_back(const_cast<uint8_t*>(value.data()));
    sizes.push_back(static_cast<int64_t>(value.size()));
  }

  void keep(const Page& page) {
    if (owners.empty() || owners.back() != page.memory) owners.push_back(page.memory);
    can_stay &= page.memory_size <= kLargestShared;
  }
};

ColumnReader::ColumnReader(files::SourceHandle source, const ColumnChunk& chunk)
    : pages_(std::move(source), chunk.offset, chunk.size, chunk.codec),
      chunk_(chunk),
      left_(chunk.rows) {
  if (chunk.type == ValueType::fixed && chunk.width <= 0) throw Undecoded("values without size");
}

double ColumnReader::cost(int64_t rows) const {
  const double row_bytes =
      static_cast<double>(chunk_.size) / static_cast<double>(std::max<int64_t>(1, chunk_.rows));
  return kColumnCost + static_cast<double>(rows) * (kRowCost + kPackedByteCost * row_bytes);
}

bool ColumnReader::are_vectors() const {
  return chunk_.type == ValueType::bytes ||
         (chunk_.type == ValueType::fixed && chunk_.dtype == DType::uint8);
}

int64_t ColumnReader::file_width() const {
  switch (chunk_.type) {
    case ValueType::int32:
    case ValueType::float32:
      return 4;
    case ValueType::int64:
    case ValueType::float64:
      return 8;
    case ValueType::fixed:
      return chunk_.width;
    default:
      return 0;
  }
}

void ColumnReader::load_page() {
  for (;;) {
    const auto& found = pages_.header();
    if (!found) throw CutShort();
    const PageHeader header = *found;
    if (header.kind == PageKind::dictionary) {
      load_dictionary(header);
    } else if (header.kind == PageKind::index || header.values == 0) {
      pages_.skip();
    } else {
      return start_page(header);
    }
  }
}

void ColumnReader::load_dictionary(const PageHeader& header) {
  const bool is_plain =
      header.encoding == Encoding::plain || header.encoding == Encoding::plain_dictionary;
  if (has_dictionary_ || !is_plain || chunk_.type == ValueType::boolean) {
    throw Undecoded("a dictionary of another kind, or a second one");
  }
  dictionary_page_ = pages_.load();
  has_dictionary_ = true;
  dictionary_size_ = static_cast<size_t>(header.values);
  Cursor cursor(dictionary_page_.values);
  const auto width = static_cast<size_t>(file_width());
  if (!are_vectors()) {
    if (dictionary_size_ > cursor.left() / width) throw CutShort();
    const size_t item = dtype_size(chunk_.dtype);
    dictionary_numbers_.resize(dictionary_size_ * item);
    convert_numbers(dictionary_numbers_.data(), cursor.rest().data(), dictionary_size_, width,
                    item);
    dictionary_page_ = {};
    return;
  }
  if (dictionary_size_ > cursor.left() / (width ? width : 4)) throw CutShort();
  dictionary_.reserve(dictionary_size_);
  for (size_t k = 0; k < dictionary_size_; k++) {
    const size_t size = width ? width : cursor.number32();
    dictionary_.push_back(cursor.take(size));
  }
}

void ColumnReader::start_page(const PageHeader& header) {
  if (header.values > left_) throw Undecoded("a column has more values than rows");
  page_ = {};
  page_ = pages_.load();
  Cursor cursor(page_.values);
  if (!page_.repetitions.empty()) throw Undecoded("a column of lists");
  if (chunk_.definition_level > 0) {
    Bytes levels = page_.definitions;
    if (header.kind == PageKind::data) {
      if (header.definition_encoding != Encoding::rle) throw Undecoded("levels of another kind");
      levels = cursor.take(cursor.number32());
    }
    const auto level = static_cast<uint32_t>(chunk_.definition_level);
    HybridReader reader(levels, static_cast<int>(std::bit_width(level)));
    if (!reader.are_all(level, header.values)) throw Undecoded("values are missing");
  }
  page_left_ = header.values;
  plain_ = cursor.rest();
  start_values(header.encoding);
}

void ColumnReader::start_values(Encoding encoding) {
  Cursor cursor(plain_);
  bit_ = 0;
  if (encoding == Encoding::plain) {
    kind_ = Values::plain;
    const auto count = static_cast<size_t>(page_left_);
    if (chunk_.type == ValueType::boolean) {
      cursor.take(count / 8 + (count % 8 != 0));
    } else if (const auto width = static_cast<size_t>(file_width())) {
      if (count > plain_.size() / width) throw CutShort();
    }
  } else if (encoding == Encoding::plain_dictionary || encoding == Encoding::rle_dictionary) {
    if (!has_dictionary_) throw Undecoded("there is no dictionary");
    kind_ = Values::indices;
    const int bits = cursor.byte();
    hybrid_ = HybridReader(cursor.rest(), bits);
  } else if (encoding == Encoding::rle && chunk_.type == ValueType::boolean) {
    kind_ = Values::runs;
    const size_t size = cursor.number32();
    hybrid_ = HybridReader(cursor.take(size), 1);
  } else {
    throw Undecoded("values of another encoding");
  }
}

std::span<const uint32_t> ColumnReader::next_indices(int64_t count) {
  indices_.resize(static_cast<size_t>(count));
  hybrid_.read(indices_);
  return indices_;
}

void ColumnReader::find_plain(Found& found, int64_t count) {
  const auto width = static_cast<size_t>(file_width());
  Cursor cursor(plain_);
  for (int64_t k = 0; k < count; k++) {
    const size_t size = width ? width : cursor.number32();
    found.add(cursor.take(size));
  }
  plain_ = cursor.rest();
  found.keep(page_);
}

void ColumnReader::find_indexed(Found& found, int64_t count) {
  for (const uint32_t index : next_indices(count)) {
    if (index >= dictionary_.size()) throw Undecoded("an index is too large");
    found.add(dictionary_[index]);
    // What was given out before must not be changed by those who get it now.
    found.can_stay &= index >= unused_;
    unused_ = std::max<size_t>(unused_, index + size_t{1});
  }
  found.keep(dictionary_page_);
}

Samples ColumnReader::read_vectors(int64_t rows) {
  Found found;
  found.data.reserve(static_cast<size_t>(rows));
  found.sizes.reserve(static_cast<size_t>(rows));
  while (rows > 0) {
    if (page_left_ == 0) load_page();
    const int64_t count = std::min(rows, page_left_);
    kind_ == Values::plain ? find_plain(found, count) : find_indexed(found, count);
    page_left_ -= count;
    left_ -= count;
    rows -= count;
  }
  if (found.can_stay) {
    return Samples::view(DType::uint8, 1, std::move(found.sizes), std::move(found.data),
                         keep_all(std::move(found.owners)), false);
  }
  const auto count = static_cast<int64_t>(found.sizes.size());
  Samples out = Samples::empty(DType::uint8, 1, found.sizes, "", count);
  for (int64_t k = 0; k < count; k++) {
    const auto size = static_cast<size_t>(found.sizes[static_cast<size_t>(k)]);
    if (size > 0) std::memcpy(out.data(k), found.data[static_cast<size_t>(k)], size);
  }
  return out;
}

void ColumnReader::copy_truths(uint8_t* out, int64_t count) {
  if (kind_ == Values::runs) {
    for (const uint32_t value : next_indices(count)) *out++ = static_cast<uint8_t>(value);
    return;
  }
  for (const int64_t end = bit_ + count; bit_ < end; bit_++) {
    *out++ = plain_[static_cast<size_t>(bit_ >> 3)] >> (bit_ & 7) & 1;
  }
}

void ColumnReader::copy_numbers(uint8_t* out, int64_t count) {
  const size_t item = dtype_size(chunk_.dtype);
  if (kind_ == Values::plain) {
    const auto width = static_cast<size_t>(file_width());
    convert_numbers(out, plain_.data(), static_cast<size_t>(count), width, item);
    plain_ = plain_.subspan(static_cast<size_t>(count) * width);
    return;
  }
  const std::span<const uint32_t> indices = next_indices(count);
  const uint32_t largest = *std::max_element(indices.begin(), indices.end());
  if (largest >= dictionary_size_) throw Undecoded("an index is too large");
  const uint8_t* table = dictionary_numbers_.data();
  switch (item) {
    case 1:
      return gather<uint8_t>(out, table, indices);
    case 2:
      return gather<uint16_t>(out, table, indices);
    case 4:
      return gather<uint32_t>(out, table, indices);
    default:
      return gather<uint64_t>(out, table, indices);
  }
}

Samples ColumnReader::read_numbers(int64_t rows) {
  Samples samples = Samples::empty(chunk_.dtype, 0, {}, "", rows);
  const auto item = static_cast<int64_t>(dtype_size(chunk_.dtype));
  for (int64_t done = 0; done < rows;) {
    if (page_left_ == 0) load_page();
    const int64_t count = std::min(rows - done, page_left_);
    uint8_t* out = samples.data<uint8_t>(0) + done * item;
    chunk_.type == ValueType::boolean ? copy_truths(out, count) : copy_numbers(out, count);
    page_left_ -= count;
    left_ -= count;
    done += count;
  }
  return samples;
}

Samples ColumnReader::read(int64_t rows) {
  if (rows < 1 || rows > left_) throw Undecoded("a column has fewer rows");
  return are_vectors() ? read_vectors(rows) : read_numbers(rows);
}

}  // namespace daliesque::parquet
