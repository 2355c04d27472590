// SPDX-License-Identifier: Apache-2.0
#include "file_read.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

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

const char* local_name(const std::string& path) {
  return path.c_str() + (path.starts_with("file://") ? 7 : 0);
}

/// A file, open if nothing went wrong so far.
class File {
 public:
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }

  void open(const std::string& path) {
    // An embedded zero would silently cut the name short.
    if (path.empty() || path.find('\0') != std::string::npos) return fail(ENOENT);
    do {
      // Without O_NONBLOCK, opening a pipe would wait for somebody to write to it.
      descriptor_ = ::open(local_name(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (descriptor_ < 0 && errno == EINTR);
    struct stat info;
    if (descriptor_ < 0 || ::fstat(descriptor_, &info) != 0) return fail(errno);
    if (S_ISDIR(info.st_mode)) return fail(EISDIR);
    if (!S_ISREG(info.st_mode)) return fail(kNoRegularFile);
    stamp_ = FileStamp(info);
  }

  int64_t size() const { return stamp_ ? stamp_->size : 0; }
  const FileStamp& stamp() const { return *stamp_; }
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
    const auto total = static_cast<size_t>(size());
    for (size_t done = 0; done < total;) {
      const ssize_t count = ::read(descriptor_, out + done, std::min(total - done, kMostPerRead));
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
  std::optional<FileStamp> stamp_;
  int code_ = 0;
};

/// Reads files, those of them that are listed in `wanted`, into one buffer.
Samples read_anew(const std::vector<std::string>& paths, const std::vector<size_t>& wanted,
                  std::vector<File>& files) {
  const auto count = static_cast<int64_t>(wanted.size());
  const bool keep_open = count <= kMostOpen;
  std::vector<int64_t> sizes(wanted.size());
  parallel_for(
      count, [](int64_t) { return kOpenCost; },
      [&](int64_t i) {
        const size_t k = wanted[static_cast<size_t>(i)];
        files[k].open(paths[k]);
        sizes[static_cast<size_t>(i)] = files[k].size();
        if (!keep_open) files[k].close();
      });
  Samples out = Samples::empty(DType::uint8, 1, sizes, "", count);
  parallel_for(
      count,
      [&](int64_t i) {
        return kReadCost + kByteCost * static_cast<double>(sizes[static_cast<size_t>(i)]);
      },
      [&](int64_t i) {
        const size_t k = wanted[static_cast<size_t>(i)];
        if (files[k].code() != 0) return;
        if (!keep_open) files[k].open(paths[k]);
        if (files[k].size() != sizes[static_cast<size_t>(i)]) files[k].fail(kFileChanged);
        if (files[k].code() == 0) files[k].read(out.data<char>(i));
      });
  return out;
}

/// Sample i, as something that will not change any more.
Samples sealed(const Samples& samples, int64_t i) {
  return Samples::wrap(DType::uint8, {samples.volume(i)}, {}, samples.data(i), samples.owner(i),
                       true, false);
}

}  // namespace

Samples read_files(const std::vector<std::string>& paths, FileCache* cache,
                   std::vector<FileError>& errors) {
  std::vector<Samples> parts(cache && cache->active() ? paths.size() : 0);
  parallel_for(
      static_cast<int64_t>(parts.size()), [](int64_t) { return kOpenCost; },
      [&](int64_t i) {
        const auto k = static_cast<size_t>(i);
        if (auto found = cache->find(paths[k], local_name(paths[k]))) parts[k] = std::move(*found);
      });
  std::vector<size_t> wanted;
  for (size_t k = 0; k < paths.size(); k++) {
    if (parts.empty() || parts[k].size() == 0) wanted.push_back(k);
  }
  std::vector<File> files(paths.size());
  const Samples read = read_anew(paths, wanted, files);
  for (size_t k : wanted) {
    if (files[k].code() != 0) errors.push_back({static_cast<int64_t>(k), files[k].code()});
  }
  if (parts.empty()) return read;
  for (size_t i = 0; i < wanted.size(); i++) {
    const size_t k = wanted[i];
    parts[k] = sealed(read, static_cast<int64_t>(i));
    if (files[k].code() == 0) cache->insert(paths[k], files[k].stamp(), parts[k]);
  }
  std::vector<const Samples*> pointers;
  for (const Samples& part : parts) pointers.push_back(&part);
  return Samples::join(pointers);
}

}  // namespace daliesque
