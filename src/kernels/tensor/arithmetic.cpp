// SPDX-License-Identifier: Apache-2.0
#include "tensor/arithmetic.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/broadcast.h"
#include "core/convert.h"
#include "core/errors.h"
#include "core/parallel.h"
#include "core/stream.h"
#include "tensor/arithmetic_rules.h"

namespace daliesque::tensor {

namespace {

/// Bytes of an operand that go through its staging buffers at a time, few enough to stay in the L1
/// cache.
constexpr size_t kStagedBytes = 4096;
/// Work is divided at multiples of this many elements, so that threads do not share cache lines.
constexpr int64_t kElementsPerUnit = 64;
constexpr double kArithmeticNanosecondsPerByte = 0.08;
constexpr double kConversionCost = 0.15;

using Operands = std::span<const Samples* const>;

/// Types of which one serves as the other without a change of bits. uint64 meets signed types as
/// int64, wrapping around.
bool same_bits(DType a, DType b) {
  return a == b || (a == DType::uint64 && b == DType::int64) ||
         (a == DType::boolean && b == DType::uint8);
}

/// The sample of an operand that goes into sample i of the result.
int64_t own_index(const Samples& operand, int64_t i) { return operand.size() == 1 ? 0 : i; }

/// Where a block is staged. Left uninitialized: clearing it would cost more than a small call.
struct Staging {
  Staging() {}
  alignas(64) std::byte ready[2 * kStagedBytes];
  alignas(64) std::byte gathered[kStagedBytes];
};

/// Brings an operand, block by block, into the order of the result and the type of the loop.
class OperandStream {
 public:
  OperandStream(Staging& staging, int64_t block, Shape result, const Samples& operand, int64_t i,
                DType type)
      : staging_(staging),
        block_(block),
        reader_(result, operand.shape(i)),
        data_(operand.data<const std::byte>(i)),
        from_size_(operand.itemsize()),
        to_size_(dtype_size(type)),
        convert_(same_bits(operand.dtype(), type) ? nullptr : convert_loop(type, operand.dtype())) {
  }

  /// How many elements from `begin` on can be had at once, if `count` are wanted.
  int64_t available(int64_t begin, int64_t count) const {
    if (!convert_) {
      if (reader_.linear()) return count;
      if (long_period()) return std::min(count, reader_.period() - begin % reader_.period());
    }
    return std::min(count, block_);
  }

  /// The elements [begin, begin + count), valid until the next call.
  const void* read(int64_t begin, int64_t count) {
    if (reader_.linear()) return converted(data_ + offset(begin), count);
    if (reader_.constant()) return repeated(1, 0, count);
    if (long_period() && !convert_) return data_ + offset(begin % reader_.period());
    if (reader_.period() > 0 && !long_period()) return repeated(reader_.period(), begin, count);
    reader_.gather(staging_.gathered, data_, from_size_, begin, count);
    return converted(staging_.gathered, count);
  }

 private:
  size_t offset(int64_t element) const { return static_cast<size_t>(element) * from_size_; }
  bool long_period() const { return reader_.period() > block_; }

  const void* converted(const std::byte* in, int64_t count) {
    if (!convert_) return in;
    convert_(staging_.ready, in, count);
    return staging_.ready;
  }

  /// Keeps so many repetitions of the first `period` elements that any `count` consecutive ones
  /// are among them.
  const void* repeated(int64_t period, int64_t begin, int64_t count) {
    const int64_t wanted = count + period - 1;
    if (filled_ == 0) {
      if (convert_) {
        convert_(staging_.ready, data_, period);
      } else {
        std::memcpy(staging_.ready, data_, static_cast<size_t>(period) * to_size_);
      }
      filled_ = period;
    }
    while (filled_ < wanted) {
      const int64_t added = std::min(filled_, wanted - filled_);
      std::memcpy(staging_.ready + static_cast<size_t>(filled_) * to_size_, staging_.ready,
                  static_cast<size_t>(added) * to_size_);
      filled_ += added;
    }
    return staging_.ready + static_cast<size_t>(begin % period) * to_size_;
  }

