// SPDX-License-Identifier: Apache-2.0
// What failed reads become in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "files/archives.h"

namespace nb = nanobind;

namespace daliesque::files {

/// An instance of a Python exception.
class PythonException : public nb::object {
  NB_OBJECT(PythonException, nb::object, "Exception", PyExceptionInstance_Check)
};

/// By index in a request, why some of it could not be read.
using ReadErrors = nb::typed<nb::dict, int64_t, PythonException>;

/// The error of a file that could not be read: OSError (or its subclass for the code) with errno
/// and file name, for an errno code or one of those in files/open_file.h.
PythonException read_error(int code, const std::string& path);

/// The same for a part of a file: EOFError if the file ends before it does, and for a source that
/// is no local file an OSError with the reason in words.
PythonException piece_error(const PieceError& error, const std::string& path);

[[noreturn]] void raise(const PythonException& error);

}  // namespace daliesque::files
