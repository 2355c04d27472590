// SPDX-License-Identifier: Apache-2.0
#include "bind/read_errors.h"

#include <cerrno>
#include <cstring>

namespace daliesque::files {

namespace {

nb::object to_text(const std::string& path) {
  return nb::steal(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

template <class... Args>
PythonException make(PyObject* type, const Args&... args) {
  return nb::steal<PythonException>(nb::borrow(type)(args...).release());
}

}  // namespace

PythonException read_error(int code, const std::string& path) {
  if (code == kTooLarge) {
    const std::string text = "it takes more than the limit of " +
                             std::to_string(max_sample_bytes()) +
                             " bytes; readers.set_max_file_size raises it";
    return make(PyExc_OSError, EFBIG, text.c_str(), to_text(path));
  }
  const char* text = code == kFileChanged     ? "the file changed its size while it was read"
                     : code == kNoRegularFile ? "it is not a regular file"
                                              : std::strerror(code);
  const int number = code == kFileChanged ? EIO : code == kNoRegularFile ? EINVAL : code;
  return make(PyExc_OSError, number, text, to_text(path));
}

PythonException piece_error(const PieceError& error, const std::string& path) {
  if (error.code == kOtherFailure) return make(PyExc_OSError, error.reason.c_str());
  if (error.code == kEndsEarly) {
    const std::string text =
        "the file ends before the piece at byte " + std::to_string(error.offset) + " is complete";
    return make(PyExc_EOFError, text.c_str());
  }
  return read_error(error.code, path);
}

void raise(const PythonException& error) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

}  // namespace daliesque::files
