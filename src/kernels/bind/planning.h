// SPDX-License-Identifier: Apache-2.0
// Kernels that work sample by sample: on samples at once, or as part of a plan.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "bind/gil.h"
#include "core/planned.h"
#include "core/samples.h"

namespace daliesque {

/// Samples with which a plan begins. For all but kernels that can be planned they are just Samples.
struct PlanSource : Samples {
  explicit PlanSource(const Samples& samples) : Samples(samples) {}
};

/// The input of a kernel that can be planned: samples that there are, or a plan for some.
struct KernelInput {
  std::variant<const Samples*, const PlanSource*, const PlannedSamples*> value;

  /// Types and shapes; there may be no memory behind them.
  const Samples& outline() const {
    if (const auto* planned = std::get_if<const PlannedSamples*>(&value)) {
      return (*planned)->outline();
    }
    const auto* source = std::get_if<const PlanSource*>(&value);
    return source ? **source : *std::get<const Samples*>(value);
  }
};

/// What such a kernel returns: samples for samples, a plan for a plan.
struct KernelOutput {
  std::variant<Samples, PlannedSamples> value;
};

/// A stage that calls a function. It may have members `keeps`, `window` and `run_window`, which are
/// those of the stage.
template <class Kernel>
class KernelStage : public Stage {
 public:
  KernelStage(Samples outline, Kernel kernel)
      : Stage(std::move(outline)), kernel_(std::move(kernel)) {}
  void run(Samples& out, const Samples& in, int64_t first) const override {
    kernel_(out, in, first);
  }
  bool keeps(int64_t i) const override {
    if constexpr (requires { kernel_.keeps(i); }) {
      return kernel_.keeps(i);
    } else {
      return false;
    }
  }
  std::optional<CropWindow> window(int64_t i, const Samples& in) const override {
    if constexpr (requires { kernel_.window(i, in, outline()); }) {
      return kernel_.window(i, in, outline());
    } else {
      return std::nullopt;
    }
  }
  bool makes_windows() const override { return kMakesWindows; }
  void run_window(Samples& out, const Samples& in, int64_t i,
                  const CropWindow& window) const override {
    if constexpr (kMakesWindows) kernel_.run_window(out, in, i, window);
  }

 private:
  static constexpr bool kMakesWindows =
      requires(const Kernel& kernel, Samples& out, const CropWindow& window) {
        kernel.run_window(out, out, int64_t{}, window);
      };

  Kernel kernel_;
};

/// Whether a kernel is to run on its input now.
inline bool runs_now(const KernelInput& in) {
  return std::holds_alternative<const Samples*>(in.value);
}

/// Adds a stage to a plan.
inline KernelOutput plan(const KernelInput& in, std::shared_ptr<const Stage> stage) {
  if (const auto* source = std::get_if<const PlanSource*>(&in.value)) {
    return {PlannedSamples(**source, std::move(stage))};
  }
  PlannedSamples longer = *std::get<const PlannedSamples*>(in.value);
  longer.append(std::move(stage));
  return {std::move(longer)};
}

/// Runs `kernel`, or adds it to the plan. It has the parameters of Stage::run, and owns its
/// arguments. The interpreter's lock must be held, and is not while the kernel runs.
template <class Kernel>
KernelOutput apply(const KernelInput& in, Samples outline, Kernel kernel) {
  if (!runs_now(in)) {
    return plan(in,
                std::make_shared<const KernelStage<Kernel>>(std::move(outline), std::move(kernel)));
  }
  const ReleaseGil release;
  outline.materialize();
  kernel(outline, in.outline(), 0);
  return {std::move(outline)};
}

}  // namespace daliesque

namespace nanobind::detail {

template <>
struct type_caster<daliesque::KernelInput> {
  NB_TYPE_CASTER(daliesque::KernelInput, make_caster<daliesque::Samples>::Name)

  bool from_python(handle source, uint8_t, cleanup_list*) {
    if (isinstance<daliesque::PlannedSamples>(source)) {
      value.value = inst_ptr<const daliesque::PlannedSamples>(source);
    } else if (isinstance<daliesque::PlanSource>(source)) {
      value.value = inst_ptr<const daliesque::PlanSource>(source);
    } else if (isinstance<daliesque::Samples>(source)) {
      value.value = inst_ptr<const daliesque::Samples>(source);
    } else {
      return false;
    }
    return true;
  }
};

template <>
struct type_caster<daliesque::KernelOutput> {
  NB_TYPE_CASTER(daliesque::KernelOutput, make_caster<daliesque::Samples>::Name)

  static handle from_cpp(daliesque::KernelOutput&& output, rv_policy, cleanup_list* cleanup) {
    return std::visit(
        [cleanup](auto&& made) {
          using Made = std::decay_t<decltype(made)>;
          return make_caster<Made>::from_cpp(std::move(made), rv_policy::move, cleanup);
        },
        std::move(output.value));
  }
};

}  // namespace nanobind::detail
