// SPDX-License-Identifier: Apache-2.0
#include "tensor/arithmetic.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/broadcast.h"
#include "core/convert.h"
#include "core/errors.h"
#include "core/parallel.h"
#include "core/stream.h"
#include "tensor/arithmetic_rules.h"
#include "tensor/arithmetic_steps.h"

namespace daliesque::tensor {

namespace {

/// Work is divided at multiples of this many elements, so that threads do not share cache lines.
constexpr int64_t kElementsPerUnit = 64;
constexpr double kArithmeticNanosecondsPerByte = 0.08;
constexpr double kConversionCost = 0.15;

using Operands = std::span<const Samples* const>;

/// What a step costs for an element, memory traffic of data included.
double element_cost(const ArithmeticStep& step) {
  const ArithmeticRule& rule = step.rule;
  double cost = rule.cost + (rule.computed != rule.result ? kConversionCost : 0);
  for (size_t k = 0; k < step.arity(); k++) {
    const Samples& operand = *step.operands[k];
    if (step.made_by[k] == ArithmeticStep::kData) {
      cost += static_cast<double>(operand.itemsize()) * kArithmeticNanosecondsPerByte;
    }
    if (!same_bits(operand.dtype(), rule.compute[k])) cost += kConversionCost;
  }
  return cost;
}

/// Whether the result should be streamed: nothing of it would still be in the caches when the last
/// operands have been read.
bool is_streamed(const Samples& out, std::span<const ArithmeticStep> steps) {
  size_t bytes = static_cast<size_t>(out.total_volume()) * out.itemsize();
  for (const ArithmeticStep& step : steps) {
    for (size_t k = 0; k < step.arity(); k++) {
      const Samples& operand = *step.operands[k];
      if (step.made_by[k] != ArithmeticStep::kData) continue;
      bytes += static_cast<size_t>(operand.total_volume()) * operand.itemsize();
    }
  }
  return bytes >= kCacheBytes;
}

/// Runs body(i, begin, end) over ranges of the elements of each sample.
template <class Body>
void for_elements(const Samples& out, double nanoseconds, Body&& body) {
  parallel_slices(
      out.size(),
      [&](int64_t i) { return (out.volume(i) + kElementsPerUnit - 1) / kElementsPerUnit; },
      [&](int64_t) { return nanoseconds * kElementsPerUnit; },
      [&](int64_t i, int64_t begin, int64_t end) {
        body(i, begin * kElementsPerUnit, std::min(end * kElementsPerUnit, out.volume(i)));
      });
}

bool is_comparison(ArithmeticOp op) {
  return op == ArithmeticOp::eq || op == ArithmeticOp::neq || op == ArithmeticOp::lt ||
         op == ArithmeticOp::leq || op == ArithmeticOp::gt || op == ArithmeticOp::geq;
}

/// Integers are compared with a constant in their own type if that holds the constant, as it does
/// in `bytes > 1`: a wider type would make bytes four times as large first.
void narrow_constant(ArithmeticOp op, Operands operands, std::span<DType> types) {
  if (!is_comparison(op) || types[0] == types[1]) return;
  for (const DType type : types) {
    if (is_floating(type) || type == DType::boolean || type == DType::uint64) return;
  }
  for (size_t k = 0; k < 2; k++) {
    if (operands[k]->size() != 1 || operands[k]->volume(0) != 1) continue;
    // What another step is going to make is not known yet.
    if (!operands[k]->data(0)) continue;
    const DType other = types[1 - k];
    int64_t value = 0, back = 0, narrow = 0;
    convert_loop(DType::int64, types[k])(&value, operands[k]->data<const std::byte>(0), 1);
    convert_loop(other, DType::int64)(&narrow, &value, 1);
    convert_loop(DType::int64, other)(&back, &narrow, 1);
    if (back != value) continue;
    types[k] = other;
    return;
  }
}

/// An operation on bytes and constants has at most 256 different results. Where computing them
/// one by one is slow, this finds the operand that holds the bytes; otherwise, -1.
int byte_operand(const ArithmeticRule& rule, Operands operands, const Samples& out) {
  constexpr double slow = 2;
  constexpr int64_t many = 1024;
  if (rule.cost < slow || out.total_volume() < many) return -1;
  int found = -1;
  for (size_t k = 0; k < operands.size(); k++) {
    if (operands[k]->size() == 1 && operands[k]->volume(0) == 1) continue;
    const DType type = operands[k]->dtype();
    if (found >= 0 || (type != DType::uint8 && type != DType::int8)) return -1;
    found = static_cast<int>(k);
  }
  return found;
}

template <class T>
void look_up(T* out, const uint8_t* in, const T* table, int64_t count) {
  for (int64_t i = 0; i < count; i++) out[i] = table[in[i]];
}

void run_by_table(const ArithmeticRule& rule, Samples& out, Operands operands, size_t varying) {
  const Samples& bytes = *operands[varying];
  Samples all_bytes = Samples::empty(bytes.dtype(), 1, {256}, "", 1);
  std::iota(all_bytes.data<uint8_t>(0), all_bytes.data<uint8_t>(0) + 256, uint8_t{0});
  std::array<const Samples*, kMaxOperands> replaced{};
  std::ranges::copy(operands, replaced.begin());
  replaced[varying] = &all_bytes;
  const Samples table = Samples::empty(rule.result, 1, {256}, "", 1);
  const ArithmeticStep step{rule, replaced};
  run_steps({&step, 1}, table, false, 0, 0, 256);
  constexpr double nanoseconds = 0.5;
  for_elements(out, nanoseconds, [&](int64_t i, int64_t begin, int64_t end) {
    const auto* in = bytes.data<const uint8_t>(own_index(bytes, i)) + begin;
    const auto run = [&]<class T>(T) {
      look_up(out.data<T>(i) + begin, in, table.data<const T>(0), end - begin);
    };
    switch (out.itemsize()) {
      case 1:
        return run(uint8_t{});
      case 2:
        return run(uint16_t{});
      case 4:
        return run(uint32_t{});
      default:
        return run(uint64_t{});
    }
  });
}

bool same_shapes(const Samples& a, const Samples& b) {
  if (a.size() != b.size() || a.ndim() != b.ndim()) return false;
  for (int64_t i = 0; i < a.size(); i++) {
    if (!std::ranges::equal(a.shape(i), b.shape(i))) return false;
  }
  return true;
}

/// A batch whose samples follow each other in memory as one row of elements.
Samples row_of(const Samples& samples) {
  return Samples::view(samples.dtype(), 1, {samples.total_volume()}, {samples.data(0)},
                       samples.owner(0), samples.readonly());
}

/// Runs steps of which the last one makes `out`.
void run(std::span<const ArithmeticStep> steps, const Samples& out) {
  const bool streamed = is_streamed(out, steps);
  double cost = static_cast<double>(out.itemsize()) * kArithmeticNanosecondsPerByte;
  for (const ArithmeticStep& step : steps) cost += element_cost(step);
  for_elements(out, cost, [&](int64_t i, int64_t begin, int64_t end) {
    run_steps(steps, out, streamed, i, begin, end);
  });
}

/// The same, at once for all samples where they follow each other in all operands: each by itself
/// takes longer than a small one has to.
void run_joined(std::span<const ArithmeticStep> steps, const Samples& out) {
  std::vector<ArithmeticStep> joined(steps.begin(), steps.end());
  std::vector<Samples> rows;
  rows.reserve(steps.size() * kMaxOperands);
  for (ArithmeticStep& step : joined) {
    // Errors name the sample.
    if (out.size() < 2 || step.rule.refuses_zero) return run(steps, out);
    for (size_t k = 0; k < step.arity(); k++) {
      const Samples*& operand = step.operands[k];
      const bool number = operand->size() == 1 && operand->volume(0) == 1;
      if (step.made_by[k] != ArithmeticStep::kData || number) continue;
      if (!operand->packed() || !same_shapes(*operand, out)) return run(steps, out);
      operand = &rows.emplace_back(row_of(*operand));
    }
  }
  run(joined, row_of(out));
}

std::array<DType, kMaxOperands> types_of(Operands operands) {
  if (operands.size() > kMaxOperands) throw std::invalid_argument("too many operands");
  std::array<DType, kMaxOperands> types{};
  for (size_t k = 0; k < operands.size(); k++) types[k] = operands[k]->dtype();
  return types;
}

/// The rule for these operands, which may be outlines.
ArithmeticRule rule_for(ArithmeticOp op, Operands operands) {
  std::array<DType, kMaxOperands> types = types_of(operands);
  if (operands.size() == 2) narrow_constant(op, operands, {types.data(), 2});
  return arithmetic_rule(op, {types.data(), operands.size()});
}

/// What the result of an operation will be like.
Samples outline_of(DType type, Operands operands) {
  int ndim = 0;
  for (const Samples* operand : operands) ndim = std::max(ndim, operand->ndim());
  const int64_t count = broadcast_count(operands);
  return Samples::outline(type, ndim, broadcast_shapes(operands, count, ndim),
                          broadcast_layout(operands, ndim), count);
}

/// The operations of an expression that are carried out together.
class Expression {
 public:
  Expression(std::span<const Operation> operations, Operands inputs)
      : operations_(operations), values_(inputs.begin(), inputs.end()) {
    made_.reserve(operations.size());
    for (const Operation& operation : operations) {
      const auto operands = operands_of(operation);
      const Operands given{operands.data(), operation.operands.size()};
      const auto types = types_of(given);
      made_.push_back(
          outline_of(arithmetic_type(operation.op, {types.data(), given.size()}), given));
      values_.push_back(&made_.back());
    }
  }

