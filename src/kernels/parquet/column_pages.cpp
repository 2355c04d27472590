// SPDX-License-Identifier: Apache-2.0
#include "parquet/column_pages.h"

#include <algorithm>

#include "parquet/snappy.h"

namespace daliesque::parquet {

namespace {

// Small columns are read at once with this; of large ones it is the header, with statistics, and
// the first part of a page.
constexpr int64_t kWindow = 1 << 14;
constexpr int64_t kLargestHeader = 1 << 24;

// No format packs bytes more densely; what a header says must not make us allocate more.
constexpr int64_t kDensest = 1100;

// What is read begins at the same offset within a cache line as in the file: see archives.cpp.
constexpr int64_t kCacheLine = 64;

}  // namespace

ColumnPages::ColumnPages(files::SourceHandle source, int64_t offset, int64_t size, Codec codec)
    : source_(std::move(source)), position_(offset), end_(offset), codec_(codec) {
  if (offset < 0 || size < 0 || offset > source_->size() - size) throw CutShort();
  end_ = offset + size;
}

void ColumnPages::fill_window(int64_t size) {
  size = std::min(size, end_ - position_);
  const int64_t lead = position_ % kCacheLine;
  if (lead + size > window_capacity_) {
    window_capacity_ = lead + size;
    window_ = allocate(static_cast<size_t>(window_capacity_));
  }
  window_begin_ = position_ - lead;
  window_end_ = position_;
  source_->read_at(position_, size, static_cast<char*>(window_.get()) + lead);
  window_end_ = position_ + size;
}

bool ColumnPages::parse_header() {
  const auto* bytes = static_cast<const uint8_t*>(window_.get()) + (position_ - window_begin_);
  const auto size = static_cast<size_t>(window_end_ - position_);
  Cursor cursor({bytes, size});
  try {
    header_ = read_page_header(cursor);
  } catch (const CutShort&) {
    return false;
  }
  position_ += static_cast<int64_t>(size - cursor.left());
  return true;
}

const std::optional<PageHeader>& ColumnPages::header() {
  if (header_ || position_ == end_) return header_;
  if (position_ >= window_end_) fill_window(kWindow);
  while (!parse_header()) {
    const int64_t known = window_end_ - position_;
    if (window_end_ == end_ || known > kLargestHeader) throw CutShort();
    fill_window(known < kWindow ? kWindow : 4 * known);
  }
  if (header_->packed_size > end_ - position_) throw CutShort();
  return header_;
}

void ColumnPages::skip() {
  position_ += header_->packed_size;
  header_.reset();
}

/// The bytes of the page as they are in the file: in the window, unless they have to be in
/// `memory`, or there, which is replaced if it is smaller.
Bytes ColumnPages::read_page(Buffer& memory, size_t& memory_size, bool may_be_in_window) {
  const int64_t size = header_->packed_size, lead = position_ % kCacheLine;
  const int64_t known = std::clamp<int64_t>(window_end_ - position_, 0, size);
  const auto* window = static_cast<const uint8_t*>(window_.get()) + (position_ - window_begin_);
  if (known == size && may_be_in_window) return {window, static_cast<size_t>(size)};
  const auto needed = static_cast<size_t>(lead + size + 1);
  if (!memory || needed > memory_size) {
    memory = allocate(needed);
    memory_size = needed;
  }
  uint8_t* out = static_cast<uint8_t*>(memory.get()) + lead;
  if (known > 0) std::memcpy(out, window, static_cast<size_t>(known));
  if (known < size) {
    source_->read_at(position_ + known, size - known, reinterpret_cast<char*>(out) + known);
  }
  return {out, static_cast<size_t>(size)};
}

/// Decompresses the page while it is being read.
void ColumnPages::unpack_snappy(uint8_t* out, size_t size) {
  const int64_t known = std::clamp<int64_t>(window_end_ - position_, 0, header_->packed_size);
  const auto* window = static_cast<const uint8_t*>(window_.get()) + (position_ - window_begin_);
  const SnappyInput block{{window, static_cast<size_t>(known)},
                          source_.get(),
                          position_ + known,
                          header_->packed_size - known};
  decompress_snappy(block, out, size);
}

Page ColumnPages::load() {
  const PageHeader& header = *header_;
  const int64_t levels = header.definition_size + header.repetition_size;
  const auto unpacked = static_cast<size_t>(header.unpacked_size);
  if (header.unpacked_size > kDensest * (header.packed_size + 1) ||
      levels > std::min(header.packed_size, header.unpacked_size)) {
    throw Undecoded("the sizes of a page contradict each other");
  }
  Page page;
  if (codec_ == Codec::none) {
    if (header.packed_size != header.unpacked_size) throw Undecoded("a page has another size");
    page.values = read_page(page.memory, page.memory_size, false);
  } else {
    page.memory_size = unpacked + kDecompressSlack;
    page.memory = allocate(page.memory_size);
    auto* out = static_cast<uint8_t*>(page.memory.get());
    if (codec_ == Codec::snappy && levels == 0 && header.is_compressed) {
      unpack_snappy(out, unpacked);
    } else {
      const Bytes bytes = read_page(packed_, packed_capacity_, true);
      const auto apart = static_cast<size_t>(levels);
      std::copy_n(bytes.begin(), apart, out);
      decompress(header.is_compressed ? codec_ : Codec::none, bytes.subspan(apart), out + apart,
                 unpacked - apart);
    }
    page.values = {out, unpacked};
  }
  const auto repetitions = static_cast<size_t>(header.repetition_size);
  page.repetitions = page.values.first(repetitions);
  page.definitions = page.values.subspan(repetitions, static_cast<size_t>(header.definition_size));
  page.values = page.values.subspan(static_cast<size_t>(levels));
  skip();
  return page;
}

}  // namespace daliesque::parquet
