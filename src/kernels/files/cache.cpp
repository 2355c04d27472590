// SPDX-License-Identifier: Apache-2.0
#include "files/cache.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "core/memory_limit.h"

namespace daliesque::files {

namespace {

// What an entry takes besides the contents: path, stamp, node, the sample's own record.
constexpr int64_t kEntryBytes = 512;

int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

int64_t now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

FileStamp::FileStamp(const struct stat& info)
    : device(info.st_dev),
      number(info.st_ino),
      size(info.st_size),
#ifdef __APPLE__
      modified(nanoseconds(info.st_mtimespec)),
      changed(nanoseconds(info.st_ctimespec)) {
}
#else
      modified(nanoseconds(info.st_mtim)),
      changed(nanoseconds(info.st_ctim)) {
}
#endif

bool FileStamp::settled(int64_t least_age) const {
  return now() - std::max(modified, changed) >= least_age;
}

FileCache::FileCache(int64_t limit, double least_age)
    : limit_(limit), least_age_(static_cast<int64_t>(least_age * 1e9)) {}

std::optional<Samples> FileCache::find(const std::string& path, const char* name) {
  std::optional<Entry> found;
  {
    const std::shared_lock lock(mutex_, std::try_to_lock);
    if (!lock) return std::nullopt;
    const auto entry = entries_.find(path);
    if (entry == entries_.end()) return std::nullopt;
    found = entry->second;
  }
  struct stat info;
  if (::stat(name, &info) != 0 || FileStamp(info) != found->stamp) return std::nullopt;
  return std::move(found->contents);
}

void FileCache::insert(const std::string& path, const FileStamp& stamp, const Samples& contents) {
  if (!stamp.settled(least_age_)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !active()) return;
  const auto old = entries_.find(path);
  int64_t bytes = bytes_ + stamp.size + kEntryBytes;
  if (old != entries_.end()) bytes -= old->second.stamp.size + kEntryBytes;
  if (bytes > limit_ || memory_is_tight()) {
    limit_ = bytes = 0;
    entries_.clear();
  } else {
    entries_.insert_or_assign(path, Entry{stamp, contents});
  }
  all_bytes += bytes - bytes_;
  bytes_ = bytes;
}

}  // namespace daliesque::files
