// SPDX-License-Identifier: Apache-2.0
#include "tensor/reduce.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/errors.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/simd.h"
#include "tensor/reduce_loops.h"

namespace daliesque::tensor {

namespace {

// Bytes that one thread takes at a time. Longer reductions are cut, and the totals of the pieces
// are added in order: the result does not depend on the number of threads.
constexpr int64_t kPieceBytes = 1 << 20;
// Values of short reductions that are done together.
constexpr int64_t kGroupedValues = 65536;
constexpr int64_t kMostColumns = 8192;
// The loops over columns are fastest with multiples of this; so many rows make less than a piece.
constexpr int64_t kRowsAtOnce = 8;
// Measured for data in the last cache, where terms need no conversion or little.
constexpr double kReduceNanosecondsPerByte = 0.02;
// Squares and deviations are computed in wider types.
constexpr double kNanosecondsPerWideTerm = 0.1;

struct ReducedAxis {
  int64_t extent, stride;  // in values
  bool reduced;
};

/// A sample as blocks of [groups][rows][columns] values, of which the rows are reduced, inside
/// other axes.
struct ReducePlan {
  std::vector<ReducedAxis> outer;  // outermost first
  int64_t groups = 1, rows = 1, columns = 1;
  int64_t outer_kept = 1, outer_reduced = 1;
  // Groups (if there are few columns) or columns (otherwise) that are handled together, and the
  // number of pieces into which the rows of such a block are cut.
  int64_t group_block = 1, column_block = 1, row_block = 1, pieces = 1;