  Staging& staging_;
  int64_t block_;
  BroadcastReader reader_;
  const std::byte* data_;
  size_t from_size_, to_size_;
  ConvertLoop convert_;
  int64_t filled_ = 0;
};

/// Elements that go through the staging buffers at a time.
int64_t block_of(const ArithmeticRule& rule, Operands operands) {
  size_t largest = std::max(dtype_size(rule.result), dtype_size(rule.computed));
  for (size_t k = 0; k < operands.size(); k++) {
    largest = std::max({largest, operands[k]->itemsize(), dtype_size(rule.compute[k])});
  }
  return static_cast<int64_t>(kStagedBytes / largest);
}

/// Computes the elements [begin, end) of sample i; if `streamed`, past the caches.
void run_slice(const ArithmeticRule& rule, const Samples& out, Operands operands, bool streamed,
               int64_t i, int64_t begin, int64_t end) {
  std::array<Staging, kMaxOperands> staging;
  std::array<std::optional<OperandStream>, kMaxOperands> streams;
  const int64_t block = block_of(rule, operands);
  for (size_t k = 0; k < operands.size(); k++) {
    streams[k].emplace(staging[k], block, out.shape(i), *operands[k], own_index(*operands[k], i),
                       rule.compute[k]);
  }
  const bool converted = rule.computed != rule.result;
  const ConvertLoop convert = converted ? convert_loop(rule.result, rule.computed) : nullptr;
  Staging result;
  std::array<const void*, kMaxOperands> in{};
  while (begin < end) {
    int64_t count = converted || streamed ? std::min(end - begin, block) : end - begin;
    for (size_t k = 0; k < operands.size(); k++) count = streams[k]->available(begin, count);
    for (size_t k = 0; k < operands.size(); k++) in[k] = streams[k]->read(begin, count);
    if (rule.refuses_zero && has_zero(rule.compute[1], in[1], count)) {
      throw UsageError("integer division by zero (sample " + std::to_string(i) + ")");
    }
    std::byte* to = out.data<std::byte>(i) + static_cast<size_t>(begin) * out.itemsize();
    std::byte* target = streamed ? result.ready : to;
    rule.loop(converted ? result.gathered : target, in.data(), count);
    if (converted) convert(target, result.gathered, count);
    if (streamed) stream_copy(to, target, static_cast<size_t>(count) * out.itemsize());
    begin += count;
  }
  if (streamed) stream_fence();
}

double element_cost(const ArithmeticRule& rule, Operands operands) {
  double bytes = static_cast<double>(dtype_size(rule.result));
  double cost = rule.cost + (rule.computed != rule.result ? kConversionCost : 0);
  for (size_t k = 0; k < operands.size(); k++) {
    bytes += static_cast<double>(operands[k]->itemsize());
    if (!same_bits(operands[k]->dtype(), rule.compute[k])) cost += kConversionCost;
  }
  return cost + bytes * kArithmeticNanosecondsPerByte;
}

/// Whether the result should be streamed: nothing of it would still be in the caches when the last
/// operands have been read.
bool is_streamed(const Samples& out, Operands operands) {
  size_t bytes = static_cast<size_t>(out.total_volume()) * out.itemsize();
  for (const Samples* operand : operands) {
    bytes += static_cast<size_t>(operand->total_volume()) * operand->itemsize();
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
  run_slice(rule, table, {replaced.data(), operands.size()}, false, 0, 0, 256);
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

}  // namespace

Samples arithmetic(ArithmeticOp op, Operands operands) {
  std::array<DType, kMaxOperands> types{};
  std::array<const Samples*, kMaxOperands> contiguous{};
  std::array<Samples, kMaxOperands> clones;
  int ndim = 0;
  if (operands.size() > kMaxOperands) throw std::invalid_argument("too many operands");
  for (size_t k = 0; k < operands.size(); k++) {
    types[k] = operands[k]->dtype();
    ndim = std::max(ndim, operands[k]->ndim());
  }
  if (operands.size() == 2) narrow_constant(op, operands, {types.data(), 2});
  const ArithmeticRule rule = arithmetic_rule(op, {types.data(), operands.size()});
  const int64_t count = broadcast_count(operands);
  Samples out = Samples::empty(rule.result, ndim, broadcast_shapes(operands, count, ndim),
                               broadcast_layout(operands, ndim), count);
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
    const bool streamed = is_streamed(out, operands);
    for_elements(out, element_cost(rule, operands), [&](int64_t i, int64_t begin, int64_t end) {
      run_slice(rule, out, operands, streamed, i, begin, end);
    });
  }
  return out;
}

}  // namespace daliesque::tensor
