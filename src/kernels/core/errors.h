// SPDX-License-Identifier: Apache-2.0
// Whose mistake it is. What a user can cause is a UsageError; the library's own misuse of a kernel
// is a std::logic_error (std::invalid_argument, std::out_of_range, ...), which Python sees as
// InternalError.
#pragma once

#include <stdexcept>

namespace daliesque {

/// Data or arguments that cannot be processed; the text continues the name of the operator.
/// A ValueError in Python.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace daliesque