  int64_t all_rows() const { return outer_reduced * rows; }
  int64_t group_blocks() const { return (groups + group_block - 1) / group_block; }
  int64_t column_blocks() const { return (columns + column_block - 1) / column_block; }
  int64_t blocks() const { return outer_kept * group_blocks() * column_blocks(); }
  int64_t units() const { return blocks() * pieces; }
  int64_t block_values() const { return group_block * column_block; }
};

/// Neighboring axes of a kind count as one, those of extent 1 not at all.
std::vector<ReducedAxis> merged_reduced_axes(Shape shape, const std::vector<bool>& reduced) {
  std::vector<ReducedAxis> axes;  // innermost first
  int64_t stride = 1;
  for (size_t k = shape.size(); k-- > 0;) {
    const int64_t extent = shape[k];
    if (extent == 1) continue;
    if (!axes.empty() && axes.back().reduced == reduced[k]) {
      axes.back().extent *= extent;
    } else {
      axes.push_back({extent, stride, reduced[k]});
    }
    stride *= extent;
  }
  return axes;
}

ReducePlan plan_reduction(Shape shape, const std::vector<bool>& reduced, size_t itemsize) {
  ReducePlan plan;
  const std::vector<ReducedAxis> axes = merged_reduced_axes(shape, reduced);
  size_t k = 0;
  if (k < axes.size() && !axes[k].reduced) plan.columns = axes[k++].extent;
  if (k < axes.size()) plan.rows = axes[k++].extent;
  if (k < axes.size()) plan.groups = axes[k++].extent;
  for (size_t j = axes.size(); j-- > k;) {
    plan.outer.push_back(axes[j]);
    (axes[j].reduced ? plan.outer_reduced : plan.outer_kept) *= axes[j].extent;
  }
  const int64_t of_group = std::max<int64_t>(1, plan.all_rows() * plan.columns);
  plan.column_block = std::clamp<int64_t>(plan.columns, 1, kMostColumns);
  if (plan.columns <= kMostColumns) {
    plan.group_block =
        std::clamp<int64_t>(kGroupedValues / of_group, 1, std::max<int64_t>(1, plan.groups));
  }
  plan.row_block = plan.all_rows();
  const int64_t row_bytes = plan.column_block * static_cast<int64_t>(itemsize);
  if (plan.group_block == 1 && plan.all_rows() >= 2 * kPieceBytes / row_bytes) {
    plan.row_block = kPieceBytes / row_bytes / kRowsAtOnce * kRowsAtOnce;
    plan.pieces = (plan.all_rows() + plan.row_block - 1) / plan.row_block;
  }
  return plan;
}

/// The offset of element number `index` of the outer axes of one kind.
int64_t outer_offset(const ReducePlan& plan, bool reduced, int64_t index) {
  int64_t offset = 0;
  for (size_t k = plan.outer.size(); k-- > 0;) {
    const ReducedAxis& axis = plan.outer[k];
    if (axis.reduced != reduced) continue;
    offset += index % axis.extent * axis.stride;
    index /= axis.extent;
  }
  return offset;
}

/// How terms become a result: the factor makes means of sums.
struct Finish {
  Reduction kind;
  Term term;
  bool is_signed;  // of whole totals
};

Term term_of(Reduction kind, DType in, DType out) {
  const bool whole = in != DType::float32, wide = dtype_size(in) == 8;
  switch (kind) {
    case Reduction::sum:
      if (!whole) return Term::real_quad;
      return !wide || out != DType::float32 ? Term::whole : Term::real;
    case Reduction::mean:
      if (!whole) return Term::real_quad;
      return !wide ? Term::whole : Term::real;
    case Reduction::mean_square:
    case Reduction::rms:
      return dtype_size(in) <= 2 ? Term::whole_square : Term::real_square;
    case Reduction::variance:
    case Reduction::std_dev:
      return Term::deviation;
    case Reduction::min:
      return Term::lowest;
    case Reduction::max:
      return Term::highest;
  }
  throw std::invalid_argument("unknown reduction");
}

bool is_signed(DType type) {
  return type == DType::int8 || type == DType::int16 || type == DType::int32 ||
         type == DType::int64;
}

/// Cuts the fraction off; what does not fit becomes the nearest value that does.
template <class T>
T cut_off(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else {
    // As a float the highest value may round up to one that does not fit.
    constexpr auto low = static_cast<float>(std::numeric_limits<T>::min());
    constexpr auto high = static_cast<float>(std::numeric_limits<T>::max());
    if (value >= high) return std::numeric_limits<T>::max();
    if (value > low) return static_cast<T>(value);
    return value == value ? std::numeric_limits<T>::min() : T{0};
  }
}

/// Totals of sums are 8 bytes each, whole or real.
template <class T>
void finish_sums(T* out, const void* totals, int64_t count, const Finish& finish, float factor) {
  const auto* reals = static_cast<const double*>(totals);
  const auto* wholes = static_cast<const uint64_t*>(totals);
  const bool real = finish.term != Term::whole && finish.term != Term::whole_square;
  const bool root = finish.kind == Reduction::rms || finish.kind == Reduction::std_dev;
  for (int64_t k = 0; k < count; k++) {
    if (finish.kind == Reduction::sum && !real && !std::is_same_v<T, float>) {
      out[k] = static_cast<T>(wholes[k]);
      continue;
    }
    const float sum = real               ? static_cast<float>(reals[k])
                      : finish.is_signed ? static_cast<float>(static_cast<int64_t>(wholes[k]))
                                         : static_cast<float>(wholes[k]);
    const float mean = finish.kind == Reduction::sum ? sum : sum * factor;
    out[k] = cut_off<T>(root ? std::sqrt(mean) : mean);
  }
}

using ReduceTypes =
    Types<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t, float>;

/// Everything about a call that its units share.
class Reducer {
 public:
  Reducer(Samples& out, const Samples& in, Reduction kind, const Samples* means, int64_t ddof)
      : out_(out),
        in_(in),
        means_(means),
        ddof_(ddof),
        finish_{kind, term_of(kind, in.dtype(), out.dtype()), is_signed(in.dtype())},
        loops_(reduce_loops(finish_.term, in.dtype())),
        is_extreme_(kind == Reduction::min || kind == Reduction::max),
        total_size_(is_extreme_ ? static_cast<int64_t>(in.itemsize()) : 8) {}

  /// The size of the totals of a block.
  int64_t block_bytes(const ReducePlan& plan) const { return plan.block_values() * total_size_; }

  /// The estimated nanoseconds of a unit.
  double unit_cost(const ReducePlan& plan) const {
    const auto values = static_cast<double>(plan.block_values() * plan.row_block);
    const bool wide = finish_.term == Term::whole_square || finish_.term == Term::real_square ||
                      finish_.term == Term::deviation;
    return values * (static_cast<double>(in_.itemsize()) * kReduceNanosecondsPerByte +
                     (wide ? kNanosecondsPerWideTerm : 0));
  }

  /// The totals of a unit of sample i.
  void collect(std::byte* totals, int64_t i, const ReducePlan& plan, int64_t unit) const {
    const int64_t block = unit / plan.pieces, piece = unit % plan.pieces;
    clear(totals, plan.block_values());
    add(loops_, totals, i, plan, block, piece);
    if (finish_.term != Term::real_quad) return;
    const auto* sums = reinterpret_cast<const double*>(totals);
    if (std::all_of(sums, sums + plan.block_values(), [](double x) { return std::isfinite(x); })) {
      return;
    }
    // The sum of four floats may be too large for a float.
    clear(totals, plan.block_values());
    add(reduce_loops(Term::real, in_.dtype()), totals, i, plan, block, piece);
  }

