// SPDX-License-Identifier: Apache-2.0
// Where the values in a file of a Lightning Memory-Mapped Database are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "files/byte_source.h"

namespace daliesque::records {

/// What can be wrong with a database.
enum class LmdbFault {
  none,
  no_database,  ///< there is no page that describes one, of the one version in use
  unsupported,  ///< keys have several values, or the values are databases of their own
  damaged,      ///< pages refer to what is not there
};

/// The entries of a database, in the order of their keys.
struct LmdbIndex {
  std::vector<int64_t> offsets, sizes, key_ends;
  std::string keys;
  LmdbFault fault = LmdbFault::none;
  int64_t fault_page = 0;
};

/// Finds all entries, up to where a fault ends the search. Throws ReadFailure.
LmdbIndex index_lmdb(const files::ByteSource& source);

}  // namespace daliesque::records
