// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.h"
#include "core/simd.h"
#include "resize/nearest.h"
#include "resize/resize.h"
#include "resize/resize_loops.h"

namespace daliesque::resize {

namespace {

/// From this many channels on, a pixel is long enough to be blended like a row.
constexpr int64_t kWidePixel = 16;

/// Beyond, the rounding of 16-bit weights could add up to a visible error.
constexpr int kMaxFixedTaps = 64;
constexpr float kMaxFixedGain = 1.9f;

const FloatResizeLoops& float_loops() { return DALIESQUE_CHOOSE(float_resize_loops); }
const FixedResizeLoops& fixed_loops() { return DALIESQUE_CHOOSE_512(fixed_resize_loops); }

/// Memory that a thread keeps from one image to the next.
class Workspace {
 public:
  static constexpr size_t kAlignment = 64;

  template <class T>
  T* array(int64_t count) {
    const size_t begin = used_;
    used_ += (static_cast<size_t>(count) * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<T*>(memory_.get() + begin);
  }

  /// Drops earlier arrays and reserves `bytes` in all for new ones.
  void reserve(size_t bytes, int arrays) {
    used_ = 0;
    bytes += static_cast<size_t>(arrays) * kAlignment;
    if (bytes <= size_) return;
    memory_.reset();
    memory_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{kAlignment})));
    size_ = bytes;
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const {
      ::operator delete(memory, std::align_val_t{kAlignment});
    }
  };
  std::unique_ptr<std::byte, Free> memory_;
  size_t size_ = 0, used_ = 0;
};

Workspace& workspace() {
  thread_local Workspace memory;
  return memory;
}

FloatResizeLoops::BlendRows blend_kernel(PixelType out, PixelType in) {
  return float_loops().blend_rows[static_cast<int>(out)][static_cast<int>(in)];
}

/// A horizontal pass in single precision between given types.
class ColumnPass {
 public:
  ColumnPass(const AxisTable& table, int64_t channels, PixelType out, PixelType in)
      : columns_(float_columns(table, channels)),
        out_size_(size_of(out)),
        in_size_(size_of(in)),
        blend_(blend_kernel(out, in)),
        resample_(float_loops().resample_columns[static_cast<int>(out)][static_cast<int>(in)]) {
    if (channels >= kWidePixel) pixels_.resize(static_cast<size_t>(columns_.taps));
  }

  size_t scratch() const { return pixels_.empty() ? column_scratch(columns_) : 0; }

  void run(void* const* out, const void* const* in, int count, void* scratch) {
    if (pixels_.empty()) return resample_(out, in, count, columns_, scratch);
    const int64_t channels = columns_.channels;
    for (int r = 0; r < count; r++) {
      for (int64_t x = 0; x < columns_.out_size; x++) {
        const auto* first =
            static_cast<const std::byte*>(in[r]) + columns_.start[x] * channels * in_size_;
        for (size_t k = 0; k < pixels_.size(); k++) {
          pixels_[k] = first + static_cast<int64_t>(k) * channels * in_size_;
        }
        blend_(static_cast<std::byte*>(out[r]) + x * channels * out_size_,
               {pixels_.data(), columns_.weights + x * columns_.taps, columns_.taps}, channels);
      }
    }
  }

 private:
  Columns<float> columns_;
  int64_t out_size_, in_size_;
  FloatResizeLoops::BlendRows blend_;
  FloatResizeLoops::ResampleColumns resample_;
  std::vector<const void*> pixels_;
};

/// Input rows are fetched into the cache this many output rows ahead of their use: they are too
/// short for the processor to notice a pattern.
constexpr int64_t kAhead = 4;

/// The rows that output row y needs and the one before does not.
InputRange new_rows(const AxisTable& table, int64_t y) {
  if (y >= table.out_size) return {0, 0};
  const int64_t now = table.start[static_cast<size_t>(y)];
  const int64_t before = table.start[static_cast<size_t>(y - 1)];
  if (now > before) return {std::max(now, before + table.taps), now + table.taps};
  return {now, std::min(now + table.taps, before)};
}

/// Pointers to the input rows that make an output row.
template <class Pixel>
class RowPointers {
 public:
  /// `count` may exceed the number of taps; pointers beyond (their weights are zero) repeat the
  /// last one.
  RowPointers(const AxisTable& table, int64_t count, SourceRows in, int64_t offset)
      : table_(table), in_(in), offset_(offset), rows_(static_cast<size_t>(count)) {}

