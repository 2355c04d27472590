// SPDX-License-Identifier: Apache-2.0
// Reading pieces of large files.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/samples.h"
#include "files/byte_source.h"
#include "files/cache.h"

namespace daliesque::files {

/// Why a piece could not be read: its index in the request, where it is, and the code and
/// message of ReadFailure.
struct PieceError {
  int64_t index, file, offset;
  int code;
  std::string reason;
};

/// Files of which pieces are read. Only a few are open at a time.
///
/// Several threads may use one object. None ever waits for another, so that a process that was
/// forked while a thread was inside can go on.
class Archives {
 public:
  using Opener = std::function<SourceHandle(const std::string&)>;

  /// If the files are `joined`, a piece that goes beyond the end of one continues in the next.
  /// Otherwise local files stay in memory if all of them together take at most `kept_bytes`, and
  /// they are as they are for at least `least_age` seconds.
  Archives(std::vector<std::string> paths, Opener opener, bool joined, int64_t kept_bytes,
           double least_age);

  int64_t count() const { return static_cast<int64_t>(paths_.size()); }
  const std::string& path(int64_t file) const { return paths_[static_cast<size_t>(file)]; }

  /// A file, opened if need be. Throws ReadFailure.
  SourceHandle open(int64_t file);

  /// Reads pieces: 1-D samples, back to back in one buffer, or read-only parts of archives that are
  /// kept in memory. `sizes` counts bytes and holds multiples of the type's. A piece that cannot be
  /// read leaves an entry in `errors`, sorted by index, and a sample whose contents mean nothing.
  ///
  /// `inspect(index, data, known)`, if any, is called for each piece that was read, by the thread
  /// that did, while the bytes are in its cache. It returns whether the piece is valid; `known`
  /// says that it was found to be before, and has not changed since.
  using Inspect = std::function<bool(int64_t index, const uint8_t* data, bool known)>;
  Samples read(DType dtype, std::span<const int64_t> files, std::span<const int64_t> offsets,
               std::span<const int64_t> sizes, std::vector<PieceError>& errors,
               const Inspect& inspect = {});

 private:
  struct Entry {
    int64_t file;
    SourceHandle source;
    int64_t used;
  };

  struct Request {
    DType dtype;
    std::span<const int64_t> files, offsets, sizes;
  };
  std::optional<Samples> find_kept(const Request& request);
  void inspect_kept(const Request& request, const Samples& kept, const Inspect& inspect);
  std::vector<char> find_verified(const Request& request, const Samples& kept);
  void remember_verified(const Request& request, const Samples& kept,
                         const std::vector<char>& verified);
  std::optional<Samples> whole(int64_t file);
  bool are_small();

  int64_t file_size(int64_t file);
  /// Throws ReadFailure unless a piece exists and may be read.
  void require(int64_t file, int64_t offset, int64_t size);
  /// Files that are open anyway.
  using Opened = std::unordered_map<int64_t, SourceHandle>;
  Opened open_some(std::span<const int64_t> files);
  void read_piece(const Opened& opened, int64_t file, int64_t offset, int64_t size, char* out);
  SourceHandle find(int64_t file);
  void keep(int64_t file, const SourceHandle& source);

  std::vector<std::string> paths_;
  Opener opener_;
  bool joined_;
  std::vector<std::atomic<int64_t>> file_sizes_;  // -1: not known yet
  int64_t kept_bytes_, least_age_;                // nanoseconds
  FileCache cache_;
  /// Pieces of an archive in memory (offsets and sizes) that have been verified.
  struct Verified {
    std::weak_ptr<void> archive;
    std::unordered_map<int64_t, int64_t> pieces;
  };
  std::unordered_map<int64_t, Verified> verified_;
  enum class Size { unknown, small, large };
  std::atomic<Size> total_size_{Size::unknown};
  std::mutex mutex_;
  std::vector<Entry> opened_;
  int64_t clock_ = 0;
};

}  // namespace daliesque::files
