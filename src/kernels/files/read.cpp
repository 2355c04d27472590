// SPDX-License-Identifier: Apache-2.0
#include "files/read.h"

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

/// Reads files, those of them that are listed in `wanted`, into one buffer.
Samples read_uncached(const std::vector<std::string>& paths, const std::vector<size_t>& wanted,
                      std::vector<OpenFile>& files) {
  const auto count = static_cast<int64_t>(wanted.size());
  const bool keep_open = count <= kMostFilesOpen;
  const int64_t limit = max_sample_bytes();
  std::vector<int64_t> sizes(wanted.size());
  parallel_for(
      count, [](int64_t) { return kFileOpenCost; },
      [&](int64_t i) {
        const size_t k = wanted[static_cast<size_t>(i)];
        files[k].open(paths[k]);
        if (files[k].code() == 0 && files[k].size() > limit) files[k].fail(kTooLarge);
        sizes[static_cast<size_t>(i)] = files[k].code() == 0 ? files[k].size() : 0;
        if (!keep_open) files[k].close();
      });
  Samples out = Samples::empty(DType::uint8, 1, sizes, "", count);
  parallel_for(
      count,
      [&](int64_t i) {
        return kFileReadCost + kFileByteCost * static_cast<double>(sizes[static_cast<size_t>(i)]);
      },
      [&](int64_t i) {
        const size_t k = wanted[static_cast<size_t>(i)];
        if (files[k].code() != 0) return;
        if (!keep_open) files[k].open(paths[k]);
        if (files[k].size() != sizes[static_cast<size_t>(i)]) files[k].fail(kFileChanged);
        if (files[k].code() != 0) return;
        const int code = files[k].read_at(out.data<char>(i), files[k].size(), 0);
        code != 0 ? files[k].fail(code) : files[k].close();
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
  const Samples read = read_uncached(paths, wanted, files);
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