  Samples run() {
    Samples& out = made_.back();
    std::vector<ArithmeticStep> steps;
    std::vector<int> numbers(values_.size(), ArithmeticStep::kData);
    const size_t first = values_.size() - made_.size();
    for (size_t i = 0; i < made_.size(); i++) {
      const auto operands = operands_of(operations_[i]);
      const Operands given{operands.data(), operations_[i].operands.size()};
      ArithmeticStep step{rule_for(operations_[i].op, given), operands};
      bool data = true;
      for (size_t k = 0; k < given.size(); k++) {
        step.made_by[k] = numbers[operations_[i].operands[k]];
        data &= step.made_by[k] == ArithmeticStep::kData;
      }
      // What is smaller, such as the sum of a row that is added to all rows, is made beforehand:
      // all of its operands are, because shapes only grow.
      if (!same_shapes(made_[i], out) || (data && byte_operand(step.rule, given, made_[i]) >= 0)) {
        made_[i] = arithmetic(operations_[i].op, given);
        continue;
      }
      numbers[first + i] = static_cast<int>(steps.size());
      steps.push_back(step);
    }
    if (numbers.back() != ArithmeticStep::kData) {
      out.materialize();
      run_joined(steps, out);
    }
    return out;
  }

 private:
  std::array<const Samples*, kMaxOperands> operands_of(const Operation& operation) const {
    if (operation.operands.size() > kMaxOperands) throw std::invalid_argument("too many operands");
    std::array<const Samples*, kMaxOperands> found{};
    for (size_t k = 0; k < operation.operands.size(); k++) {
      found[k] = values_.at(operation.operands[k]);
    }
    return found;
  }

