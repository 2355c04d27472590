// SPDX-License-Identifier: Apache-2.0
// The header of .npy files.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/dtype.h"

namespace daliesque::files {

struct NpyHeader {
  DType dtype = DType::uint8;
  bool swapped = false;        ///< elements are in non-native byte order
  bool fortran_order = false;  ///< the first axis is the innermost one
  std::vector<int64_t> shape;
  int64_t offset = 0;  ///< where the elements begin
  int64_t nbytes = 0;  ///< of all elements

  bool operator==(const NpyHeader&) const = default;
};

/// How many bytes the header takes, by the first 12 of a file; 0 if it is no .npy file.
int64_t npy_header_size(std::string_view start);

/// The header in the first npy_header_size() bytes of a file; nothing if it is damaged or the
/// elements are not plain numbers.
std::optional<NpyHeader> parse_npy_header(std::string_view start);

}  // namespace daliesque::files
