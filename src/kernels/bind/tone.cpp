// SPDX-License-Identifier: Apache-2.0
#include "bind/bind.h"
#include "image/debayer.h"
#include "image/histogram.h"
#include "tensor/lookup.h"

namespace daliesque {

void bind_tone(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  m.def(
      "look_up",
      [](const Samples& in, const Samples& table, const Samples& otherwise) {
        Samples out = Samples::empty_like(in, table.dtype());
        look_up(out, in, table, otherwise);
        return out;
      },
      "samples"_a, "table"_a, "otherwise"_a, release(),
      "The entries of a table at the places that the samples hold.");
  m.def(
      "equalize",
      [](const Samples& in, int outer) {
        Samples out = Samples::empty_like(in);
        equalize(out, in, outer);
        return out;
      },
      "samples"_a, "outer"_a, release());
  m.def(
      "clahe",
      [](const Samples& in, int tiles_x, int tiles_y, float clip_limit, bool luma_only) {
        Samples out = Samples::empty_like(in);
        clahe(out, in, {tiles_x, tiles_y, clip_limit, luma_only});
        return out;
      },
      "samples"_a, "tiles_x"_a, "tiles_y"_a, "clip_limit"_a, "luma_only"_a, release());
  m.def(
      "debayer",
      [](Samples& out, const Samples& in, const ArgArray<int32_t>& blue_position, int algorithm) {
        debayer(out, in, per_sample(blue_position), static_cast<Demosaic>(algorithm));
      },
      "out"_a, "samples"_a, "blue_position"_a, "algorithm"_a, release());
}

}  // namespace daliesque
