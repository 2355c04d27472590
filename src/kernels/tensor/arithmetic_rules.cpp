// SPDX-License-Identifier: Apache-2.0
#include "tensor/arithmetic_rules.h"

#include <stdexcept>
#include <string>

#include "core/errors.h"
#include "core/simd.h"
#include "tensor/arithmetic_loops.h"

namespace daliesque::tensor {

namespace {

using Op = ArithmeticOp;

enum class Kind : uint8_t {
  number,      ///< the result has the promoted type
  real,        ///< as `number`, but integers give float32
  comparison,  ///< the result is boolean
  bitwise,     ///< integers and booleans only
};

struct Entry {
  std::string_view name;
  Op op;
  int arity;
  Kind kind;
  double cost;
};

constexpr double kCheap = 0.05, kSlow = 1, kFunction = 2, kLibrary = 8;

// The names are those by which operators ask for an operation; the costs are measured roughly.
constexpr Entry kEntries[] = {
    {"plus", Op::plus, 1, Kind::number, kCheap},
    {"minus", Op::minus, 1, Kind::number, kCheap},
    {"bitnot", Op::bit_not, 1, Kind::bitwise, kCheap},
    {"abs", Op::abs, 1, Kind::number, kCheap},
    {"fabs", Op::fabs, 1, Kind::real, kCheap},
    {"sqrt", Op::sqrt, 1, Kind::real, kSlow},
    {"rsqrt", Op::rsqrt, 1, Kind::real, kSlow},
    {"cbrt", Op::cbrt, 1, Kind::real, kFunction},
    {"exp", Op::exp, 1, Kind::real, kFunction},
    {"log", Op::log, 1, Kind::real, kFunction},
    {"log2", Op::log2, 1, Kind::real, kFunction},
    {"log10", Op::log10, 1, Kind::real, kFunction},
    {"floor", Op::floor, 1, Kind::real, kCheap},
    {"ceil", Op::ceil, 1, Kind::real, kCheap},
    {"sin", Op::sin, 1, Kind::real, kFunction},
    {"cos", Op::cos, 1, Kind::real, kFunction},
    {"tan", Op::tan, 1, Kind::real, kFunction},
    {"asin", Op::asin, 1, Kind::real, kFunction},
    {"acos", Op::acos, 1, Kind::real, kFunction},
    {"atan", Op::atan, 1, Kind::real, kFunction},
    {"sinh", Op::sinh, 1, Kind::real, kFunction},
    {"cosh", Op::cosh, 1, Kind::real, kFunction},
    {"tanh", Op::tanh, 1, Kind::real, kFunction},
    {"asinh", Op::asinh, 1, Kind::real, kFunction},
    {"acosh", Op::acosh, 1, Kind::real, kFunction},
    {"atanh", Op::atanh, 1, Kind::real, kFunction},
    {"add", Op::add, 2, Kind::number, kCheap},
    {"sub", Op::sub, 2, Kind::number, kCheap},
    {"mul", Op::mul, 2, Kind::number, kCheap},
    {"div", Op::div, 2, Kind::number, kSlow},
    {"fdiv", Op::fdiv, 2, Kind::real, kSlow},
    {"mod", Op::mod, 2, Kind::number, kSlow},
    {"min", Op::min, 2, Kind::number, kCheap},
    {"max", Op::max, 2, Kind::number, kCheap},
    {"pow", Op::pow, 2, Kind::number, kLibrary},
    {"fpow", Op::fpow, 2, Kind::real, kLibrary},
    {"atan2", Op::atan2, 2, Kind::real, kFunction},
    {"eq", Op::eq, 2, Kind::comparison, kCheap},
    {"neq", Op::neq, 2, Kind::comparison, kCheap},
    {"lt", Op::lt, 2, Kind::comparison, kCheap},
    {"leq", Op::leq, 2, Kind::comparison, kCheap},
    {"gt", Op::gt, 2, Kind::comparison, kCheap},
    {"geq", Op::geq, 2, Kind::comparison, kCheap},
    {"bitand", Op::bit_and, 2, Kind::bitwise, kCheap},
    {"bitor", Op::bit_or, 2, Kind::bitwise, kCheap},
    {"bitxor", Op::bit_xor, 2, Kind::bitwise, kCheap},
    {"lshift", Op::lshift, 2, Kind::bitwise, kCheap},
    {"rshift", Op::rshift, 2, Kind::bitwise, kCheap},
    {"clamp", Op::clamp, 3, Kind::number, kCheap},
};

constexpr bool entries_follow_the_enum() {
  for (size_t i = 0; i < std::size(kEntries); i++) {
    if (static_cast<size_t>(kEntries[i].op) != i) return false;
  }
  return true;
}
static_assert(entries_follow_the_enum());

const Entry& entry(Op op) { return kEntries[static_cast<size_t>(op)]; }

bool is_half_type(DType type) { return type == DType::float16 || type == DType::bfloat16; }

DType signed_of_size(size_t bytes) {
  switch (bytes) {
    case 1:
      return DType::int8;
    case 2:
      return DType::int16;
    case 4:
      return DType::int32;
    default:
      return DType::int64;
  }
}

std::string list_of(std::span<const DType> types) {
  std::string text;
  for (size_t k = 0; k < types.size(); k++) {
    if (k) text += k + 1 == types.size() ? " and " : ", ";
    text += dtype_name(types[k]);
  }
  return text;
}

void check_operands(const Entry& e, std::span<const DType> types) {
  if (types.size() != static_cast<size_t>(e.arity)) {
    throw std::invalid_argument("takes " + std::to_string(e.arity) + " operands; got " +
                                std::to_string(types.size()));
  }
  bool all_boolean = true, all_integer = true;
  for (DType type : types) {
    if (storage_type(type) != type) {
      throw UsageError(std::string("operands must be numbers or booleans; got ") +
                       dtype_name(type));
    }
    all_boolean &= type == DType::boolean;
    all_integer &= !is_floating(type);
  }
  if (e.kind == Kind::bitwise && !all_integer) {
    throw UsageError("operands must be integers or booleans; got " + list_of(types));
  }
  const bool arithmetic = e.kind == Kind::number || e.kind == Kind::real;
  if (arithmetic && all_boolean && e.op != Op::mul) {
    throw UsageError(
        e.arity == 1 ? "the operand must be a number; got bool. Use ~, or cast it to a number"
                     : "at least one operand must be a number; got bool only. Use &, | or ^, or "
                       "cast an operand to a number");
  }
}

DType promote_all(std::span<const DType> types) {
  DType type = types[0];
  for (DType other : types.subspan(1)) type = promote(type, other);
  return type;
}

/// Where an operation on operands that meet in `type` is computed.
DType computation_type(DType type) { return is_half_type(type) ? DType::float32 : type; }

DType result_type(const Entry& e, std::span<const DType> types) {
  if (e.kind == Kind::comparison) return DType::boolean;
  const DType type = promote_all(types);
  return e.kind == Kind::real && !is_floating(type) ? DType::float32 : type;
}

ArithmeticLoop find_loop(Op op, DType left, DType right) {
  ArithmeticLoop loop = DALIESQUE_CHOOSE(arithmetic_loop(op, left, right));
  if (!loop) loop = DALIESQUE_CHOOSE_512(function_loop(op, left));
  return loop ? loop : math_loop(op, left);
}

}  // namespace

bool is_floating(DType type) {
  return is_half_type(type) || type == DType::float32 || type == DType::float64;
}

bool is_signed_integer(DType type) {
  return type == DType::int8 || type == DType::int16 || type == DType::int32 ||
         type == DType::int64;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  const size_t a_size = dtype_size(a), b_size = dtype_size(b);
  if (is_floating(a) && is_floating(b)) {
    // Neither 16-bit type holds the other.
    if (a_size == b_size) return DType::float32;
    return a_size > b_size ? a : b;
  }
  if (is_floating(a)) return a;
  if (is_floating(b)) return b;
  if (is_signed_integer(a) == is_signed_integer(b)) return a_size > b_size ? a : b;
  const DType with_sign = is_signed_integer(a) ? a : b;
  const size_t unsigned_size = is_signed_integer(a) ? b_size : a_size;
  return dtype_size(with_sign) > unsigned_size ? with_sign : signed_of_size(2 * unsigned_size);
}

ArithmeticOp arithmetic_op(std::string_view name) {
  for (const Entry& e : kEntries) {
    if (e.name == name) return e.op;
  }
  throw std::invalid_argument("there is no operation named " + std::string(name));
}

DType arithmetic_type(ArithmeticOp op, std::span<const DType> types) {
  check_operands(entry(op), types);
  return result_type(entry(op), types);
}

ArithmeticRule arithmetic_rule(ArithmeticOp op, std::span<const DType> types) {
  const Entry& e = entry(op);
  check_operands(e, types);
  ArithmeticRule rule{};
  rule.op = op;
  rule.arity = e.arity;
  rule.result = result_type(e, types);
  rule.cost = e.cost;
  DType type = computation_type(e.kind == Kind::comparison ? promote_all(types) : rule.result);
  // As in the reference, the remainder of an integer and a floating-point number is a double's.
  if (op == Op::mod && is_floating(types[0]) != is_floating(types[1])) type = DType::float64;
  rule.compute.fill(type);
  if (e.kind == Kind::comparison && type == DType::int64) {
    // No integer type holds uint64 and a signed type: these are compared as they are.
    for (size_t k = 0; k < 2; k++) {
      if (types[k] == DType::uint64) rule.compute[k] = DType::uint64;
    }
  }
  rule.computed = e.kind == Kind::comparison ? DType::boolean : type;
  rule.refuses_zero = (op == Op::div || op == Op::mod) && !is_floating(type);
  rule.loop = find_loop(op, rule.compute[0], rule.compute[1]);
  if (!rule.loop) throw std::logic_error("no loop for " + std::string(e.name));
  return rule;
}

bool has_zero(DType type, const void* values, int64_t count) {
  return DALIESQUE_CHOOSE(has_zero(type, values, count));
}

}  // namespace daliesque::tensor
