// SPDX-License-Identifier: Apache-2.0
// Operators that join, fill and reduce arrays.
#include "bind/bind.h"
#include "decode/image_text.h"
#include "records/lz4.h"
#include "tensor/fill.h"
#include "tensor/join.h"
#include "tensor/reduce.h"

namespace daliesque {

namespace {

Samples bound_concatenate(const nb::list& parts, int axis, std::string layout) {
  std::vector<const Samples*> pointers;
  for (nb::handle part : parts) pointers.push_back(nb::cast<const Samples*>(part));
  nb::gil_scoped_release release;
  return concatenate(pointers, axis, std::move(layout));
}

Samples bound_reduce(const Samples& in, int kind, int type, std::vector<bool> reduced,
                     bool keep_dims, std::string layout, const Samples* means, int64_t ddof) {
  const ReduceAxes axes{std::move(reduced), keep_dims};
  Samples out = reduced_like(in, static_cast<DType>(type), axes, std::move(layout));
  reduce(out, in, static_cast<Reduction>(kind), axes, means, ddof);
  return out;
}

std::optional<std::tuple<int64_t, int64_t, std::string>> bound_lz4(Samples& out, const Samples& in,
                                                                   const Samples& offsets,
                                                                   const Samples& sizes) {
  auto failure = lz4_decompress(out, in, offsets, sizes);
  if (!failure) return std::nullopt;
  return std::tuple(failure->sample, failure->chunk, std::move(failure->reason));
}

}  // namespace

void bind_tensors(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<nb::gil_scoped_release>;

  m.def("concatenate", &bound_concatenate, "parts"_a, "axis"_a, "layout"_a,
        nb::sig("def concatenate(parts: list[Samples], axis: int, layout: str) -> Samples"),
        "Samples joined along an axis.");
  m.def("lz4_decompress", &bound_lz4, release(), "out"_a, "input"_a, "offsets"_a, "sizes"_a,
        "The first chunk that cannot be read: sample, chunk and reason.");
  m.def("fill", &fill, release(), "out"_a, "values"_a, "Broadcast values to the output.");
  m.def("image_texts", &image_texts, release(), "images"_a,
        "Images as the text of PGM or PPM files.");
  m.def("one_hot", &one_hot, release(), "out"_a, "input"_a, "axis"_a, "values"_a);
  m.def("reduce", &bound_reduce, release(), "samples"_a, "kind"_a, "type_id"_a, "reduced"_a,
        "keep_dims"_a, "layout"_a, "means"_a.none(), "ddof"_a);
}

}  // namespace daliesque
