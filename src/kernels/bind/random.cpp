// SPDX-License-Identifier: Apache-2.0
// The generator and the kernels that draw from it.
#include "../random.h"

#include <functional>

#include "bind.h"

namespace daliesque {

namespace {

void bind_generator(nb::module_& m) {
  using namespace nb::literals;

  nb::class_<PhiloxState>(m, "PhiloxState", "A place in the stream of a generator.")
      .def_static(
          "parse", [](const std::string& text) { return PhiloxState::parse(text); }, "text"_a)
      .def("__str__", &PhiloxState::to_string)
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

}  // namespace

void bind_random(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  bind_generator(m);
  m.def(
      "uniform",
      [](Samples& out, const PhiloxState& state, const ArgArray<float>& range) {
        uniform(out, state, per_sample<float>(range));
      },
      release(), "out"_a, "state"_a, "range"_a);
  m.def("uniform_values", &uniform_values, release(), "out"_a, "state"_a, "values"_a);
  m.def(
      "normal",
      [](Samples& out, const PhiloxState& state, const ArgArray<float>& mean,
         const ArgArray<float>& stddev) {
        normal(out, state, per_sample<float>(mean), per_sample<float>(stddev));
      },
      release(), "out"_a, "state"_a, "mean"_a, "stddev"_a);
  m.def(
      "coin_flip",
      [](Samples& out, const PhiloxState& state, const ArgArray<float>& probability) {
        coin_flip(out, state, per_sample<float>(probability));
      },
      release(), "out"_a, "state"_a, "probability"_a);
  m.def(
      "beta",
      [](Samples& out, const PhiloxState& state, const ArgArray<float>& alpha,
         const ArgArray<float>& beta_values) {
        beta(out, state, per_sample<float>(alpha), per_sample<float>(beta_values));
      },
      release(), "out"_a, "state"_a, "alpha"_a, "beta"_a);
  m.def("choice", &choice, release(), "out"_a, "state"_a, "entries"_a, "weights"_a.none());
}

}  // namespace daliesque
