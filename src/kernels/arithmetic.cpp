// SPDX-License-Identifier: Apache-2.0
#include "arithmetic.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "arithmetic_rules.h"
#include "broadcast.h"
#include "convert.h"
#include "parallel.h"

namespace daliesque {

namespace {

/// Elements that go through the staging buffers at a time, few enough to stay in the L1 cache.
constexpr int64_t kBlock = 1024;
constexpr size_t kMaxItem = 8;
/// Work is divided at multiples of this many elements, so that threads do not share cache lines.
constexpr int64_t kElementsPerUnit = 64;
constexpr double kNanosecondsPerByte = 0.08;
constexpr double kConversionCost = 0.15;

/// Types of which one serves as the other without a change of bits. uint64 meets signed types as
/// int64, wrapping around.
bool same_bits(DType a, DType b) {
  return a == b || (a == DType::uint64 && b == DType::int64) ||
         (a == DType::boolean && b == DType::uint8);
}

/// Brings an operand, block by block, into the order of the result and the type of the loop.
class Operand {
 public:
  Operand(const BroadcastAxes& axes, size_t index, const void* data, DType from, DType to)
      : reader_(axes, index),
        data_(static_cast<const std::byte*>(data)),
        from_size_(dtype_size(from)),
        to_size_(dtype_size(to)),
        convert_(same_bits(from, to) ? nullptr : convert_loop(to, from)) {}

  /// How many elements from `begin` on can be had at once, if `count` are wanted.
  int64_t available(int64_t begin, int64_t count) const {
    if (reader_.linear() && !convert_) return count;
    if (long_period() && !convert_) {
      return std::min(count, reader_.period() - begin % reader_.period());
    }
    return std::min(count, kBlock);
  }

  /// The elements [begin, begin + count), valid until the next call.
  const void* read(int64_t begin, int64_t count) {
    if (reader_.linear()) return converted(data_ + offset(begin), count);
    if (reader_.constant() || (reader_.period() > 0 && !long_period())) {
      const int64_t period = reader_.constant() ? 1 : reader_.period();
      fill_pattern(period, count);
      return pattern_ + static_cast<size_t>(begin % period) * to_size_;
    }
    if (long_period() && !convert_) return data_ + offset(begin % reader_.period());
    reader_.gather(gathered_, data_, from_size_, begin, count);
    return converted(gathered_, count);
  }

 private:
  size_t offset(int64_t element) const { return static_cast<size_t>(element) * from_size_; }
  bool long_period() const { return reader_.period() > kBlock; }

  const void* converted(const std::byte* in, int64_t count) {
    if (!convert_) return in;
    convert_(pattern_, in, count);
    return pattern_;
  }

  /// Repeats the first `period` elements until any `count` consecutive ones can be taken.
  void fill_pattern(int64_t period, int64_t count) {
    const int64_t wanted = count + period - 1;
    if (filled_ >= wanted) return;
    if (filled_ == 0) {
      if (convert_) {
        convert_(pattern_, data_, period);
      } else {
        std::memcpy(pattern_, data_, static_cast<size_t>(period) * to_size_);
      }
      filled_ = period;
    }
    while (filled_ < wanted) {
      const int64_t added = std::min(filled_, wanted - filled_);
      std::memcpy(pattern_ + static_cast<size_t>(filled_) * to_size_, pattern_,
                  static_cast<size_t>(added) * to_size_);
      filled_ += added;
    }
  }

  BroadcastReader reader_;
  const std::byte* data_;
  size_t from_size_, to_size_;
  ConvertLoop convert_;
  int64_t filled_ = 0;
  alignas(64) std::byte pattern_[2 * kBlock * kMaxItem];
  alignas(64) std::byte gathered_[kBlock * kMaxItem];
};

/// Everything about one call that its samples share.
struct Call {
  ArithmeticRule rule;
  std::array<Samples, kMaxOperands> in;
  Samples out;
  /// One entry for each sample, or a single one if all are alike.
  std::vector<BroadcastAxes> axes;
  ConvertLoop finish = nullptr;

