// SPDX-License-Identifier: Apache-2.0
#include "tensor/arithmetic_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "core/broadcast.h"
#include "core/convert.h"
#include "core/errors.h"
#include "core/stream.h"

namespace daliesque::tensor {

namespace {

/// Bytes of an operand that go through its buffers at a time, few enough to stay in the L1 cache.
/// Of plain steps, memory is the limit: the processor fetches the next lines of an array ahead, but
/// not beyond a page of 4096 bytes, so that pages in one piece are waited for one by one. The more
/// arrays steps have, the smaller the best pieces are. Plain steps whose result is not streamed
/// need pieces for their constants only.
constexpr size_t kStagedBytes = 4096, kPlainBytes = 2048, kBytesOfSteps = 1024,
                 kDirectBytes = 16384;

/// Brings an operand, block by block, into the order of the result and the type of the loop.
class OperandStream {
 public:
  /// For `block` elements at a time, there are `ready`, twice as large as they are, and `gathered`.
  OperandStream(std::byte* ready, std::byte* gathered, int64_t block, Shape result,
                const Samples& operand, int64_t i, DType type)
      : ready_(ready),
        gathered_(gathered),
        block_(block),
        reader_(result, operand.shape(i)),
        data_(operand.data<const std::byte>(i)),
        from_size_(operand.itemsize()),
        to_size_(dtype_size(type)),
        convert_(same_bits(operand.dtype(), type) ? nullptr : convert_loop(type, operand.dtype())) {
  }

  /// Where the operand lies if it is read as it is, in order.
  const std::byte* plain() const { return reader_.linear() && !convert_ ? data_ : nullptr; }
  bool constant() const { return reader_.constant(); }
  /// Whether it is read as it is, over and over again.
  bool periodic() const { return long_period() && !convert_; }
  /// How many elements there are then from `begin` on until it begins again.
  int64_t rest_of_period(int64_t begin) const {
    return reader_.period() - begin % reader_.period();
  }

  /// The elements [begin, begin + count), valid until the next call.
  const void* read(int64_t begin, int64_t count) {
    if (reader_.linear()) return converted(data_ + offset(begin), count);
    if (reader_.constant()) return repeated(1, 0, count);
    if (periodic()) return data_ + offset(begin % reader_.period());
    if (reader_.period() > 0 && !long_period()) return repeated(reader_.period(), begin, count);
    reader_.gather(gathered_, data_, from_size_, begin, count);
    return converted(gathered_, count);
  }

 private:
  size_t offset(int64_t element) const { return static_cast<size_t>(element) * from_size_; }
  bool long_period() const { return reader_.period() > block_; }

  const void* converted(const std::byte* in, int64_t count) {
    if (!convert_) return in;
    convert_(ready_, in, count);
    return ready_;
  }

  /// Keeps so many repetitions of the first `period` elements that any `count` consecutive ones
  /// are among them.
  const void* repeated(int64_t period, int64_t begin, int64_t count) {
    const int64_t wanted = count + period - 1;
    if (filled_ == 0) {
      if (convert_) {
        convert_(ready_, data_, period);
      } else {
        std::memcpy(ready_, data_, static_cast<size_t>(period) * to_size_);
      }
      filled_ = period;
    }
    while (filled_ < wanted) {
      const int64_t added = std::min(filled_, wanted - filled_);
      std::memcpy(ready_ + static_cast<size_t>(filled_) * to_size_, ready_,
                  static_cast<size_t>(added) * to_size_);
      filled_ += added;
    }
    return ready_ + static_cast<size_t>(begin % period) * to_size_;
  }

  std::byte *ready_, *gathered_;
  int64_t block_;
  BroadcastReader reader_;
  const std::byte* data_;
  size_t from_size_, to_size_;
  ConvertLoop convert_;
  int64_t filled_ = 0;
};

/// The bytes of the largest element that goes through buffers.
size_t largest_element(std::span<const ArithmeticStep> steps) {
  size_t largest = 1;
  for (const ArithmeticStep& step : steps) {
    largest = std::max({largest, dtype_size(step.rule.result), dtype_size(step.rule.computed)});
    for (size_t k = 0; k < step.arity(); k++) {
      largest = std::max({largest, step.operands[k]->itemsize(), dtype_size(step.rule.compute[k])});
    }
  }
  return largest;
}

/// Whether a step takes data and numbers as they are, one element after the other.
bool is_plain(const ArithmeticStep& step, const Samples& out, int64_t i) {
  bool plain = step.rule.computed == step.rule.result;
  for (size_t k = 0; k < step.arity(); k++) {
    const Samples& operand = *step.operands[k];
    const int64_t volume = operand.volume(own_index(operand, i));
    const bool same = volume == out.volume(i) && same_bits(operand.dtype(), step.rule.compute[k]);
    plain &= same || volume == 1;
  }
  return plain;
}

size_t staged_bytes(std::span<const ArithmeticStep> steps, const Samples& out, bool streamed,
                    int64_t i) {
  if (steps.size() > 1) return kBytesOfSteps;
  if (!is_plain(steps[0], out, i)) return kStagedBytes;
  return streamed ? kPlainBytes : kDirectBytes;
}

/// Steps on their way through one sample. Each thread keeps its own for the next sample: to
/// allocate the buffers takes longer than a small sample does.
class Run {
 public:
  void prepare(std::span<const ArithmeticStep> steps, const Samples& out, bool streamed,
               int64_t i) {
    out_ = &out;
    sample_ = i;
    streamed_ = streamed;
    in_blocks_ = streamed || steps.size() > 1;
    const size_t bytes = staged_bytes(steps, out, streamed, i);
    const auto elements = static_cast<int64_t>(bytes / largest_element(steps));
    block_ = std::clamp(out.volume(i), int64_t{1}, elements);
    const size_t wanted = steps.size() * (3 * kMaxOperands + 2) * bytes;
    if (wanted > size_) {
      size_ = 0;
      memory_.reset(static_cast<std::byte*>(::operator new(wanted, kAlignment)));
      size_ = wanted;
    }
    free_ = memory_.get();
    streams_.clear();
    periodic_.clear();
    tasks_.clear();
    streams_.reserve(steps.size() * kMaxOperands);
    for (const ArithmeticStep& step : steps) add(step, bytes);
    if (!streamed) tasks_.back().target = nullptr;
  }

