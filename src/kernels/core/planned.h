// SPDX-License-Identifier: Apache-2.0
// Chains of kernels that run sample by sample.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/crop_window.h"
#include "core/meter.h"
#include "core/samples.h"

namespace daliesque {

/// A kernel of which each sample of the output depends on the same sample of the input only, with
/// its arguments.
class Stage {
 public:
  /// `outline` is that of the output.
  explicit Stage(Samples outline) : outline_(std::move(outline)) {}
  virtual ~Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Fills `out` with what becomes of `in`: samples of the batch, from number `first` on.
  virtual void run(Samples& out, const Samples& in, int64_t first) const = 0;

  /// Whether sample i of the output is that of the input: then it need not be made.
  virtual bool keeps(int64_t /*i*/) const { return false; }

  /// If sample i of the output is just a window of that of the input, which is like `in`: where it
  /// is.
  virtual std::optional<CropWindow> window(int64_t /*i*/, const Samples& /*in*/) const {
    return std::nullopt;
  }

  /// Whether run_window() is there.
  virtual bool makes_windows() const { return false; }

  /// Fills `out` with a window of what becomes of `in`, sample i of the batch.
  virtual void run_window(Samples& /*out*/, const Samples& /*in*/, int64_t /*i*/,
                          const CropWindow& /*window*/) const {}

  /// Estimated nanoseconds to read sample i of the input, of so many bytes.
  virtual double read_cost(int64_t /*i*/, double bytes) const { return kByteCost * bytes; }

  const Samples& outline() const { return outline_; }

 protected:
  static constexpr double kByteCost = 0.3;

 private:
  Samples outline_;
};

/// Samples that do not exist yet: others, and the kernels that they go through.
///
/// When they are made, a thread takes a sample through all kernels before it begins with the next:
/// what is in between is never there for more than one sample of each thread, and still in its
/// cache when the next kernel reads it.
class PlannedSamples {
 public:
  PlannedSamples(Samples source, std::shared_ptr<const Stage> stage)
      : source_(std::make_shared<const Samples>(std::move(source))) {
    append(std::move(stage));
  }

  /// Kernels for any samples like these, which need no memory: none at first.
  explicit PlannedSamples(Samples outline)
      : source_(std::make_shared<const Samples>(outline)), outline_(std::move(outline)) {}

  /// Adds a kernel after those that there are; it counts for whom the thread counts now.
  void append(std::shared_ptr<const Stage> stage);

  /// What the samples are going to be like.
  const Samples& outline() const { return outline_; }
  void set_layout(std::string layout) { outline_.set_layout(std::move(layout)); }

  /// The samples, packed in one buffer. What a kernel throws comes out; then nothing was made.
  Samples make() const;

  /// What becomes of other samples like the source, one kernel after the other.
  Samples run_on(const Samples& in) const;
  /// Whether there are no kernels yet.
  bool empty() const { return steps_.empty(); }

 private:
  /// A kernel, and who it counts for, if anybody.
  struct Step {
    std::shared_ptr<const Stage> stage;
    Meter* meter;
  };

  double cost(int64_t i) const;
  size_t run_step(Samples& data, const Samples& out, int64_t i, size_t k) const;
  void make_sample(Samples& out, int64_t i, std::vector<Count>& spent) const;

  std::shared_ptr<const Samples> source_;
  Samples outline_;
  std::vector<Step> steps_;
};

}  // namespace daliesque
