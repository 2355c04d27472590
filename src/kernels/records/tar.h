// SPDX-License-Identifier: Apache-2.0
// The table of contents of tar archives: ustar, GNU and pax.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "files/byte_source.h"

namespace daliesque::records {

/// Headers begin, and files are padded, at multiples of this many bytes.
constexpr int64_t kTarBlock = 512;

/// Why reading an archive can stop before its end.
enum class TarFault {
  none,
  no_tar,      ///< the checksum of a header is wrong
  cut_short,   ///< the archive ends inside a header or a file
  compressed,  ///< it begins like a compressed file
};

struct TarEnd {
  TarFault fault;
  int64_t offset;  ///< where the header lies that has the fault
};

/// Calls `visit(name, offset, size)` for each regular file; `offset` is that of its contents.
/// Throws ReadFailure.
TarEnd list_tar(const files::ByteSource& source,
                const std::function<void(const std::string&, int64_t, int64_t)>& visit);

}  // namespace daliesque::records