  /// Makes the results of blocks [begin, end) of sample i.
  void reduce_blocks(int64_t i, const ReducePlan& plan, int64_t begin, int64_t end) const {
    const auto words = static_cast<size_t>((block_bytes(plan) + 7) / 8);
    std::vector<double> memory(words * (plan.pieces > 1 ? 2 : 1));
    auto* totals = reinterpret_cast<std::byte*>(memory.data());
    auto* more = totals + words * 8;
    for (int64_t block = begin; block < end; block++) {
      collect(totals, i, plan, block * plan.pieces);
      for (int64_t piece = 1; piece < plan.pieces; piece++) {
        collect(more, i, plan, block * plan.pieces + piece);
        join(totals, more, plan.block_values());
      }
      finish(i, plan, block, totals);
    }
  }

  /// Makes the results of sample i from the totals of all of its units, in the same order.
  void join_units(int64_t i, const ReducePlan& plan, std::byte* totals) const {
    const int64_t bytes = block_bytes(plan);
    for (int64_t block = 0; block < plan.blocks(); block++, totals += plan.pieces * bytes) {
      for (int64_t piece = 1; piece < plan.pieces; piece++) {
        join(totals, totals + piece * bytes, plan.block_values());
      }
      finish(i, plan, block, totals);
    }
  }

 private:
  /// Adds the totals of one piece to those of another.
  void join(std::byte* totals, const std::byte* more, int64_t count) const {
    if (is_extreme_) {
      loops_.rows(totals, more, count, 1, nullptr);
    } else if (finish_.term == Term::whole || finish_.term == Term::whole_square) {
      for (int64_t k = 0; k < count; k++) {
        reinterpret_cast<uint64_t*>(totals)[k] += reinterpret_cast<const uint64_t*>(more)[k];
      }
    } else {
      for (int64_t k = 0; k < count; k++) {
        reinterpret_cast<double*>(totals)[k] += reinterpret_cast<const double*>(more)[k];
      }
    }
  }

  /// Computes results from the totals of a block.
  void finish(int64_t i, const ReducePlan& plan, int64_t block, const std::byte* totals) const {
    const BlockSpan at = span_of(plan, block);
    const int64_t count = at.groups * at.columns;
    auto* out = out_.data<std::byte>(i) + at.result * static_cast<int64_t>(out_.itemsize());
    if (is_extreme_) {
      std::copy_n(totals, count * total_size_, out);
      return;
    }
    const auto factor = static_cast<float>(1.0 / static_cast<double>(plan.all_rows() - ddof_));
    dispatch(ReduceTypes{}, out_.dtype(), [&]<class T>(Tag<T>) {
      finish_sums(reinterpret_cast<T*>(out), totals, count, finish_, factor);
    });
  }

  /// Totals of nothing.
  void clear(std::byte* totals, int64_t count) const {
    if (!is_extreme_) {
      std::fill_n(totals, count * 8, std::byte{0});
      return;
    }
    const bool low = finish_.kind == Reduction::min;
    dispatch(ReduceTypes{}, in_.dtype(), [&]<class T>(Tag<T>) {
      using Limits = std::numeric_limits<T>;
      const T top = Limits::has_infinity ? Limits::infinity() : Limits::max();
      const T bottom = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      std::fill_n(reinterpret_cast<T*>(totals), count, low ? top : bottom);
    });
  }

  void add(const ReduceLoops& loops, std::byte* totals, int64_t i, const ReducePlan& plan,
           int64_t block, int64_t piece) const {
    const BlockSpan at = span_of(plan, block);
    const auto size = static_cast<int64_t>(in_.itemsize());
    const auto* base = in_.data<const std::byte>(i) +
                       (at.offset + (at.group * plan.rows) * plan.columns + at.column) * size;
    const float* means = means_ ? means_->data<const float>(i) + at.result : nullptr;
    const int64_t end = std::min(plan.all_rows(), (piece + 1) * plan.row_block);
    for (int64_t row = piece * plan.row_block; row < end;) {
      const int64_t outer = row / plan.rows, first = row % plan.rows;
      const int64_t count = std::min(plan.rows - first, end - row);
      const auto* from = base + (outer_offset(plan, true, outer) + first * plan.columns) * size;
      if (plan.columns == 1) {
        loops.rows(totals, from, at.groups, count, means);
      } else {
        for (int64_t g = 0; g < at.groups; g++) {
          loops.columns(totals + g * at.columns * total_size_,
                        from + g * plan.rows * plan.columns * size, count, at.columns, plan.columns,
                        means ? means + g * at.columns : nullptr);
        }
      }
      row += count;
    }
  }

