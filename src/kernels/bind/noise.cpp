// SPDX-License-Identifier: Apache-2.0
#include "image/noise.h"

#include "bind/bind.h"

namespace daliesque {

namespace {

Samples bound_salt_and_pepper(const Samples& in, const PhiloxState& state,
                              const ArgArray<float>& probability,
                              const ArgArray<float>& salt_vs_pepper,
                              const std::optional<ArgArray<float>>& salt,
                              const std::optional<ArgArray<float>>& pepper, int channel_axis) {
  Samples out = Samples::empty_like(in);
  SaltAndPepper arguments{
      per_sample(probability), per_sample(salt_vs_pepper), {}, {}, channel_axis};
  if (salt) arguments.salt = per_sample(*salt);
  if (pepper) arguments.pepper = per_sample(*pepper);
  salt_and_pepper_noise(out, in, state, arguments);
  return out;
}

}  // namespace

void bind_noise(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  m.def(
      "gaussian_noise",
      [](const Samples& in, const PhiloxState& state, const ArgArray<float>& mean,
         const ArgArray<float>& stddev) {
        Samples out = Samples::empty_like(in);
        gaussian_noise(out, in, state, per_sample(mean), per_sample(stddev));
        return out;
      },
      "samples"_a, "state"_a, "mean"_a, "stddev"_a, release());
  m.def("salt_and_pepper_noise", &bound_salt_and_pepper, "samples"_a, "state"_a, "probability"_a,
        "salt_vs_pepper"_a, "salt"_a.none(), "pepper"_a.none(), "channel_axis"_a, release());
  m.def(
      "shot_noise",
      [](const Samples& in, const PhiloxState& state, const ArgArray<float>& factor) {
        Samples out = Samples::empty_like(in);
        shot_noise(out, in, state, per_sample(factor));
        return out;
      },
      "samples"_a, "state"_a, "factor"_a, release());
}

}  // namespace daliesque
