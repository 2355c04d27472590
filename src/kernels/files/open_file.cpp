// SPDX-License-Identifier: Apache-2.0
#include "files/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "core/meter.h"

namespace daliesque::files {

namespace {

// The system's limit for one read is 2 GB; smaller pieces let other threads at the disk.
constexpr int64_t kMostPerRead = int64_t{1} << 26;

// Larger files take so long that it does not matter to find out what they are.
constexpr int64_t kMostUnseen = 1 << 16;

std::atomic<int64_t> sample_limit{int64_t{1} << 32};

}  // namespace

int64_t max_sample_bytes() { return sample_limit; }

void set_max_sample_bytes(int64_t limit) { sample_limit = limit; }

const char* local_name(const std::string& path) {
  return path.c_str() + (path.starts_with("file://") ? 7 : 0);
}

void OpenFile::open_only(int folder, const std::string& path) {
  // An embedded zero would silently cut the name short.
  if (path.empty() || path.find('\0') != std::string::npos) return fail(ENOENT);
  do {
    // Without O_NONBLOCK, opening a pipe would wait for somebody to write to it.
    descriptor_ = ::openat(folder, local_name(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) fail(errno);
}

/// Finds out what was opened.
void OpenFile::look_at() {
  struct stat info;
  if (::fstat(descriptor_, &info) != 0) return fail(errno);
  if (S_ISDIR(info.st_mode)) return fail(EISDIR);
  if (!S_ISREG(info.st_mode)) return fail(kNoRegularFile);
  stamp_ = FileStamp(info);
  size_ = info.st_size;
}

void OpenFile::open(const std::string& path) {
  const FileTime time;
  open_only(AT_FDCWD, path);
  if (code_ == 0) look_at();
}

void OpenFile::open_at(int folder, const std::string& name) {
  const FileTime time;
  open_only(folder, name);
  if (code_ != 0) return;
  // Pipes have no end, devices none or a large one, and folders cannot be read.
  size_ = ::lseek(descriptor_, 0, SEEK_END);
  if (size_ <= 0 || size_ > kMostUnseen) look_at();
}

void OpenFile::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void OpenFile::fail(int code) {
  code_ = code;
  close();
}

int OpenFile::read_at(char* out, int64_t count, int64_t offset) const {
  FileTime time;
  for (int64_t done = 0; done < count;) {
    const auto wanted = static_cast<size_t>(std::min(count - done, kMostPerRead));
    const ssize_t got = ::pread(descriptor_, out + done, wanted, offset + done);
    if (got > 0) {
      time.count(got);
      done += got;
    } else if (got == 0) {
      return kFileChanged;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void OpenFile::read_and_close(char* out) {
  const int code = read_at(out, size_, 0);
  code != 0 ? fail(code) : close();
}

bool OpenFile::read_cached(char* out, int64_t count, int64_t offset) const {
#ifdef RWF_NOWAIT
  const iovec piece{out, static_cast<size_t>(count)};
  return ::preadv2(descriptor_, &piece, 1, offset, RWF_NOWAIT) == count;
#else
  return false;
#endif
}

}  // namespace daliesque::files
