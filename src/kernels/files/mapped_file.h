// SPDX-License-Identifier: Apache-2.0
// Copying out of a file that is mapped into memory.
#pragma once

#include <cstdint>

namespace daliesque::files {

/// A file in the process's memory. Where the system holds it in pages of 4 KB, as most do, copying
/// from here is twice as fast as reading.
///
/// What can no longer be read, since the file was cut or its disk fails, raises SIGBUS. A handler
/// that is installed with the first copy makes the copy that met it fail. It leaves all other
/// signals to what was there before; if another handler replaces it, there are no more copies.
class MappedFile {
 public:
  MappedFile(int descriptor, int64_t size);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// Fills `out` with `count` bytes from `offset` on; whether that was possible. Bytes that the
  /// file lost meanwhile may be zeros. Several threads may copy.
  bool copy(char* out, int64_t count, int64_t offset) const;

 private:
  const char* data_ = nullptr;
  int64_t size_;
};

}  // namespace daliesque::files