  void run(int64_t begin, int64_t end) {
    const size_t itemsize = out_->itemsize();
    std::byte* to = out_->data<std::byte>(sample_) + static_cast<size_t>(begin) * itemsize;
    while (begin < end) {
      int64_t count = in_blocks_ ? std::min(end - begin, block_) : end - begin;
      for (const OperandStream* stream : periodic_) {
        count = std::min(count, stream->rest_of_period(begin));
      }
      for (const Task& task : tasks_) run_task(task, to, begin, count);
      const size_t bytes = static_cast<size_t>(count) * itemsize;
      if (streamed_) stream_copy(to, tasks_.back().target, bytes);
      to += bytes;
      begin += count;
    }
    if (streamed_) stream_fence();
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };

  /// Where the loop of a task finds an operand: `size` bytes further on for each element, or in the
  /// buffer of a stream, or converted from what another task has made.
  struct Source {
    const std::byte* data = nullptr;
    size_t size = 0;
    OperandStream* stream = nullptr;
    ConvertLoop convert = nullptr;
    std::byte* converted = nullptr;
  };

  /// One step: `target` is its buffer, null if it writes to the result.
  struct Task {
    const ArithmeticRule* rule;
    std::array<Source, kMaxOperands> sources;
    std::byte* target;
    ConvertLoop convert;
    std::byte* computed;
  };

  std::byte* take(size_t bytes) { return std::exchange(free_, free_ + bytes); }

  void add(const ArithmeticStep& step, size_t bytes) {
    const ArithmeticRule& rule = step.rule;
    Task task{&rule, {}, take(bytes), nullptr, nullptr};
    for (size_t k = 0; k < step.arity(); k++) {
      const Samples& operand = *step.operands[k];
      const int maker = step.made_by[k];
      if (maker == ArithmeticStep::kData) {
        task.sources[k] = data_source(operand, rule.compute[k], bytes);
      } else {
        task.sources[k].data = tasks_[static_cast<size_t>(maker)].target;
        if (same_bits(operand.dtype(), rule.compute[k])) continue;
        task.sources[k].convert = convert_loop(rule.compute[k], operand.dtype());
        task.sources[k].converted = take(bytes);
      }
    }
    if (rule.computed != rule.result) {
      in_blocks_ = true;
      task.convert = convert_loop(rule.result, rule.computed);
      task.computed = take(bytes);
    }
    tasks_.push_back(task);
  }

  Source data_source(const Samples& operand, DType type, size_t bytes) {
    OperandStream& stream =
        streams_.emplace_back(free_, free_ + 2 * bytes, block_, out_->shape(sample_), operand,
                              own_index(operand, sample_), type);
    if (const std::byte* data = stream.plain()) return {data, operand.itemsize()};
    take(3 * bytes);
    if (stream.periodic()) {
      periodic_.push_back(&stream);
    } else {
      in_blocks_ = true;
    }
    if (stream.constant()) return {static_cast<const std::byte*>(stream.read(0, block_))};
    return {nullptr, 0, &stream};
  }

  void run_task(const Task& task, std::byte* to, int64_t begin, int64_t count) {
    std::array<const void*, kMaxOperands> in{};
    for (size_t k = 0; k < kMaxOperands; k++) {
      const Source& source = task.sources[k];
      in[k] = source.data + static_cast<size_t>(begin) * source.size;
      if (source.stream) in[k] = source.stream->read(begin, count);
      if (source.convert) {
        source.convert(source.converted, source.data, count);
        in[k] = source.converted;
      }
    }
    const ArithmeticRule& rule = *task.rule;
    if (rule.refuses_zero && has_zero(rule.compute[1], in[1], count)) {
      throw UsageError("integer division by zero (sample " + std::to_string(sample_) + ")");
    }
    std::byte* target = task.target ? task.target : to;
    rule.loop(task.convert ? task.computed : target, in.data(), count);
    if (task.convert) task.convert(target, task.computed, count);
  }

  const Samples* out_ = nullptr;
  int64_t sample_ = 0, block_ = 0;
  bool streamed_ = false, in_blocks_ = false;
  std::unique_ptr<std::byte, Free> memory_;
  size_t size_ = 0;
  std::byte* free_ = nullptr;
  std::vector<OperandStream> streams_;
  std::vector<const OperandStream*> periodic_;
  std::vector<Task> tasks_;
};

}  // namespace

bool same_bits(DType a, DType b) {
  return a == b || (a == DType::uint64 && b == DType::int64) ||
         (a == DType::boolean && b == DType::uint8);
}

void run_steps(std::span<const ArithmeticStep> steps, const Samples& out, bool streamed, int64_t i,
               int64_t begin, int64_t end) {
  static thread_local Run run;
  run.prepare(steps, out, streamed, i);
  run.run(begin, end);
}

}  // namespace daliesque::tensor
