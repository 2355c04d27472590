// SPDX-License-Identifier: Apache-2.0
#include "files/read.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "core/parallel.h"
#include "files/open_file.h"

namespace daliesque::files {

namespace {

// What a file costs whose contents the system has in memory, in nanoseconds. Elsewhere it is far
// more, which only makes parallel reading more worthwhile.
constexpr double kFileOpenCost = 2e3, kFileReadCost = 2e3, kFileByteCost = 0.25;

// More files than this are not kept open at once: processes may have some thousand.
constexpr int64_t kMostFilesOpen = 256;

// Files of so many bytes are read as soon as they are open, and copied when the sizes of all others
// are known.
constexpr int64_t kSmallFile = 2048, kMostSmallFiles = 4096;
constexpr double kSmallCopyCost = 20;

// If files cannot stay open, those up to this size are read at once as well: to copy them takes
// less time than to open them again.
constexpr int64_t kLargestHeld = 1 << 14;

// So many files in a row must lie in one folder to make it worthwhile to open that.
constexpr size_t kLeastInFolder = 8;

/// The folders of files, which stay open for some time: the system finds files there faster.
class OpenFolders {
 public:
  OpenFolders() = default;
  // The other constructor comes first so that the destructor runs if memory is missing.
  explicit OpenFolders(const std::vector<std::string>& paths) : OpenFolders() {
    entries_.resize(paths.size());
    for (size_t begin = 0, end; begin < paths.size(); begin = end) {
      const std::string_view folder = folder_of(paths[begin]);
      for (end = begin + 1; end < paths.size() && folder_of(paths[end]) == folder;) end++;
      const int descriptor = end - begin < kLeastInFolder ? -1 : open_folder(folder);
      for (size_t k = begin; k < end; k++) {
        // Where the folder cannot be opened, or is all there is, opening the file will say why.
        entries_[k] = descriptor < 0 || paths[k].size() == folder.size()
                          ? Entry{AT_FDCWD, paths[k]}
                          : Entry{descriptor, std::string_view(paths[k]).substr(folder.size())};
      }
    }
  }
  OpenFolders(const OpenFolders&) = delete;
  OpenFolders& operator=(const OpenFolders&) = delete;
  ~OpenFolders() {
    for (const int descriptor : opened_) ::close(descriptor);
  }

  void open(size_t k, OpenFile& file) const {
    file.open_at(entries_[k].folder, std::string(entries_[k].name));
  }

 private:
  struct Entry {
    int folder;
    std::string_view name;
  };

  /// With the slash behind it; empty if the path has none.
  static std::string_view folder_of(std::string_view path) {
    return path.substr(0, path.rfind('/') + 1);
  }

  int open_folder(std::string_view folder) {
    const std::string path(folder);
    if (path.empty() || path.find('\0') != std::string::npos) return -1;
    opened_.reserve(opened_.size() + 1);
    const int descriptor = ::open(local_name(path), kFolderFlags);
    if (descriptor >= 0) opened_.push_back(descriptor);
    return descriptor;
  }

#ifdef O_PATH
  static constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
#else
  static constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
#endif

  std::vector<Entry> entries_;
  std::vector<int> opened_;
};

/// Reads files, those of them that are listed in `wanted`, into one buffer. If they are `stamped`,
/// they have stamps afterwards.
Samples read_uncached(const std::vector<std::string>& paths, const std::vector<size_t>& wanted,
                      bool stamped, std::vector<OpenFile>& files) {
  std::optional<OpenFolders> folders;
  if (!stamped) folders.emplace(paths);
  const auto open = [&](size_t k) {
    folders ? folders->open(k, files[k]) : files[k].open(paths[k]);
  };
  const auto count = static_cast<int64_t>(wanted.size());
  const bool keep_open = count <= kMostFilesOpen;
  const int64_t limit = max_sample_bytes();
  std::vector<int64_t> sizes(wanted.size());
  const int64_t most_small = count <= kMostSmallFiles ? kSmallFile : 0;
  const Buffer small = allocate(static_cast<size_t>(count * most_small));
  const auto small_data = [&](int64_t i) {
    return static_cast<char*>(small.get()) + i * most_small;
  };
  std::vector<Buffer> held(keep_open ? 0 : wanted.size());
  parallel_for(
      count, [](int64_t) { return kFileOpenCost; },
      [&](int64_t i) {
        OpenFile& file = files[wanted[static_cast<size_t>(i)]];
        open(wanted[static_cast<size_t>(i)]);
        if (file.code() == 0 && file.size() > limit) file.fail(kTooLarge);
        if (file.code() == 0 && file.size() <= most_small) {
          file.read_and_close(small_data(i));
        } else if (file.code() == 0 && !keep_open && file.size() <= kLargestHeld) {
          Buffer& memory = held[static_cast<size_t>(i)];
          memory = allocate(static_cast<size_t>(file.size()));
          file.read_and_close(static_cast<char*>(memory.get()));
        }
        sizes[static_cast<size_t>(i)] = file.code() == 0 ? file.size() : 0;
        if (!keep_open) file.close();
      });
  Samples out = Samples::empty(DType::uint8, 1, sizes, "", count);
  parallel_for(
      count,
      [&](int64_t i) {
        const int64_t size = sizes[static_cast<size_t>(i)];
        const bool is_read = size <= most_small || (!keep_open && size <= kLargestHeld);
        return (is_read ? kSmallCopyCost : kFileReadCost) +
               kFileByteCost * static_cast<double>(size);
      },
      [&](int64_t i) {
        OpenFile& file = files[wanted[static_cast<size_t>(i)]];
        const int64_t size = sizes[static_cast<size_t>(i)];
        if (file.code() != 0 || size == 0) return;
        if (size <= most_small) {
          std::memcpy(out.data(i), small_data(i), static_cast<size_t>(size));
          return;
        }
        if (!keep_open && held[static_cast<size_t>(i)]) {
          std::memcpy(out.data(i), held[static_cast<size_t>(i)].get(), static_cast<size_t>(size));
          return;
        }
        if (!keep_open) open(wanted[static_cast<size_t>(i)]);
        if (file.size() != size) file.fail(kFileChanged);
        if (file.code() == 0) file.read_and_close(out.data<char>(i));
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
      static_cast<int64_t>(parts.size()), [](int64_t) { return kFileOpenCost; },
      [&](int64_t i) {
        const auto k = static_cast<size_t>(i);
        if (auto found = cache->find(paths[k], local_name(paths[k]))) parts[k] = std::move(*found);
      });
  std::vector<size_t> wanted;
  for (size_t k = 0; k < paths.size(); k++) {
    if (parts.empty() || parts[k].size() == 0) wanted.push_back(k);
  }
  std::vector<OpenFile> files(paths.size());
  const Samples read = read_uncached(paths, wanted, !parts.empty(), files);
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

}  // namespace daliesque::files
