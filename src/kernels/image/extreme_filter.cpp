// SPDX-License-Identifier: Apache-2.0
#include "image/extreme_filter.h"

#include <algorithm>
#include <cstring>

#include "core/simd.h"
#include "core/stream.h"

namespace daliesque::image {

namespace {

// What the rows of a strip may occupy of the fastest cache, and how short they may become.
constexpr int64_t kExtremeStripBytes = 24 << 10, kExtremeRowBytes = 4 << 10;
// Windows of this many pixels in a row are made up of so many of a quarter of their length.
constexpr int64_t kParts = 4;
// Taller windows take less time in blocks.
constexpr int64_t kMostGroupedHeight = 40;
constexpr int64_t kLine = 64;

int64_t whole_lines(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

bool is_signed_type(DType type) {
  return type == DType::int8 || type == DType::int16 || type == DType::int32 ||
         type == DType::int64;
}

bool is_floating_type(DType type) {
  return type == DType::float16 || type == DType::bfloat16 || type == DType::float32 ||
         type == DType::float64;
}

}  // namespace

ExtremeFilter::ExtremeFilter(const FilterShape& shape, DType type, const RankFilter& arguments,
                             int64_t i, bool streamed)
    : shape_(shape),
      border_(arguments.border),
      floating_(is_floating_type(type)),
      streamed_(streamed),
      size_(static_cast<int64_t>(dtype_size(type))),
      pixel_(shape.channels * size_),
      width_(arguments.window.row(i)[0]),
      height_(arguments.window.row(i)[1]),
      anchor_x_(arguments.anchor.row(i)[0]),
      anchor_y_(arguments.anchor.row(i)[1]),
      tall_(height_ > kMostGroupedHeight),
      slots_(tall_ ? 2 * height_ : height_ + kMostExtremeRows - 1),
      loops_(DALIESQUE_CHOOSE_512(find_extreme_loops(static_cast<int>(size_),
                                                     floating_ || is_signed_type(type),
                                                     arguments.rank == Rank::largest))) {
  int64_t length = 1;
  while (length < width_) {
    Pass pass{};
    const bool last = width_ <= kMostExtremeInputs * length;
    pass.length = last ? width_ : kParts * length;
    for (int64_t at = 0; at < pass.length; at += length) {
      pass.offsets[pass.inputs++] = std::min(at, pass.length - length);
    }
    passes_.push_back(pass);
    length = pass.length;
  }
}

void ExtremeFilter::run(std::byte* out, const std::byte* in, int64_t begin, int64_t end) {
  for_strips(shape_.width, pixel_, strip_bytes(), [&](int64_t first, int64_t last) {
    prepare(first, last);
    std::byte* to = out + first * pixel_;
    if (tall_) {
      run_blocks(to, in, begin, end);
    } else {
      run_groups(to, in, begin, end);
    }
  });
}

int64_t ExtremeFilter::strip_bytes() const {
  constexpr int64_t kBlock = 64;
  // Borders repeat pixels of their own strip: with `wrap` those of the other end of the image, else
  // none farther from its end than the window is wide. Strips may be half as long as asked for, but
  // for parts of blocks.
  if (border_ == Border::wrap) return (shape_.width + kBlock) * pixel_;
  const int64_t least = border_ == Border::constant ? 0 : 2 * (width_ + 3 * kBlock) * pixel_;
  return std::max({kExtremeStripBytes / (2 * height_), kExtremeRowBytes, least});
}

void ExtremeFilter::prepare(int64_t first, int64_t last) {
  first_ = first - anchor_x_;
  last_ = last - anchor_x_ + width_ - 1;
  begin_ = std::max<int64_t>(0, first_);
  end_ = std::min(shape_.width, last_);
  count_ = (last - first) * shape_.channels;
  read_count_ = (end_ - begin_) * shape_.channels;
  row_stride_ = whole_lines(read_count_ * size_);
  margin_ = whole_lines((begin_ - first_) * pixel_);
  line_stride_ = margin_ + whole_lines((last_ - begin_) * pixel_);
  lines_.require(kMostExtremeRows * line_stride_);
  for (Scratch<std::byte>& part : parts_) part.require(line_stride_);
  if (floating_ || tall_) rows_.require(slots_ * row_stride_);
  prefix_.require(row_stride_);
  nothing_.require(row_stride_);
  loops_.fill(nothing_.data(), read_count_);
  repeated_.clear();
  if (border_ == Border::constant) return;
  const auto repeat = [&](int64_t x) {
    repeated_.emplace_back(x - begin_, border_index(x, shape_.width, border_) - begin_);
  };
  for (int64_t x = first_; x < begin_; x++) repeat(x);
  for (int64_t x = end_; x < last_; x++) repeat(x);
}

void ExtremeFilter::run_groups(std::byte* out, const std::byte* in, int64_t begin, int64_t end) {
  const int64_t step = extreme_rows(height_);
  int64_t next = begin;
  inputs_.clear();
  for (int64_t y = begin; y < end; y += kMostExtremeRows) {
    if (y > begin) inputs_.erase(inputs_.begin(), inputs_.begin() + kMostExtremeRows);
    for (; next < y + height_ + kMostExtremeRows - 1; next++) inputs_.push_back(source(in, next));
    // What reads a line waits for its stores: other lines come between. Those that lie beyond the
    // last row are dropped.
    const int64_t rows = std::min<int64_t>(kMostExtremeRows, end - y);
    for (int64_t k = 0; k < rows; k += step) {
      loops_.combine_rows(line(k), line_stride_, inputs_.data() + k, height_, read_count_);
    }
    for (int64_t k = 0; k < rows; k++) {
      prefetch(in, next + k);
      finish(out + (y + k) * shape_.row() * size_, line(k));
    }
  }
}

void ExtremeFilter::run_blocks(std::byte* out, const std::byte* in, int64_t begin, int64_t end) {
  for (int64_t first = begin; first < end; first += height_) {
    // From each row to the end of the block.
    inputs_.assign(static_cast<size_t>(height_), source(in, first + height_ - 1));
    for (int64_t k = height_ - 2; k >= 0; k--) {
      const void* both[] = {source(in, first + k), inputs_[static_cast<size_t>(k) + 1]};
      loops_.combine(slot(first + k), both, 2, read_count_, false);
      inputs_[static_cast<size_t>(k)] = slot(first + k);
    }
    loops_.fill(prefix_.data(), read_count_);
    for (int64_t k = 0; k < std::min(height_, end - first); k++) {
      const void* suffix = inputs_[static_cast<size_t>(k)];
      prefetch(in, first + height_ + k);
      if (k == 0) {
        std::memcpy(line(0), suffix, static_cast<size_t>(read_count_ * size_));
      } else {
        loops_.extend(line(0), prefix_.data(), source(in, first + height_ + k - 1), suffix,
                      read_count_);
      }
      finish(out + (first + k) * shape_.row() * size_, line(0));
    }
  }
}

/// What the strip needs of the row that window row `y` (counted from the first one under the window
/// for output row 0) lies over.
const std::byte* ExtremeFilter::source(const std::byte* in, int64_t y) const {
  const int64_t row = border_index(y - anchor_y_, shape_.height, border_);
  if (row == kOutside) return nothing_.data();
  const std::byte* from = in + (row * shape_.width + begin_) * pixel_;
  if (!floating_) return from;
  loops_.flip(slot(y), from, read_count_, false);
  return slot(y);
}

/// Finds the extremes along a line, and so a row of the result.
void ExtremeFilter::finish(std::byte* out, std::byte* line) const {
  const int64_t channels = shape_.channels;
  std::byte* from = line - (begin_ - first_) * pixel_;
  if (border_ == Border::constant) {
    loops_.fill(from, (begin_ - first_) * channels);
    loops_.fill(line + (end_ - begin_) * pixel_, (last_ - end_) * channels);
  }
  for (const auto& [to, pixel] : repeated_) {
    std::memcpy(line + to * pixel_, line + pixel * pixel_, static_cast<size_t>(pixel_));
  }
  for (size_t p = 0; p < passes_.size(); p++) {
    const Pass& pass = passes_[p];
    const bool direct = !floating_ && p + 1 == passes_.size();
    std::byte* to = direct ? out : parts_[p % 2].data();
    const void* inputs[kMostExtremeInputs] = {};
    for (int k = 0; k < pass.inputs; k++) inputs[k] = from + pass.offsets[k] * pixel_;
    loops_.combine(to, inputs, pass.inputs, count_ + (width_ - pass.length) * channels,
                   direct && streamed_);
    from = to;
  }
  if (floating_) {
    loops_.flip(out, from, count_, streamed_);
  } else if (passes_.empty()) {
    copy_bytes(out, from, static_cast<size_t>(count_ * size_), streamed_);
  }
}

}  // namespace daliesque::image
