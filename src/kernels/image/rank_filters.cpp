// SPDX-License-Identifier: Apache-2.0
#include "image/rank_filters.h"

#include "core/parallel.h"
#include "core/scratch.h"
#include "core/simd.h"
#include "core/stream.h"
#include "image/extreme_filter.h"
#include "image/rank_loops.h"
#include "image/strips.h"

namespace daliesque::image {

namespace {

constexpr double kRankNanosecondsPerTap = 0.03;
// What the rows of a strip may occupy of the fastest cache.
constexpr int64_t kRankStripBytes = 16 << 10;

const RankLoops& rank_loops() { return DALIESQUE_CHOOSE_512(rank_loops); }

KeyKind key_kind(DType type) {
  switch (type) {
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
      return KeyKind::integer;
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
    case DType::float64:
      return KeyKind::floating;
    default:
      return KeyKind::natural;
  }
}

/// The unsigned type that stores the bits of values of `size` bytes.
DType bits_type(int size) {
  return size == 1   ? DType::uint8
         : size == 2 ? DType::uint16
         : size == 4 ? DType::uint32
                     : DType::uint64;
}

/// Keys are as wide as values, and wide enough to count what is under the window.
int key_size_for(int value_size, int64_t taps) {
  const int counting = taps <= 255 ? 1 : taps <= 65535 ? 2 : 4;
  return std::max(value_size, counting);
}

/// Finds the medians of the images of one sample.
class MedianFilter {
 public:
  /// `streamed` results are written past the caches: a stream_fence() must follow.
  MedianFilter(const FilterShape& shape, DType type, const RankFilter& arguments, int64_t i,
               bool streamed)
      : shape_(shape),
        border_(arguments.border),
        streamed_(streamed),
        value_size_(static_cast<int>(dtype_size(type))),
        width_(arguments.window.row(i)[0]),
        height_(arguments.window.row(i)[1]),
        anchor_x_(arguments.anchor.row(i)[0]),
        anchor_y_(arguments.anchor.row(i)[1]),
        key_size_(key_size_for(value_size_, width_ * height_)),
        plain_(key_kind(type) == KeyKind::natural && key_size_ == value_size_),
        square_(width_ == 3 && height_ == 3),
        slots_(height_ + (square_ ? kSquareRows - 1 : 0)),
        reader_(bits_type(value_size_), bits_type(value_size_), border_) {
    const RankLoops& loops = rank_loops();
    to_keys_ = loops.find_to_keys(key_kind(type), key_size_, value_size_);
    to_values_ = loops.find_to_values(key_kind(type), value_size_, key_size_);
    pick_ = loops.find_median(key_size_);
    pick_square_ = loops.find_median_3x3(key_size_);
    // A constant border is larger than anything else.
    const std::vector<std::byte> keys(static_cast<size_t>(shape.channels * key_size_),
                                      std::byte{255});
    fill_.resize(static_cast<size_t>(shape.channels * value_size_));
    to_values_(fill_.data(), keys.data(), shape.channels);
  }

  /// Rows [begin, end) of an image.
  void run(std::byte* out, const std::byte* in, int64_t begin, int64_t end) {
    const int64_t step = square_ ? kSquareRows : 1;
    for_strips(shape_.width, slots_ * shape_.channels * key_size_, kRankStripBytes,
               [&](int64_t first, int64_t last) {
                 prepare(first, last);
                 int64_t next = begin;
                 for (int64_t y = begin; y < end; y += step) {
                   const int64_t rows = std::min(step, end - y);
                   for (; next < y + rows - 1 + height_; next++) read_row(in, next);
                   const int64_t offset = y * shape_.row() + first * shape_.channels;
                   pick(out + offset * value_size_, y, rows);
                 }
               });
  }

 private:
  static constexpr int64_t kSquareRows = 2;

  void prepare(int64_t first, int64_t last) {
    first_ = first - anchor_x_;
    last_ = last - anchor_x_ + width_ - 1;
    count_ = (last - first) * shape_.channels;
    // Windows that start in the last pixel read up to the padding behind a row.
    stride_ = ((last_ - first_) * shape_.channels / kRankPadding + 2) * kRankPadding;
    reader_.choose(shape_.width, shape_.channels, first_, last_);
    values_.require(stride_ * value_size_);
    rows_.require(slots_ * stride_ * key_size_);
    picked_.require(kSquareRows * stride_ * key_size_);
  }

  std::byte* slot(int64_t y) { return rows_.data() + y % slots_ * stride_ * key_size_; }

  /// The row `y` under the window, counted from the first that output row 0 needs.
  void read_row(const std::byte* in, int64_t y) {
    const int64_t source = border_index(y - anchor_y_, shape_.height, border_);
    const int64_t count = (last_ - first_) * shape_.channels;
    if (source == kOutside) {
      std::memset(slot(y), 255, static_cast<size_t>(count * key_size_));
      return;
    }
    prefetch_after(in, source, shape_, value_size_, first_, last_);
    // Values that are keys already go where these belong.
    std::byte* values = plain_ ? slot(y) : values_.data();
    reader_.read(values, in + source * shape_.row() * value_size_, fill_.data());
    if (!plain_) to_keys_(slot(y), values, count);
  }