  /// Where a block lies in the input (`offset`, and first group and column) and in the output.
  struct BlockSpan {
    int64_t offset, group, groups, column, columns, result;
  };

  static BlockSpan span_of(const ReducePlan& plan, int64_t block) {
    BlockSpan at;
    at.column = block % plan.column_blocks() * plan.column_block;
    block /= plan.column_blocks();
    at.group = block % plan.group_blocks() * plan.group_block;
    const int64_t kept = block / plan.group_blocks();
    at.offset = outer_offset(plan, false, kept);
    at.groups = std::min(plan.group_block, plan.groups - at.group);
    at.columns = std::min(plan.column_block, plan.columns - at.column);
    at.result = (kept * plan.groups + at.group) * plan.columns + at.column;
    return at;
  }

  Samples& out_;
  const Samples& in_;
  const Samples* means_;
  int64_t ddof_;
  Finish finish_;
  ReduceLoops loops_;
  bool is_extreme_;
  int64_t total_size_;
};

}  // namespace

ReduceLoops reduce_loops(Term term, DType in) {
  const ReduceLoops loops = DALIESQUE_CHOOSE_512(find_reduce_loops(term, in));
  if (!loops.rows) {
    throw UsageError(std::string("cannot reduce the type ") + dtype_name(in));
  }
  return loops;
}

Samples reduced_like(const Samples& in, DType dtype, const ReduceAxes& axes, std::string layout) {
  std::vector<int64_t> shapes;
  int ndim = 0;
  for (size_t k = 0; k < axes.reduced.size(); k++) ndim += axes.keep_dims || !axes.reduced[k];
  for (int64_t i = 0; i < in.size(); i++) {
    for (size_t k = 0; k < axes.reduced.size(); k++) {
      if (!axes.reduced[k]) shapes.push_back(in.shape(i)[k]);
      if (axes.reduced[k] && axes.keep_dims) shapes.push_back(1);
    }
  }
  return Samples::empty(dtype, ndim, std::move(shapes), std::move(layout), in.size());
}

void reduce(Samples& out, const Samples& in, Reduction kind, const ReduceAxes& axes,
            const Samples* means, int64_t ddof) {
  const Reducer reducer(out, in, kind, means, ddof);
  std::vector<ReducePlan> plans;
  std::vector<int64_t> offsets;
  std::vector<std::atomic<int64_t>> left(static_cast<size_t>(in.size()));
  int64_t bytes = 0;
  for (int64_t i = 0; i < in.size(); i++) {
    const ReducePlan& plan =
        plans.emplace_back(plan_reduction(in.shape(i), axes.reduced, in.itemsize()));
    left[static_cast<size_t>(i)] = plan.units();
    offsets.push_back(bytes);
    if (plan.pieces > 1) bytes += plan.units() * reducer.block_bytes(plan);
  }
  // For samples that several threads share; memory that is not used costs nothing.
  const Buffer shared = allocate(static_cast<size_t>(bytes));
  const auto plan_of = [&](int64_t i) -> const ReducePlan& {
    return plans[static_cast<size_t>(i)];
  };
  parallel_slices(
      in.size(), [&](int64_t i) { return out.volume(i) ? plan_of(i).units() : 0; },
      [&](int64_t i) { return reducer.unit_cost(plan_of(i)); },
      [&](int64_t i, int64_t begin, int64_t end) {
        const ReducePlan& plan = plan_of(i);
        if (plan.pieces == 1 || end - begin == plan.units()) {
          reducer.reduce_blocks(i, plan, begin / plan.pieces, end / plan.pieces);
          return;
        }
        auto* totals = static_cast<std::byte*>(shared.get()) + offsets[static_cast<size_t>(i)];
        for (int64_t unit = begin; unit < end; unit++) {
          reducer.collect(totals + unit * reducer.block_bytes(plan), i, plan, unit);
        }
        // Whoever is last finds the totals of all.
        if (left[static_cast<size_t>(i)].fetch_sub(end - begin) == end - begin) {
          reducer.join_units(i, plan, totals);
        }
      });
}

}  // namespace daliesque::tensor
