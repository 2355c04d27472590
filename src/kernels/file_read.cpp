// SPDX-License-Identifier: Apache-2.0
#include "file_read.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "parallel.h"

namespace daliesque {

namespace {

// What a file costs whose contents the system has in memory, in nanoseconds. Elsewhere it is far
// more, which only makes parallel reading more worthwhile.
constexpr double kOpenCost = 2e3, kReadCost = 2e3, kByteCost = 0.25;

// The system's limit for one read is 2 GB; smaller pieces let other threads at the disk.
constexpr size_t kMostPerRead = size_t{1} << 26;

// More files than this are not kept open at once: processes may have some thousand.
constexpr int64_t kMostOpen = 256;

/// A file, open if nothing went wrong so far.
class File {
 public:
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }

  void open(const std::string& path) {
    const char* name = path.c_str() + (path.starts_with("file://") ? 7 : 0);
    // An embedded zero would silently cut the name short.
    if (path.empty() || path.find('\0') != std::string::npos) return fail(ENOENT);
    do {
      // Without O_NONBLOCK, opening a pipe would wait for somebody to write to it.
      descriptor_ = ::open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (descriptor_ < 0 && errno == EINTR);
    struct stat info;
    if (descriptor_ < 0 || ::fstat(descriptor_, &info) != 0) return fail(errno);
    if (S_ISDIR(info.st_mode)) return fail(EISDIR);
    if (!S_ISREG(info.st_mode)) return fail(kNoRegularFile);
    size_ = info.st_size;
  }

  int64_t size() const { return size_; }
  int code() const { return code_; }

  void fail(int code) {
    code_ = code;
    close();
  }

  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  /// Fills `out` with the size() bytes there are.
  void read(char* out) {
    const auto size = static_cast<size_t>(size_);
    for (size_t done = 0; done < size;) {
      const ssize_t count = ::read(descriptor_, out + done, std::min(size - done, kMostPerRead));
      if (count > 0) {
        done += static_cast<size_t>(count);
      } else if (count == 0) {
        return fail(kFileChanged);
      } else if (errno != EINTR) {
        return fail(errno);
      }
    }
    close();
  }

 private:
  int descriptor_ = -1;
  int64_t size_ = 0;
  int code_ = 0;
};

}  // namespace

Samples read_files(const std::vector<std::string>& paths, std::vector<FileError>& errors) {
  const auto count = static_cast<int64_t>(paths.size());
  const bool keep_open = count <= kMostOpen;
  std::vector<File> files(paths.size());
  std::vector<int64_t> sizes(paths.size());
  parallel_for(
      count, [](int64_t) { return kOpenCost; },
      [&](int64_t i) {
        const auto k = static_cast<size_t>(i);
        files[k].open(paths[k]);
        sizes[k] = files[k].size();
        if (!keep_open) files[k].close();
      });
  Samples out = Samples::empty(DType::uint8, 1, sizes, "", count);
  parallel_for(
      count,
      [&](int64_t i) {
        return kReadCost + kByteCost * static_cast<double>(sizes[static_cast<size_t>(i)]);
      },
      [&](int64_t i) {
        const auto k = static_cast<size_t>(i);
        if (files[k].code() != 0) return;
        if (!keep_open) files[k].open(paths[k]);
        if (files[k].size() != sizes[k]) files[k].fail(kFileChanged);
        if (files[k].code() == 0) files[k].read(out.data<char>(i));
      });
  for (int64_t i = 0; i < count; i++) {
    if (const int code = files[static_cast<size_t>(i)].code(); code != 0) {
      errors.push_back({i, code});
    }
  }
  return out;
}

}  // namespace daliesque