  /// The taps of row y, with `taps` of these weights.
  template <class Weight>
  RowTaps<Pixel, Weight> at(int64_t y, const Weight* weights, int taps) {
    const int64_t first = table_.start[static_cast<size_t>(y)];
    for (size_t k = 0; k < rows_.size(); k++) {
      rows_[k] = row(std::min(first + static_cast<int64_t>(k), first + table_.taps - 1));
    }
    const InputRange ahead = new_rows(table_, y + kAhead);
    ahead_.clear();
    for (int64_t k = ahead.begin; k < ahead.end; k++) ahead_.push_back(row(k));
    return {rows_.data(), weights + y * taps, taps, ahead_.data(), static_cast<int>(ahead_.size())};
  }

 private:
  const Pixel* row(int64_t k) const {
    return reinterpret_cast<const Pixel*>(in_[table_.first + k] + offset_);
  }

  const AxisTable& table_;
  SourceRows in_;
  int64_t offset_;
  std::vector<const Pixel*> rows_, ahead_;
};

/// Blends `count` values of uint8 rows in fixed point.
class FixedRows {
 public:
  FixedRows(const AxisTable& table, SourceRows in, int64_t offset, int64_t count)
      : table_(table),
        pairs_(table.negative ? &table.row_pairs() : nullptr),
        rows_(table, pairs_ ? 2 * pairs_->pairs : table.taps, in, offset),
        count_(count) {}

  void blend(uint8_t* out, int64_t y) {
    pairs_ ? fixed_loops().blend_signed(out, pairs_at(y), pairs_->bits, count_)
           : fixed_loops().blend_unsigned(out, weights_at(y), count_);
  }
  void blend(int16_t* out, int64_t y) {
    const int shift = pairs_ ? pairs_->bits - kSignedFraction : 0;
    pairs_ ? fixed_loops().blend_signed_wide(out, pairs_at(y), shift, count_)
           : fixed_loops().blend_unsigned_wide(out, weights_at(y), count_);
  }

 private:
  FixedResizeLoops::SignedTaps pairs_at(int64_t y) {
    return rows_.at(y, pairs_->weights.data(), pairs_->pairs);
  }
  FixedResizeLoops::UnsignedTaps weights_at(int64_t y) {
    return rows_.at(y, table_.row_weights().data(), table_.taps);
  }

  const AxisTable& table_;
  const PairTable* pairs_;
  RowPointers<uint8_t> rows_;
  int64_t count_;
};

/// Blends `count` values of rows in single precision.
class FloatRows {
 public:
  FloatRows(const AxisTable& table, SourceRows in, int64_t offset, int64_t count, PixelType out,
            PixelType in_type)
      : table_(table),
        rows_(table, table.taps, in, offset),
        blend_(blend_kernel(out, in_type)),
        count_(count) {}

  void blend(void* out, int64_t y) {
    blend_(out, rows_.at(y, table_.weights.data(), table_.taps), count_);
  }

 private:
  const AxisTable& table_;
  RowPointers<void> rows_;
  FloatResizeLoops::BlendRows blend_;
  int64_t count_;
};

/// Fills a group of row pointers, repeating the last of `count` rows.
template <class Pointer, class Row>
void fill_group(Pointer (&pointers)[kRowGroup], int64_t count, Row&& row) {
  for (int64_t r = 0; r < kRowGroup; r++) pointers[r] = row(std::min(r, count - 1));
}

PixelType pixel_type(DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return PixelType::uint8;
    case DType::uint16:
      return PixelType::uint16;
    case DType::int16:
      return PixelType::int16;
    case DType::float32:
      return PixelType::float32;
    default:
      throw UsageError(std::string("cannot resample ") + dtype_name(dtype));
  }
}

}  // namespace

ImageResizer::ImageResizer(TablePtr rows, TablePtr columns, bool rows_first, int64_t channels,
                           DType in, DType out)
    : rows_(std::move(rows)),
      columns_(std::move(columns)),
      rows_first_(rows_first),
      channels_(channels),
      in_(pixel_type(in)),
      out_(pixel_type(out)) {
  if (in_ != out_ && out_ != PixelType::float32 && in_ != PixelType::float32) {
    throw UsageError("resampling cannot convert one integer type to another");
  }
}

ImageResizer::ImageResizer(const ResamplePlan& plan, int64_t channels, DType in, DType out)
    : ImageResizer(plan.axes[0], plan.axes[1], plan.order[0] == 0, channels, in, out) {}

ImageResizer::ImageResizer(const AxisRequest& rows, const AxisRequest& columns, int64_t channels,
                           DType in, DType out)
    : ImageResizer(make_resample_plan(std::array{rows, columns}), channels, in, out) {}