  std::span<const Operation> operations_;
  /// What operations make: outlines until they are carried out.
  std::vector<Samples> made_;
  /// The inputs, then what operations make.
  std::vector<const Samples*> values_;
};

}  // namespace

Samples arithmetic(ArithmeticOp op, Operands operands) {
  std::array<const Samples*, kMaxOperands> contiguous{};
  std::array<Samples, kMaxOperands> clones;
  const ArithmeticRule rule = rule_for(op, operands);
  Samples out = outline_of(rule.result, operands);
  out.materialize();
  for (size_t k = 0; k < operands.size(); k++) {
    contiguous[k] = operands[k];
    if (operands[k]->contiguous()) continue;
    clones[k] = clone(*operands[k]);
    contiguous[k] = &clones[k];
  }
  operands = {contiguous.data(), operands.size()};
  const int varying = byte_operand(rule, operands, out);
  if (varying >= 0) {
    run_by_table(rule, out, operands, static_cast<size_t>(varying));
  } else {
    const ArithmeticStep step{rule, contiguous};
    run_joined({&step, 1}, out);
  }
  return out;
}

Samples arithmetic_expression(std::span<const Operation> operations, Operands inputs) {
  if (operations.empty()) throw std::invalid_argument("an expression has at least one operation");
  return Expression(operations, inputs).run();
}

}  // namespace daliesque::tensor
