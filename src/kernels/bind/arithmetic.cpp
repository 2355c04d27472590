// SPDX-License-Identifier: Apache-2.0
// Element-wise arithmetic and type conversion.
#include "tensor/arithmetic.h"

#include "bind/bind.h"
#include "core/convert.h"

namespace daliesque {

namespace {

Samples arithmetic_by_name(const std::string& name, const nb::list& operands) {
  std::vector<const Samples*> pointers;
  for (nb::handle operand : operands) pointers.push_back(nb::cast<const Samples*>(operand));
  nb::gil_scoped_release release;
  return arithmetic(arithmetic_op(name), pointers);
}

int type_by_name(const std::string& name, const std::vector<int>& type_ids) {
  std::vector<DType> types;
  for (int id : type_ids) types.push_back(static_cast<DType>(id));
  return static_cast<int>(arithmetic_type(arithmetic_op(name), types));
}

Samples cast_to(const Samples& in, int type_id) {
  const auto type = static_cast<DType>(type_id);
  check_cast(type, in.dtype());
  Samples out = Samples::empty_like(in, type);
  cast(out, in.contiguous() ? in : clone(in));
  return out;
}

}  // namespace

void bind_arithmetic(nb::module_& m) {
  using namespace nb::literals;
  m.def("arithmetic", &arithmetic_by_name,
        nb::sig("def arithmetic(name: str, operands: list[Samples]) -> Samples"), "name"_a,
        "operands"_a, "Apply an element-wise operation to one to three Samples, broadcasting.");
  m.def("arithmetic_type", &type_by_name, "name"_a, "type_ids"_a,
        "The type id of the result of an element-wise operation.");
  m.def("cast", &cast_to, nb::call_guard<nb::gil_scoped_release>(), "samples"_a, "type_id"_a,
        "Convert to another type, rounding and clamping.");
}

}  // namespace daliesque
