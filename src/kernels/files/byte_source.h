// SPDX-License-Identifier: Apache-2.0
// Where bytes come from: a local file, or anything that can read at an offset.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "files/open_file.h"

namespace daliesque::files {

/// Reading failed: an errno code, or one of those below and in open_file.h. `what()` is empty
/// unless the code is kOtherFailure.
class ReadFailure : public std::runtime_error {
 public:
  explicit ReadFailure(int code, const std::string& reason = "")
      : std::runtime_error(reason), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

/// The source ends before the last byte asked for.
constexpr int kEndsEarly = kFileChanged;
/// The source is no local file; the reason is in words.
constexpr int kOtherFailure = -3;

/// Something with a known number of bytes, of which pieces can be read by several threads at once.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual int64_t size() const = 0;
  /// Fills `out` or throws ReadFailure.
  virtual void read_at(int64_t offset, int64_t size, char* out) const = 0;
};

using SourceHandle = std::shared_ptr<const ByteSource>;

/// Opens a local file; "file://" in front of the path is ignored. If `may_map`, large pieces that
/// are read again come out of a mapping. Throws ReadFailure.
SourceHandle open_file(const std::string& path, bool may_map);

/// Reads a source from front to back, or skipping forward, through a window that grows as long as
/// one piece follows the other.
class SourceWindow {
 public:
  explicit SourceWindow(const ByteSource& source) : source_(source) {}

  /// `size` bytes from `offset` on, valid until the next call. All of them must exist.
  const uint8_t* at(int64_t offset, int64_t size);

 private:
  const ByteSource& source_;
  std::unique_ptr<char[]> data_;
  int64_t capacity_ = 0, begin_ = 0, end_ = 0, wanted_ = 0;
};

}  // namespace daliesque::files
