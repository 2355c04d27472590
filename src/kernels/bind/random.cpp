// SPDX-License-Identifier: Apache-2.0
// The generator and the kernels that draw from it.
#include "random/random.h"

#include <functional>
#include <stdexcept>

#include "bind/bind.h"
#include "random/permutation.h"
#include "random/std_random.h"

namespace daliesque::random {

namespace {

void bind_generator(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<PhiloxState>(m, "PhiloxState", "A position in the stream of a generator.")
      .def_static(
          "parse", [](const std::string& text) { return PhiloxState::parse(text); }, "text"_a)
      .def(
          "from_sample",
          [](const PhiloxState& state, int64_t index) { return sample_state(state, index); },
          "index"_a, "The state of the same call for a part of a batch that begins at a sample.")
      .def("__str__", &PhiloxState::to_string)
      .def("__repr__",
           [](const PhiloxState& state) { return "PhiloxState('" + state.to_string() + "')"; })
      .def("__getstate__", &PhiloxState::to_string)
      .def("__setstate__",
           [](PhiloxState& state, const std::string& text) {
             new (&state) PhiloxState(PhiloxState::parse(text));
           })
      .def("__eq__",
           [](const PhiloxState& state, nb::handle other) {
             PhiloxState value;
             return nb::try_cast(other, value) && state == value;
           })
      .def("__hash__",
           [](const PhiloxState& state) { return std::hash<std::string>()(state.to_string()); });

  nb::class_<Philox>(m, "Philox")
      .def(
          "__init__",
          [](Philox* self, uint64_t seed) { new (self) Philox(PhiloxState{seed, 0, 0, 0}); },
          "seed"_a)
      .def(nb::init<const PhiloxState&>(), "state"_a)
      .def("next", &Philox::operator())
      .def("skip", &Philox::skip, "draws"_a)
      .def("state", [](const Philox& self) { return self.state(); })
      .def("draw_operator_state", &draw_operator_state,
           "Takes the words that one call of a random operator takes.");
}

/// What readers need to visit samples in the reference's order.
void bind_shuffling(nb::module_& m) {
  using namespace nb::literals;
  using Indices = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

  m.def(
      "shuffle_indices",
      [](const Indices& indices, uint64_t seed, bool wide) {
        if (wide) {
          Mt19937x64 engine(seed);
          shuffle(indices.data(), indices.size(), engine);
        } else {
          Mt19937 engine(static_cast<uint32_t>(seed));
          shuffle(indices.data(), indices.size(), engine);
        }
      },
      nb::call_guard<ReleaseGil>(), "indices"_a, "seed"_a, "wide"_a,
      "std::shuffle in place, with a std::mt19937 or, if `wide`, a std::mt19937_64.");

  nb::class_<MinStd>(m, "MinStd", "std::default_random_engine, from a std::seed_seq.")
      .def(nb::init<int64_t>(), "seed"_a)
      .def(
          "below",
          [](MinStd& engine, uint64_t count) {
            if (count == 0) throw std::invalid_argument("count must be positive");
            return uniform_up_to(engine, count - 1);
          },
          "count"_a, "A random integer in [0, count - 1].")
      .def_prop_rw("state", &MinStd::state, &MinStd::set_state)
      .def(
          "shuffle_nearby",
          [](MinStd& engine, const Indices& indices, size_t reach) {
            if (reach == 0) throw std::invalid_argument("reach must be positive");
            shuffle_nearby(indices.data(), indices.size(), reach, engine);
          },
          nb::call_guard<ReleaseGil>(), "indices"_a, "reach"_a,
          "Pass the indices, in place, through a buffer of `reach` from which random ones come.");
}

void bound_roi_crop(Samples& out, const PhiloxState& state, const ArgArray<int64_t>& crop,
                    const ArgArray<int64_t>& roi_start, const ArgArray<int64_t>& roi_shape,
                    const std::optional<ArgArray<int64_t>>& input_shape) {
  const int64_t count = out.size(), axes = count ? out.volume(0) : 0;
  const auto inputs = per_sample(input_shape, count, axes);
  roi_random_crop(out, state, per_sample(crop, count, axes), per_sample(roi_start, count, axes),
                  per_sample(roi_shape, count, axes), inputs ? &*inputs : nullptr);
}

}  // namespace

void bind_random(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<ReleaseGil>;

  bind_generator(m);
  bind_shuffling(m);
  m.def(
      "uniform",
      [](Samples& out, const PhiloxState& state, const ArgArray<float>& range) {
        uniform(out, state, per_sample(range, out.size(), 2));
      },
      release(), "out"_a, "state"_a, "range"_a);
  m.def("uniform_values", &uniform_values, release(), "out"_a, "state"_a, "values"_a);
  m.def(
      "normal",
      [](Samples& out, const PhiloxState& state, const ArgArray<float>& mean,
         const ArgArray<float>& stddev) {
        normal(out, state, per_sample(mean, out.size()), per_sample(stddev, out.size()));
      },
      release(), "out"_a, "state"_a, "mean"_a, "stddev"_a);
  m.def(
      "coin_flip",
      [](Samples& out, const PhiloxState& state, const ArgArray<float>& probability) {
        coin_flip(out, state, per_sample(probability, out.size()));
      },
      release(), "out"_a, "state"_a, "probability"_a);
  m.def(
      "beta",
      [](Samples& out, const PhiloxState& state, const ArgArray<float>& alpha,
         const ArgArray<float>& beta_values) {
        beta(out, state, per_sample(alpha, out.size()), per_sample(beta_values, out.size()));
      },
      release(), "out"_a, "state"_a, "alpha"_a, "beta"_a);
  m.def("choice", &choice, release(), "out"_a, "state"_a, "entries"_a, "weights"_a.none());
  m.def("batch_permutation", &batch_permutation, release(), "out"_a, "state"_a, "repetitions"_a,
        "no_fixed_points"_a);
  m.def("roi_random_crop", &bound_roi_crop, release(), "out"_a, "state"_a, "crop"_a, "roi_start"_a,
        "roi_shape"_a, "input_shape"_a.none());
}

}  // namespace daliesque::random
