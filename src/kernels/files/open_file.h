// SPDX-License-Identifier: Apache-2.0
// A file that is open for reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "files/cache.h"

namespace daliesque::files {

/// The file changed its size while it was read.
constexpr int kFileChanged = -1;
/// The path leads to a pipe or a device.
constexpr int kNoRegularFile = -2;
/// A sample would take more bytes than `max_sample_bytes()`.
constexpr int kTooLarge = -4;

/// How many bytes of a file one sample may take: whatever a file or an index says, no more memory
/// is reserved for it. Several threads may ask and set it.
int64_t max_sample_bytes();
void set_max_sample_bytes(int64_t limit);

/// The name to give to the system: the path without "file://".
const char* local_name(const std::string& path);

/// A regular file, open if nothing went wrong so far; otherwise `code()` says what: an errno code
/// or one of the above.
class OpenFile {
 public:
  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  // NOLINTNEXTLINE(bugprone-exception-escape): the call of the system throws nothing.
  ~OpenFile() { close(); }

  void open(const std::string& path);
  /// The same for a file whose name is relative to an open folder, or to the current one
  /// (AT_FDCWD). Unless it is large or empty, it gets no stamp, which takes longer to find out.
  void open_at(int folder, const std::string& name);
  void close();
  void fail(int code);

  int64_t size() const { return size_; }
  const FileStamp& stamp() const { return *stamp_; }
  int code() const { return code_; }
  int descriptor() const { return descriptor_; }

  /// Fills `out` with `count` bytes from `offset` on. Returns 0 or what went wrong, without closing
  /// the file, so that several threads may read.
  int read_at(char* out, int64_t count, int64_t offset) const;

  /// Reads all of the file and closes it, or fails.
  void read_and_close(char* out);

  /// Like `read_at`, but only if the system has the bytes in memory and says so; whether it does.
  bool read_cached(char* out, int64_t count, int64_t offset) const;

 private:
  void open_only(int folder, const std::string& path);
  void look_at();

  int descriptor_ = -1;
  int64_t size_ = 0;
  std::optional<FileStamp> stamp_;
  int code_ = 0;
};

}  // namespace daliesque::files
