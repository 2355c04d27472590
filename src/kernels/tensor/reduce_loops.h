// SPDX-License-Identifier: Apache-2.0
// The loops under the reductions: they add up terms of many values.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace daliesque::tensor {

/// What is collected of each value, and in which type.
enum class Term {
  whole,         ///< x, in 64-bit integers; of integers
  real,          ///< x, in double; of 64-bit integers and floats
  real_quad,     ///< sums of four x, each a float, in double; of floats
  whole_square,  ///< x * x, in 64-bit integers; of integers up to 16 bits
  real_square,   ///< x * x, in double; of wider integers and floats
  deviation,     ///< (x - mean)^2, computed in float, added in double
  lowest,        ///< the least x, in its own type
  highest,       ///< the greatest x, in its own type
};

/// totals[g] += the terms of values [g * length, (g + 1) * length), for each of `groups`.
/// `means` (deviation only) holds one mean for each group.
using ReduceRows = void (*)(void* totals, const void* in, int64_t groups, int64_t length,
                            const float* means);

/// totals[c] += the terms of column c of a matrix whose rows lie `stride` values apart.
/// `means` (deviation only) holds one mean for each column.
using ReduceColumns = void (*)(void* totals, const void* in, int64_t rows, int64_t columns,
                               int64_t stride, const float* means);

/// The order of additions depends on the shape alone, so that all instruction sets agree.
struct ReduceLoops {
  ReduceRows rows;
  ReduceColumns columns;
};

/// The loops for this processor; throws std::invalid_argument for a type that has none.
ReduceLoops reduce_loops(Term term, DType in);

namespace portable {
ReduceLoops find_reduce_loops(Term term, DType in);
}
namespace avx2 {
ReduceLoops find_reduce_loops(Term term, DType in);
}
namespace avx512 {
ReduceLoops find_reduce_loops(Term term, DType in);
}

}  // namespace daliesque::tensor
