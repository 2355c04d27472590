// SPDX-License-Identifier: Apache-2.0
#include "image/extreme_filter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/simd.h"

namespace daliesque::image {

namespace {

// What the rows of a strip may occupy of the fastest cache, and how short they may become.
constexpr int64_t kExtremeStripBytes = 24 << 10, kExtremeRowBytes = 4 << 10;
// Windows of this many pixels in a row are made up of so many of a quarter of their length.
constexpr int64_t kParts = 4;

bool is_signed_type(DType type) {
  return type == DType::int8 || type == DType::int16 || type == DType::int32 ||
         type == DType::int64;
}

bool is_floating_type(DType type) {
  return type == DType::float16 || type == DType::bfloat16 || type == DType::float32 ||
         type == DType::float64;
}

/// The unsigned type that stores the bits of values of a type.
DType stored_bits(DType type) {
  const size_t size = dtype_size(type);
  return size == 1   ? DType::uint8
         : size == 2 ? DType::uint16
         : size == 4 ? DType::uint32
                     : DType::uint64;
}

}  // namespace

ExtremeFilter::ExtremeFilter(const FilterShape& shape, DType type, const RankFilter& arguments,
                             int64_t i)
    : shape_(shape),
      border_(arguments.border),
      floating_(is_floating_type(type)),
      size_(static_cast<int64_t>(dtype_size(type))),
      width_(arguments.window.row(i)[0]),
      height_(arguments.window.row(i)[1]),
      anchor_x_(arguments.anchor.row(i)[0]),
      anchor_y_(arguments.anchor.row(i)[1]),
      loops_(DALIESQUE_CHOOSE_512(find_extreme_loops(static_cast<int>(size_),
                                                     floating_ || is_signed_type(type),
                                                     arguments.rank == Rank::largest))),
      reader_(stored_bits(type), stored_bits(type), border_) {
  int64_t length = 1;
  while (length < width_) {
    Pass pass{};
    const bool last = width_ <= kMostExtremeRows * length;
    pass.length = last ? width_ : kParts * length;
    for (int64_t at = 0; at < pass.length; at += length) {
      pass.offsets[pass.inputs++] = std::min(at, pass.length - length);
    }
    passes_.push_back(pass);
    length = pass.length;
  }
}

void ExtremeFilter::run(std::byte* out, const std::byte* in, int64_t begin, int64_t end) {
  const int64_t bytes = std::max(kExtremeStripBytes / (2 * height_), kExtremeRowBytes);
  for_strips(shape_.width, shape_.channels * size_, bytes, [&](int64_t first, int64_t last) {
    prepare(first, last);
    std::byte* to = out + first * shape_.channels * size_;
    if (height_ <= kMostExtremeRows) {
      run_few_rows(to, in, begin, end);
    } else {
      run_blocks(to, in, begin, end);
    }
  });
}

void ExtremeFilter::prepare(int64_t first, int64_t last) {
  constexpr int64_t kLine = 64;
  first_ = first - anchor_x_;
  last_ = last - anchor_x_ + width_ - 1;
  count_ = (last - first) * shape_.channels;
  stride_ = (count_ * size_ + kLine - 1) / kLine * kLine;
  reader_.choose(shape_.width, shape_.channels, first_, last_);
  line_.require((last_ - first_) * shape_.channels * size_);
  other_line_.require((last_ - first_) * shape_.channels * size_);
  rows_.require(2 * height_ * stride_);
  prefix_.require(stride_);
}

void ExtremeFilter::run_few_rows(std::byte* out, const std::byte* in, int64_t begin, int64_t end) {
  const auto slot = [&](int64_t y) { return rows_.data() + y % height_ * stride_; };
  int64_t next = begin;
  for (int64_t y = begin; y < end; y++) {
    for (; next < y + height_; next++) find_along_row(slot(next), in, next);
    const void* rows[kMostExtremeRows] = {};
    for (int64_t k = 0; k < height_; k++) rows[k] = slot(y + k);
    std::byte* to = out + y * shape_.row() * size_;
    loops_.combine(to, rows, static_cast<int>(height_), count_);
    finish(to);
  }
}

void ExtremeFilter::run_blocks(std::byte* out, const std::byte* in, int64_t begin, int64_t end) {
  std::byte *block = rows_.data(), *next_block = block + height_ * stride_;
  for (int64_t k = 0; k < height_; k++) find_along_row(block + k * stride_, in, begin + k);
  for (int64_t first = begin; first < end; first += height_) {
    // From each row to the end of the block.
    for (int64_t k = height_ - 2; k >= 0; k--) {
      std::byte* row = block + k * stride_;
      const void* both[] = {row, row + stride_};
      loops_.combine(row, both, 2, count_);
    }
    loops_.fill(prefix_.data(), count_);
    for (int64_t k = 0; k < height_ && first + k < end; k++) {
      std::byte* to = out + (first + k) * shape_.row() * size_;
      if (k == 0) {
        std::memcpy(to, block, static_cast<size_t>(count_ * size_));
      } else {
        loops_.extend(to, prefix_.data(), next_block + (k - 1) * stride_, block + k * stride_,
                      count_);
      }
      finish(to);
      find_along_row(next_block + k * stride_, in, first + height_ + k);
    }
    std::swap(block, next_block);
  }
}

void ExtremeFilter::find_along_row(std::byte* out, const std::byte* in, int64_t y) {
  const int64_t source = border_index(y - anchor_y_, shape_.height, border_);
  if (source == kOutside) return loops_.fill(out, count_);
  prefetch_after(in, source, shape_, size_, first_, last_);
  read(in + source * shape_.row() * size_);
  const int64_t channels = shape_.channels;
  const std::byte* from = line_.data();
  if (passes_.empty()) std::memcpy(out, from, static_cast<size_t>(count_ * size_));
  for (size_t p = 0; p < passes_.size(); p++) {
    const Pass& pass = passes_[p];
    std::byte* to = p + 1 == passes_.size() ? out
                    : from == line_.data()  ? other_line_.data()
                                            : line_.data();
    const void* inputs[kMostExtremeRows] = {};
    for (int k = 0; k < pass.inputs; k++) inputs[k] = from + pass.offsets[k] * channels * size_;
    loops_.combine(to, inputs, pass.inputs, count_ + (width_ - pass.length) * channels);
    from = to;
  }
}

/// Brings the part of a row that the strip needs into line_.
void ExtremeFilter::read(const std::byte* row) {
  const int64_t channels = shape_.channels;
  if (border_ != Border::constant) {
    reader_.read(line_.data(), row, nullptr);
    if (floating_) loops_.flip(line_.data(), (last_ - first_) * channels);
    return;
  }
  const int64_t begin = std::clamp<int64_t>(0, first_, last_);
  const int64_t end = std::clamp<int64_t>(shape_.width, begin, last_);
  const auto at = [&](int64_t x) { return line_.data() + (x - first_) * channels * size_; };
  std::memcpy(at(begin), row + begin * channels * size_,
              static_cast<size_t>((end - begin) * channels * size_));
  if (floating_) loops_.flip(at(begin), (end - begin) * channels);
  loops_.fill(at(first_), (begin - first_) * channels);
  loops_.fill(at(end), (last_ - end) * channels);
}

void ExtremeFilter::finish(std::byte* out) const {
  if (floating_) loops_.flip(out, count_);
}

}  // namespace daliesque::image
