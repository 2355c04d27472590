// SPDX-License-Identifier: Apache-2.0
// Reading many files at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/samples.h"
#include "files/cache.h"

namespace daliesque::files {

/// Why a file could not be read: the number of the sample, and an errno code or a negative one
/// (open_file.h).
struct FileError {
  int64_t sample;
  int code;
};

/// Reads whole files: 1-D uint8 samples in the order of `paths`. A file that cannot be read leaves
/// an entry in `errors`, sorted by sample, and a sample whose contents mean nothing. "file://" in
/// front of a path is ignored. With a cache, which may be null, the samples may be read-only.
Samples read_files(const std::vector<std::string>& paths, FileCache* cache,
                   std::vector<FileError>& errors);

}  // namespace daliesque::files