bool ImageResizer::fits_fixed() const {
  const auto fits = [](const AxisTable& table) {
    return table.taps <= kMaxFixedTaps && table.gain <= kMaxFixedGain;
  };
  return in_ == PixelType::uint8 && out_ == PixelType::uint8 && fits(*rows_) && fits(*columns_) &&
         (columns_->identity || channels_ <= kMaxFixedChannels);
}

void ImageResizer::run(TargetRows out, SourceRows in, int64_t begin, int64_t end) const {
  if (begin >= end || width() == 0 || channels_ == 0) return;
  if (rows_->nearest && columns_->nearest && (in_ == out_ || out_ == PixelType::float32)) {
    run_nearest(out, in, begin, end);
  } else if (columns_->identity) {
    fits_fixed() ? run_fixed_rows(out, in, begin, end) : run_rows(out, in, begin, end);
  } else if (fits_fixed()) {
    run_fixed(out, in, begin, end);
  } else if (rows_->identity) {
    run_columns(out, in, begin, end);
  } else if (rows_first_) {
    run_rows_first(out, in, begin, end);
  } else {
    run_columns_first(out, in, begin, end);
  }
}

void ImageResizer::run_nearest(TargetRows out, SourceRows in, int64_t begin, int64_t end) const {
  const auto row_bytes = static_cast<size_t>(width() * channels_ * size_of(out_));
  const int64_t offset = columns_->first * channels_ * size_of(in_);
  const int64_t source_bytes = (columns_->last - columns_->first) * channels_ * size_of(in_);
  const PickRow pick = find_pick_loop(out_, in_, channels_);
  const bool copy = columns_->identity && in_ == out_;
  int32_t last_row = -1;
  for (int64_t y = begin; y < end; y++) {
    const int32_t row = rows_->start[static_cast<size_t>(y)];
    const std::byte* from = in[rows_->first + row] + offset;
    const InputRange ahead = new_rows(*rows_, y + kAhead);
    for (int64_t k = ahead.begin; k < ahead.end; k++) {
      const std::byte* data = in[rows_->first + k] + offset;
      for (int64_t i = 0; i < source_bytes; i += 64) __builtin_prefetch(data + i, 0, 2);
    }
    if (copy) {
      std::memcpy(out[y], from, row_bytes);
    } else if (row == last_row) {
      std::memcpy(out[y], out[y - 1], row_bytes);
    } else {
      pick.run(out[y], from, *columns_, pick.size);
    }
    last_row = row;
  }
}

void ImageResizer::run_fixed_rows(TargetRows out, SourceRows in, int64_t begin, int64_t end) const {
  FixedRows rows(*rows_, in, 0, width() * channels_);
  for (int64_t y = begin; y < end; y++) rows.blend(reinterpret_cast<uint8_t*>(out[y]), y);
}

void ImageResizer::run_fixed(TargetRows out, SourceRows in, int64_t begin, int64_t end) const {
  const Columns<int32_t> columns = fixed_columns(*columns_, channels_, !rows_->negative);
  const int64_t count = (columns_->last - columns_->first) * channels_;
  const int64_t stride = count + kRowPadding;
  Workspace& memory = workspace();
  memory.reserve(
      static_cast<size_t>(stride) * kRowGroup * sizeof(int16_t) + column_scratch(columns), 2);
  auto* blended = memory.array<int16_t>(stride * kRowGroup);
  auto* scratch = memory.array<std::byte>(static_cast<int64_t>(column_scratch(columns)));
  const int16_t* sources[kRowGroup];
  uint8_t* targets[kRowGroup];
  FixedRows rows(*rows_, in, columns_->first * channels_, count);
  for (int64_t y = begin; y < end; y += kRowGroup) {
    const int64_t group = std::min<int64_t>(kRowGroup, end - y);
    for (int64_t r = 0; r < group; r++) rows.blend(blended + r * stride, y + r);
    fill_group(sources, group, [&](int64_t r) { return blended + r * stride; });
    fill_group(targets, group, [&](int64_t r) { return reinterpret_cast<uint8_t*>(out[y + r]); });
    fixed_loops().resample_columns(targets, sources, static_cast<int>(group), columns, scratch);
  }
}

void ImageResizer::run_rows(TargetRows out, SourceRows in, int64_t begin, int64_t end) const {
  FloatRows rows(*rows_, in, 0, width() * channels_, out_, in_);
  for (int64_t y = begin; y < end; y++) rows.blend(out[y], y);
}

