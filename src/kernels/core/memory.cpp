// SPDX-License-Identifier: Apache-2.0
#include "core/memory.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace daliesque {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
// Below this, malloc is as fast as any pool.
constexpr size_t kSmallest = 4096;

// A free buffer that is up to this many steps too large is used rather than a new one: batches of
// images or files differ in size, and would otherwise collect buffers of every size.
constexpr int kMostStepsTooLarge = 4;

/// Rounds up to one of eight steps per power of two, so at most 1/8 of a buffer is wasted.
size_t bucket_size(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

int64_t physical_memory() {
  static const int64_t bytes =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return bytes;
}

void* system_allocate(size_t bytes) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
#ifdef MADV_HUGEPAGE
  if (memory && alignment == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  return memory;
}

class BufferPool {
 public:
  BufferPool() { info_.limit_bytes = std::min<int64_t>(int64_t{2} << 30, physical_memory() / 8); }

  /// A buffer of `bucket` bytes, or of somewhat more, which `bucket` is set to then.
  void* take(size_t& bucket) {
    {
      std::lock_guard lock(mutex_);
      void* memory = find(bucket);
      info_.used_bytes += static_cast<int64_t>(bucket);
      info_.used_buffers += 1;
      info_.peak_bytes = std::max(info_.peak_bytes, info_.used_bytes);
      if (memory) return memory;
    }
    void* memory = system_allocate(bucket);
    if (!memory) {
      // Cached buffers of other sizes may be what is missing.
      trim(0);
      memory = system_allocate(bucket);
    }
    if (!memory) {
      std::lock_guard lock(mutex_);
      info_.used_bytes -= static_cast<int64_t>(bucket);
      info_.used_buffers -= 1;
    }
    return memory;
  }

  void give(void* memory, size_t bucket) {
    std::vector<void*> surplus;
    {
      std::lock_guard lock(mutex_);
      info_.used_bytes -= static_cast<int64_t>(bucket);
      info_.used_buffers -= 1;
      age_.push_front(memory);
      bucket_of_[memory] = bucket;
      free_[bucket].push_back(age_.begin());
      info_.cached_bytes += static_cast<int64_t>(bucket);
      info_.cached_buffers += 1;
      surplus = evict(info_.limit_bytes);
    }
    for (void* buffer : surplus) std::free(buffer);
  }

  void trim(int64_t limit) {
    std::vector<void*> surplus;
    {
      std::lock_guard lock(mutex_);
      surplus = evict(limit);
    }
    for (void* buffer : surplus) std::free(buffer);
  }

  void set_limit(int64_t limit) {
    {
      std::lock_guard lock(mutex_);
      info_.limit_bytes = limit;
    }
    trim(limit);
  }

  MemoryInfo info() {
    std::lock_guard lock(mutex_);
    return info_;
  }

  std::mutex& mutex() { return mutex_; }

 private:
  using Age = std::list<void*>;

  /// Takes a free buffer, if there is a fitting one, and sets `bucket` to its size.
  void* find(size_t& bucket) {
    size_t size = bucket;
    for (int step = 0; step <= kMostStepsTooLarge; step++, size = bucket_size(size + 1)) {
      const auto found = free_.find(size);
      if (found == free_.end() || found->second.empty()) continue;
      const auto entry = found->second.back();
      found->second.pop_back();
      void* memory = *entry;
      forget(entry, size);
      bucket = size;
      return memory;
    }
    return nullptr;
  }

  void forget(Age::iterator entry, size_t bucket) {
    bucket_of_.erase(*entry);
    age_.erase(entry);
    info_.cached_bytes -= static_cast<int64_t>(bucket);
    info_.cached_buffers -= 1;
  }

  /// Drops the buffers that were unused longest until at most `limit` bytes are cached.
  std::vector<void*> evict(int64_t limit) {
    std::vector<void*> surplus;
    while (info_.cached_bytes > limit && !age_.empty()) {
      auto oldest = std::prev(age_.end());
      const size_t bucket = bucket_of_.at(*oldest);
      auto& list = free_.at(bucket);
      list.erase(std::find(list.begin(), list.end(), oldest));
      surplus.push_back(*oldest);
      forget(oldest, bucket);
    }
    return surplus;
  }

  std::mutex mutex_;
  MemoryInfo info_{};
  Age age_;  // most recently returned first
  std::unordered_map<size_t, std::vector<Age::iterator>> free_;
  std::unordered_map<void*, size_t> bucket_of_;
};

/// Never destroyed: buffers may outlive static destruction at exit.
BufferPool& pool() {
  static BufferPool* instance = [] {
    auto* created = new BufferPool;
    pthread_atfork([] { pool().mutex().lock(); }, [] { pool().mutex().unlock(); },
                   [] { pool().mutex().unlock(); });
    return created;
  }();
  return *instance;
}

[[noreturn]] void refuse(size_t bytes) {
  throw OutOfMemory("cannot allocate " + std::to_string(bytes) + " bytes; this machine has " +
                    std::to_string(physical_memory()));
}

}  // namespace

Buffer allocate(size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  // Neither rounded nor used again, so that accesses outside of buffers are seen.
  void* exact = nullptr;
  if (bytes > static_cast<size_t>(physical_memory()) ||
      posix_memalign(&exact, kAlignment, std::max<size_t>(bytes, 1)) != 0) {
    refuse(bytes);
  }
  return Buffer(exact, std::free);
#endif
  if (bytes < kSmallest) {
    void* memory = std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment);
    if (!memory) refuse(bytes);
    return Buffer(memory, std::free);
  }
  if (bytes > static_cast<size_t>(physical_memory())) refuse(bytes);
  size_t bucket = bucket_size(bytes);
  void* memory = pool().take(bucket);
  if (!memory) refuse(bytes);
  return Buffer(memory, [bucket](void* buffer) { pool().give(buffer, bucket); });
}

MemoryInfo memory_info() { return pool().info(); }
void set_memory_limit(int64_t bytes) { pool().set_limit(bytes); }
void release_memory() { pool().trim(0); }

}  // namespace daliesque