  void pick(std::byte* out, int64_t y, int64_t rows) {
    if (square_) return pick_squares(out, y, rows);
    inputs_.clear();
    for (int64_t k = 0; k < height_; k++) {
      for (int64_t x = 0; x < width_; x++) {
        inputs_.push_back(slot(y + k) + x * shape_.channels * key_size_);
      }
    }
    pick_(picked_.data(), inputs_.data(), static_cast<int64_t>(inputs_.size()), count_);
    write(out, picked_.data());
  }

  /// Writes the part of a row that is due.
  void write(std::byte* out, const std::byte* keys) {
    if (!plain_) {
      std::byte* values = streamed_ ? values_.data() : out;
      to_values_(values, keys, count_);
      keys = values;
    }
    if (keys != out) copy_bytes(out, keys, static_cast<size_t>(count_ * value_size_), streamed_);
  }

  void pick_squares(std::byte* out, int64_t y, int64_t count) {
    // The last row may be alone: what is computed beside it is dropped.
    const bool alone = count < kSquareRows;
    const int64_t pitch = shape_.row() * value_size_;
    const void* rows[] = {slot(y), slot(y + 1), slot(y + 2), slot(y + (alone ? 2 : 3))};
    std::byte* picked[] = {picked_.data(), picked_.data() + stride_ * key_size_};
    // Of two rows that are streamed directly, vectors begin at the same offsets.
    const bool direct = plain_ && (!streamed_ || (pitch % kRankPadding == 0 && !alone));
    void* keys[] = {direct ? out : picked[0], direct && !alone ? out + pitch : picked[1]};
    pick_square_(keys, rows, shape_.channels, count_, direct && streamed_);
    for (int64_t k = 0; k < count && !direct; k++) write(out + k * pitch, picked[k]);
  }

  const FilterShape& shape_;
  Border border_;
  bool streamed_;
  int value_size_;
  int64_t width_, height_, anchor_x_, anchor_y_;
  int key_size_;
  bool plain_, square_;
  int64_t slots_;  // rows that are kept
  RowReader reader_;
  ConvertKeys to_keys_, to_values_;
  PickKeys pick_;
  PickSquare pick_square_;
  std::vector<std::byte> fill_;
  Scratch<std::byte> values_, rows_, picked_;
  std::vector<const void*> inputs_;
  int64_t first_ = 0, last_ = 0, count_ = 0, stride_ = 0;
};

/// Estimated nanoseconds for a value.
double cost_of_value(const RankFilter& arguments, int64_t i, size_t value_size) {
  const auto size = static_cast<double>(value_size);
  if (arguments.rank != Rank::median) return 0.2 * size;
  const int32_t* window = arguments.window.row(i);
  return 0.5 + 8 * size * size * window[0] * window[1] * kRankNanosecondsPerTap;
}

/// Runs Filter over rows [begin, end) of a sample, counted through all of its images.
template <class Filter>
void filter_rows(Samples& out, const Samples& in, const FilterShape& shape,
                 const RankFilter& arguments, int64_t i, int64_t begin, int64_t end) {
  const bool streamed = exceeds_caches(out, in);
  Filter filter(shape, in.dtype(), arguments, i, streamed);
  while (begin < end) {
    const int64_t plane = begin / shape.height;
    const int64_t stop = std::min(end, (plane + 1) * shape.height);
    const int64_t offset = plane * shape.slice() * static_cast<int64_t>(in.itemsize());
    filter.run(out.data<std::byte>(i) + offset, in.data<const std::byte>(i) + offset,
               begin - plane * shape.height, stop - plane * shape.height);
    begin = stop;
  }
  if (streamed) stream_fence();
}

}  // namespace

void rank_filter(Samples& out, const Samples& in, FilterAxes axes, const RankFilter& arguments) {
  std::vector<FilterShape> shapes;
  for (int64_t i = 0; i < in.size(); i++) {
    shapes.emplace_back(in.shape(i), axes.outer, axes.spatial);
  }
  parallel_slices(
      in.size(),
      [&](int64_t i) {
        const FilterShape& shape = shapes[static_cast<size_t>(i)];
        return in.volume(i) ? shape.planes * shape.height : 0;
      },
      [&](int64_t i) {
        const FilterShape& shape = shapes[static_cast<size_t>(i)];
        return static_cast<double>(shape.row()) * cost_of_value(arguments, i, in.itemsize());
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const FilterShape& shape = shapes[static_cast<size_t>(i)];
        if (arguments.rank == Rank::median) {
          filter_rows<MedianFilter>(out, in, shape, arguments, i, begin, end);
        } else {
          filter_rows<ExtremeFilter>(out, in, shape, arguments, i, begin, end);
        }
      });
}

}  // namespace daliesque::image
