// SPDX-License-Identifier: Apache-2.0
// Small data sets stay in memory: copying a file out of the system's cache costs ten times as much
// as finding out that it has not changed.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "core/samples.h"

namespace daliesque::files {

/// What changes whenever a file changes.
struct FileStamp {
  explicit FileStamp(const struct stat& info);
  bool operator==(const FileStamp&) const = default;

  /// The last change is so many nanoseconds old that another one would show.
  bool settled(int64_t least_age) const;

  uint64_t device, number;
  int64_t size, modified, changed;  // times in nanoseconds
};

/// The contents of files, as long as all of them together take at most `limit` bytes; as soon as
/// they take more, nothing is kept any longer. Files that changed less than `least_age` seconds
/// before they were read are not kept: they might change again without showing it.
///
/// Several threads may use a cache. None ever waits for another, so that a process that was forked
/// while a thread was inside finds a useless cache and no deadlock.
class FileCache {
 public:
  FileCache(int64_t limit, double least_age);
  ~FileCache() { all_bytes -= bytes_; }
  FileCache(const FileCache&) = delete;
  FileCache& operator=(const FileCache&) = delete;

  /// What all caches hold.
  static inline std::atomic<int64_t> all_bytes{0};

  /// Whether anything is kept.
  bool active() const { return limit_ > 0; }

  /// The contents of a file that is in the cache and has not changed since.
  std::optional<Samples> find(const std::string& path, const char* name);

  /// Offers contents, which must never change, as a single sample.
  void insert(const std::string& path, const FileStamp& stamp, const Samples& contents);

 private:
  struct Entry {
    FileStamp stamp;
    Samples contents;
  };

  std::atomic<int64_t> limit_;
  int64_t least_age_;
  std::shared_mutex mutex_;
  int64_t bytes_ = 0;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace daliesque::files