  const Samples& operand(int k) const { return in[static_cast<size_t>(k)]; }
  const void* data(int k, int64_t i) const {
    return operand(k).data(operand(k).size() == 1 ? 0 : i);
  }
};

void run_slice(const Call& call, int64_t i, int64_t begin, int64_t end) {
  const ArithmeticRule& rule = call.rule;
  const BroadcastAxes& axes = call.axes[call.axes.size() == 1 ? 0 : static_cast<size_t>(i)];
  std::array<std::optional<Operand>, kMaxOperands> operands;
  for (int k = 0; k < rule.arity; k++) {
    const auto index = static_cast<size_t>(k);
    operands[index].emplace(axes, index, call.data(k, i), call.operand(k).dtype(),
                            rule.compute[index]);
  }
  const size_t itemsize = call.out.itemsize();
  auto* out = call.out.data<std::byte>(i);
  alignas(64) std::byte unfinished[kBlock * kMaxItem];
  std::array<const void*, kMaxOperands> in{};
  while (begin < end) {
    int64_t count = call.finish ? std::min(end - begin, kBlock) : end - begin;
    for (int k = 0; k < rule.arity; k++) {
      count = operands[static_cast<size_t>(k)]->available(begin, count);
    }
    for (size_t k = 0; k < static_cast<size_t>(rule.arity); k++) {
      in[k] = operands[k]->read(begin, count);
    }
    if (rule.refuses_zero && has_zero(rule.compute[1], in[1], count)) {
      throw std::domain_error("integer division by zero (sample " + std::to_string(i) + ")");
    }
    std::byte* to = out + static_cast<size_t>(begin) * itemsize;
    rule.loop(call.finish ? unfinished : to, in.data(), count);
    if (call.finish) call.finish(to, unfinished, count);
    begin += count;
  }
}

void plan_axes(Call& call) {
  const int64_t count = call.out.size();
  bool uniform = call.out.uniform();
  for (int k = 0; k < call.rule.arity; k++) uniform &= call.operand(k).uniform();
  std::array<Shape, kMaxOperands> shapes;
  for (int64_t i = 0; i < (uniform ? std::min<int64_t>(count, 1) : count); i++) {
    for (int k = 0; k < call.rule.arity; k++) {
      const Samples& operand = call.operand(k);
      shapes[static_cast<size_t>(k)] = operand.shape(operand.size() == 1 ? 0 : i);
    }
    call.axes.push_back(
        broadcast_axes(call.out.shape(i), {shapes.data(), static_cast<size_t>(call.rule.arity)}));
  }
}

double element_cost(const Call& call) {
  double bytes = static_cast<double>(call.out.itemsize());
  double cost = call.rule.cost + (call.finish ? kConversionCost : 0);
  for (int k = 0; k < call.rule.arity; k++) {
    bytes += static_cast<double>(call.operand(k).itemsize());
    if (!same_bits(call.operand(k).dtype(), call.rule.compute[static_cast<size_t>(k)])) {
      cost += kConversionCost;
    }
  }
  return cost + bytes * kNanosecondsPerByte;
}

}  // namespace

Samples arithmetic(ArithmeticOp op, std::span<const Samples* const> operands) {
  std::vector<DType> types;
  int ndim = 0;
  for (const Samples* operand : operands) {
    types.push_back(operand->dtype());
    ndim = std::max(ndim, operand->ndim());
  }
  Call call{};
  call.rule = arithmetic_rule(op, types);
  for (size_t k = 0; k < operands.size(); k++) {
    call.in[k] = operands[k]->contiguous() ? *operands[k] : clone(*operands[k]);
  }
  const int64_t count = broadcast_count(operands);
  call.out = Samples::empty(call.rule.result, ndim, broadcast_shapes(operands, count, ndim),
                            broadcast_layout(operands, ndim), count);
  if (call.rule.computed != call.rule.result) {
    call.finish = convert_loop(call.rule.result, call.rule.computed);
  }
  plan_axes(call);
  const double unit_cost = element_cost(call) * kElementsPerUnit;
  parallel_slices(
      count,
      [&](int64_t i) { return (call.out.volume(i) + kElementsPerUnit - 1) / kElementsPerUnit; },
      [&](int64_t) { return unit_cost; },
      [&](int64_t i, int64_t begin, int64_t end) {
        run_slice(call, i, begin * kElementsPerUnit,
                  std::min(end * kElementsPerUnit, call.out.volume(i)));
      });
  return call.out;
}

}  // namespace daliesque
