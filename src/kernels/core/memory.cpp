// SPDX-License-Identifier: Apache-2.0
#include "core/memory.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <string>

#include "core/memory_limit.h"

namespace daliesque {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
// Below this, malloc is as fast as any pool.
constexpr size_t kSmallest = 4096;

// A free buffer that is up to this many steps too large is used rather than a new one: batches of
// images or files differ in size, and would otherwise collect buffers of every size.
constexpr int kMostStepsTooLarge = 4;
// A new one replaces a free one that is up to as many steps too small, and is this many
// steps larger than it must be: the next batch may need still more, and what is not used of large
// buffers takes no memory. So buffers for different results become alike, and serve one after the
// other.
constexpr int kStepsAhead = 1;

/// Rounds up to one of eight steps per power of two, so at most 1/8 of a buffer is wasted.
size_t bucket_size(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

/// The first number in a file; infinity if there is none.
int64_t number_in(const char* path) {
  int64_t number = std::numeric_limits<int64_t>::max();
  if (FILE* file = std::fopen(path, "r")) {
    int64_t found = 0;
    if (std::fscanf(file, "%" SCNd64, &found) == 1 && found > 0) number = found;
    std::fclose(file);
  }
  return number;
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

/// A free buffer: it lies in the memory that it describes, so that giving back a buffer, which must
/// not fail, takes none.
struct FreeBuffer {
  FreeBuffer *newer, *older;    // in the order in which they were given back
  FreeBuffer *previous, *next;  // of the same size
  size_t bucket;
};
static_assert(sizeof(FreeBuffer) <= kSmallest);

class BufferPool {
 public:
  BufferPool() {
    total_ = available_memory() / 2;
    info_.limit_bytes = std::min<int64_t>(int64_t{2} << 30, total_ / 4);
  }

  /// A buffer of `bucket` bytes, or of somewhat more, which `bucket` is set to then.
  void* take(size_t& bucket) {
    FreeBuffer *surplus = nullptr, *replaced = nullptr;
    {
      std::lock_guard lock(mutex_);
      void* memory = find(bucket);
      if (!memory && bucket >= kHugePage) replaced = remove_smaller(bucket);
      if (replaced) {
        for (int step = 0; step < kStepsAhead; step++) bucket = bucket_size(bucket + 1);
      }
      info_.used_bytes += static_cast<int64_t>(bucket);
      info_.used_buffers += 1;
      info_.peak_bytes = std::max(info_.peak_bytes, info_.used_bytes);
      info_.peak_buffers = std::max(info_.peak_buffers, info_.used_buffers);
      note_used();
      if (memory) return memory;
      surplus = evict(spare());
    }
    release(surplus);
    std::free(replaced);
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
      note_used();
    }
    return memory;
  }

  // NOLINTNEXTLINE(bugprone-exception-escape): a mutex that is used properly does not throw.
  void give(void* memory, size_t bucket) noexcept {
    FreeBuffer* surplus = nullptr;
    {
      std::lock_guard lock(mutex_);
      info_.used_bytes -= static_cast<int64_t>(bucket);
      info_.used_buffers -= 1;
      note_used();
      insert(memory, bucket);
      surplus = evict(spare());
    }
    release(surplus);
  }

  void trim(int64_t limit) {
    FreeBuffer* surplus = nullptr;
    {
      std::lock_guard lock(mutex_);
      surplus = evict(limit);
    }
    release(surplus);
  }

  void set_limit(int64_t limit) {
    {
      std::lock_guard lock(mutex_);
      info_.limit_bytes = limit;
    }
    trim(limit);
  }

  void set_total(int64_t total) {
    int64_t left = 0;
    {
      std::lock_guard lock(mutex_);
      total_ = total;
      left = spare();
    }
    trim(left);
  }

  int64_t total() const { return total_.load(std::memory_order_relaxed); }
  bool tight() const { return used_.load(std::memory_order_relaxed) >= total(); }

  MemoryInfo info() {
    std::lock_guard lock(mutex_);
    return info_;
  }

  void reset_peak() {
    std::lock_guard lock(mutex_);
    info_.peak_bytes = info_.used_bytes;
    info_.peak_buffers = info_.used_buffers;
  }

  std::mutex& mutex() { return mutex_; }

 private:
  /// How many bytes may be kept for reuse now.
  int64_t spare() const {
    return std::clamp<int64_t>(total_ - info_.used_bytes, 0, info_.limit_bytes);
  }

  void note_used() { used_.store(info_.used_bytes, std::memory_order_relaxed); }

  /// Which list holds the buffers of a size: eight for each power of two.
  static size_t list_of(size_t bucket) {
    const auto power = static_cast<size_t>(std::bit_width(bucket)) - 1;
    return power * 8 + (bucket >> (power - 3)) - 8;
  }

  void insert(void* memory, size_t bucket) {
    FreeBuffer*& head = free_[list_of(bucket)];
    auto* buffer = new (memory) FreeBuffer{nullptr, newest_, nullptr, head, bucket};
    if (head) head->previous = buffer;
    head = buffer;
    (newest_ ? newest_->newer : oldest_) = buffer;
    newest_ = buffer;
    info_.cached_bytes += static_cast<int64_t>(bucket);
    info_.cached_buffers += 1;
  }

  void remove(FreeBuffer* buffer) {
    (buffer->newer ? buffer->newer->older : newest_) = buffer->older;
    (buffer->older ? buffer->older->newer : oldest_) = buffer->newer;
    (buffer->previous ? buffer->previous->next : free_[list_of(buffer->bucket)]) = buffer->next;
    if (buffer->next) buffer->next->previous = buffer->previous;
    info_.cached_bytes -= static_cast<int64_t>(buffer->bucket);
    info_.cached_buffers -= 1;
  }

  /// Takes a free buffer, if there is a fitting one, and sets `bucket` to its size.
  void* find(size_t& bucket) {
    size_t size = bucket;
    for (int step = 0; step <= kMostStepsTooLarge; step++, size = bucket_size(size + 1)) {
      FreeBuffer* buffer = free_[list_of(size)];
      if (!buffer) continue;
      remove(buffer);
      bucket = size;
      return buffer;
    }
    return nullptr;
  }

  /// Takes the largest free buffer that is up to kMostStepsTooLarge steps too small, if there is
  /// one, out of the pool.
  FreeBuffer* remove_smaller(size_t bucket) {
    const size_t list = list_of(bucket);
    for (size_t step = 1; step <= size_t{kMostStepsTooLarge}; step++) {
      FreeBuffer* buffer = free_[list - step];
      if (!buffer) continue;
      remove(buffer);
      return buffer;
    }
    return nullptr;
  }

  /// Drops the buffers that were unused longest until at most `limit` bytes are cached. Returns a
  /// chain of them.
  FreeBuffer* evict(int64_t limit) {
    FreeBuffer* surplus = nullptr;
    while (info_.cached_bytes > limit && oldest_) {
      FreeBuffer* buffer = oldest_;
      remove(buffer);
      buffer->next = surplus;
      surplus = buffer;
    }
    return surplus;
  }

  static void release(FreeBuffer* surplus) {
    while (surplus) {
      FreeBuffer* next = surplus->next;
      std::free(surplus);
      surplus = next;
    }
  }

  std::mutex mutex_;
  MemoryInfo info_{};
  std::atomic<int64_t> used_{0}, total_{0};
  FreeBuffer *newest_ = nullptr, *oldest_ = nullptr;
  std::array<FreeBuffer*, 64 * 8> free_{};
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
  throw OutOfMemory("cannot allocate " + std::to_string(bytes) + " bytes; this process may use " +
                    std::to_string(available_memory()));
}

}  // namespace

Buffer allocate(size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  // Neither rounded nor used again, so that accesses outside of buffers are seen.
  void* exact = nullptr;
  if (bytes > static_cast<size_t>(available_memory()) ||
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
  if (bytes > static_cast<size_t>(available_memory())) refuse(bytes);
  size_t bucket = bucket_size(bytes);
  void* memory = pool().take(bucket);
  if (!memory) refuse(bytes);
  return Buffer(memory, [bucket](void* buffer) { pool().give(buffer, bucket); });
}

int64_t available_memory() {
  static const int64_t bytes =
      std::min({static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE),
                number_in("/sys/fs/cgroup/memory.max"),
                number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
  return bytes;
}

int64_t total_limit() { return pool().total(); }
void set_total_limit(int64_t bytes) { pool().set_total(bytes); }
bool memory_is_tight() { return pool().tight(); }

MemoryInfo memory_info() { return pool().info(); }
void reset_memory_peak() { pool().reset_peak(); }
void set_memory_limit(int64_t bytes) { pool().set_limit(bytes); }
void release_memory() { pool().trim(0); }

}  // namespace daliesque
