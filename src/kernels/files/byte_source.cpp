// SPDX-License-Identifier: Apache-2.0
#include "files/byte_source.h"

#include <algorithm>
#include <atomic>

#include "core/meter.h"
#include "files/mapped_file.h"

namespace daliesque::files {

namespace {

// Windows begin small, because the next piece may be far away, and grow while it is not.
constexpr int64_t kLeastWindow = 1 << 12, kLargestWindow = 1 << 18;

// Smaller pieces are read as fast as they are copied.
constexpr int64_t kLeastCopied = 1 << 15;
// So many bytes at either end of a piece are read where the rest is copied.
constexpr int64_t kEdge = 64;

/// A file that is mapped into memory, if it may be, as soon as so much was read that it must be for
/// the second time: making a mapping costs as much as it saves once.
class LocalFile : public ByteSource {
 public:
  LocalFile(const std::string& path, bool may_map) : may_map_(may_map) {
    file_.open(path);
    if (file_.code() != 0) throw ReadFailure(file_.code());
  }

  ~LocalFile() override { delete mapped_.load(); }

  int64_t size() const override { return file_.size(); }

  void read_at(int64_t offset, int64_t size, char* out) const override {
    if (size >= kLeastCopied && copy(offset, size, out)) return;
    const int code = file_.read_at(out, size, offset);
    if (code != 0) throw ReadFailure(code);
  }

 private:
  /// Copies a piece, if it is in memory and nothing is wrong with it.
  bool copy(int64_t offset, int64_t size, char* out) const {
    if (read_.fetch_add(size) >= file_.size() && may_map_.exchange(false)) {
      mapped_ = new MappedFile(file_.descriptor(), file_.size());
    }
    const MappedFile* mapped = mapped_;
    // What must come from the disk is read faster than mapped: the system knows how much is wanted.
    // Behind the end of a file that was cut there are zeros up to the end of the page; reading
    // the last bytes after all others makes sure that they were there.
    return mapped && file_.read_cached(out, kEdge, offset) &&
           copy_mapped(*mapped, out + kEdge, size - 2 * kEdge, offset + kEdge) &&
           file_.read_at(out + size - kEdge, kEdge, offset + size - kEdge) == 0;
  }

  static bool copy_mapped(const MappedFile& mapped, char* out, int64_t size, int64_t offset) {
    FileTime time;
    const bool copied = mapped.copy(out, size, offset);
    if (copied) time.count(size);
    return copied;
  }

  OpenFile file_;
  mutable std::atomic<int64_t> read_{0};
  mutable std::atomic<bool> may_map_;
  mutable std::atomic<const MappedFile*> mapped_{nullptr};
};

}  // namespace

SourceHandle open_file(const std::string& path, bool may_map) {
  return std::make_shared<LocalFile>(path, may_map);
}

const uint8_t* SourceWindow::at(int64_t offset, int64_t size) {
  if (offset < begin_ || offset + size > end_) {
    const bool near = offset >= begin_ && offset <= end_ + kLeastWindow;
    wanted_ = near ? std::min(2 * wanted_, kLargestWindow) : kLeastWindow;
    wanted_ = std::max(wanted_, kLeastWindow);
    const int64_t length = std::min(std::max(wanted_, size), source_.size() - offset);
    if (length < size) throw ReadFailure(kEndsEarly);
    if (length > capacity_) {
      capacity_ = length;
      data_ = std::make_unique<char[]>(static_cast<size_t>(length));
    }
    begin_ = end_ = offset;
    source_.read_at(offset, length, data_.get());
    end_ = offset + length;
  }
  return reinterpret_cast<const uint8_t*>(data_.get() + (offset - begin_));
}

}  // namespace daliesque::files