void ImageResizer::run_columns(TargetRows out, SourceRows in, int64_t begin, int64_t end) const {
  ColumnPass pass(*columns_, channels_, out_, in_);
  Workspace& memory = workspace();
  memory.reserve(pass.scratch(), 1);
  auto* scratch = memory.array<std::byte>(static_cast<int64_t>(pass.scratch()));
  const int64_t offset = columns_->first * channels_ * size_of(in_);
  const void* rows[kRowGroup];
  void* targets[kRowGroup];
  for (int64_t y = begin; y < end; y += kRowGroup) {
    const int64_t group = std::min<int64_t>(kRowGroup, end - y);
    fill_group(rows, group, [&](int64_t r) { return in[y + r] + offset; });
    fill_group(targets, group, [&](int64_t r) { return out[y + r]; });
    pass.run(targets, rows, static_cast<int>(group), scratch);
  }
}

void ImageResizer::run_rows_first(TargetRows out, SourceRows in, int64_t begin, int64_t end) const {
  ColumnPass pass(*columns_, channels_, out_, PixelType::float32);
  const int64_t count = (columns_->last - columns_->first) * channels_;
  Workspace& memory = workspace();
  memory.reserve(static_cast<size_t>(count * kRowGroup) * sizeof(float) + pass.scratch(), 2);
  auto* blended = memory.array<float>(count * kRowGroup);
  auto* scratch = memory.array<std::byte>(static_cast<int64_t>(pass.scratch()));
  const void* sources[kRowGroup];
  void* targets[kRowGroup];
  FloatRows rows(*rows_, in, columns_->first * channels_ * size_of(in_), count, PixelType::float32,
                 in_);
  for (int64_t y = begin; y < end; y += kRowGroup) {
    const int64_t group = std::min<int64_t>(kRowGroup, end - y);
    for (int64_t r = 0; r < group; r++) rows.blend(blended + r * count, y + r);
    fill_group(sources, group, [&](int64_t r) { return blended + r * count; });
    fill_group(targets, group, [&](int64_t r) { return out[y + r]; });
    pass.run(targets, sources, static_cast<int>(group), scratch);
  }
}

/// Input rows are resampled horizontally in groups, as output rows come to need them, into a ring
/// of float rows. Mirrored images are made bottom up, so that input rows are always met in order.
void ImageResizer::run_columns_first(TargetRows out, SourceRows in, int64_t begin,
                                     int64_t end) const {
  ColumnPass pass(*columns_, channels_, PixelType::float32, in_);
  const auto blend = blend_kernel(out_, PixelType::float32);
  const int64_t count = width() * channels_;
  const int64_t offset = columns_->first * channels_ * size_of(in_);
  const int64_t available = rows_->last - rows_->first;
  const int64_t slots = std::min<int64_t>(rows_->taps + kRowGroup, available) + kRowGroup;
  Workspace& memory = workspace();
  memory.reserve(static_cast<size_t>(slots * count) * sizeof(float) + pass.scratch(), 2);
  auto* ring = memory.array<float>(slots * count);
  auto* scratch = memory.array<std::byte>(static_cast<int64_t>(pass.scratch()));
  const auto slot = [&](int64_t row) { return ring + row % slots * count; };
  const bool mirrored = rows_->start.front() > rows_->start.back();
  int64_t made_begin = 0, made_end = 0;
  std::vector<const void*> taps(static_cast<size_t>(rows_->taps));
  for (int64_t step = 0; step < end - begin; step++) {
    const int64_t y = mirrored ? end - 1 - step : begin + step;
    const int64_t first = rows_->start[static_cast<size_t>(y)];
    if (first < made_begin || first > made_end) made_begin = made_end = first;
    while (made_end < first + rows_->taps) {
      const int64_t group = std::min<int64_t>(kRowGroup, available - made_end);
      const void* rows[kRowGroup];
      void* targets[kRowGroup];
      fill_group(rows, group, [&](int64_t r) { return in[rows_->first + made_end + r] + offset; });
      fill_group(targets, group, [&](int64_t r) { return slot(made_end + r); });
      pass.run(targets, rows, static_cast<int>(group), scratch);
      made_end += group;
      made_begin = std::max(made_begin, made_end - slots);
    }
    for (int k = 0; k < rows_->taps; k++) taps[static_cast<size_t>(k)] = slot(first + k);
    blend(out[y], {taps.data(), &rows_->weights[static_cast<size_t>(y * rows_->taps)], rows_->taps},
          count);
  }
}

}  // namespace daliesque::resize
