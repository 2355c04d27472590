// SPDX-License-Identifier: Apache-2.0
#include "files/archives.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/parallel.h"
#include "files/open_file.h"

namespace daliesque::files {

namespace {

// What reading costs if the system has the file in memory, in nanoseconds. Elsewhere it is far
// more, which only makes parallel reading more worthwhile.
constexpr double kMemberReadCost = 1e3, kMemberByteCost = 0.15;

// Pieces that follow each other are read at once, up to so many bytes: enough to make the cost of
// a call vanish, little enough to occupy all threads.
constexpr int64_t kLargestRun = int64_t{1} << 19;

// How many files stay open.
constexpr size_t kMostArchivesOpen = 16;

// Looking at smaller pieces again costs less than remembering them.
constexpr int64_t kLeastRemembered = 4096;

// More files than this are not asked for their sizes, and not kept in memory.
constexpr size_t kMostKept = 64;

/// Indices [begin, end) of a request whose pieces are adjacent in one file.
struct Run {
  int64_t begin, end, bytes;
};

// Runs begin at the same offset within a cache line in memory as in their file. Where they begin
// up to 31 bytes behind that, counted within a page, some processors (AMD Zen 3 and 4) copy them
// out of the system's cache four times as slowly, and elsewhere a tenth more slowly.
constexpr int64_t kLine = 64;

/// Why a piece could not be read.
struct Failure {
  int code = 0;
  std::string reason;
};

std::vector<Run> find_runs(std::span<const int64_t> files, std::span<const int64_t> offsets,
                           const std::vector<int64_t>& sizes,
                           const std::vector<Failure>& failures) {
  std::vector<Run> runs;
  for (size_t k = 0; k < sizes.size(); k++) {
    if (failures[k].code != 0) continue;
    const auto index = static_cast<int64_t>(k);
    if (!runs.empty() && runs.back().end == index && files[k] == files[k - 1] &&
        offsets[k] == offsets[k - 1] + sizes[k - 1] &&
        runs.back().bytes + sizes[k] <= kLargestRun) {
      runs.back().end++;
      runs.back().bytes += sizes[k];
    } else {
      runs.push_back({index, index + 1, sizes[k]});
    }
  }
  return runs;
}

/// Memory for pieces of so many bytes: those of a run back to back, and, unless the type wants its
/// elements aligned, each run in line with its file.
Samples allocate_pieces(DType dtype, std::span<const int64_t> offsets, std::vector<int64_t> sizes,
                        const std::vector<Run>& runs) {
  const auto count = static_cast<int64_t>(sizes.size());
  if (const auto item = static_cast<int64_t>(dtype_size(dtype)); item > 1) {
    for (int64_t& size : sizes) size /= item;
    return Samples::empty(dtype, 1, std::move(sizes), "", count);
  }
  std::vector<Samples::Range> pieces;
  pieces.reserve(sizes.size());
  for (const int64_t size : sizes) pieces.push_back({0, size, 1});
  for (const Run& run : runs) {
    const auto first = static_cast<size_t>(run.begin), last = static_cast<size_t>(run.end - 1);
    const int64_t lead = offsets[first] % kLine;
    pieces[first].start = lead;
    sizes[first] += lead;
    sizes[last] += kLine - 1 - (lead + run.bytes + kLine - 1) % kLine;
  }
  return Samples::empty(dtype, 1, std::move(sizes), "", count).slice(pieces, {false}, "");
}

}  // namespace

Archives::Archives(std::vector<std::string> paths, Opener opener, bool joined, int64_t kept_bytes,
                   double least_age)
    : paths_(std::move(paths)),
      opener_(std::move(opener)),
      joined_(joined),
      file_sizes_(paths_.size()),
      kept_bytes_(kept_bytes),
      least_age_(static_cast<int64_t>(least_age * 1e9)),
      cache_(joined ? 0 : kept_bytes, least_age) {
  for (auto& size : file_sizes_) size = -1;
}

SourceHandle Archives::find(int64_t file) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return nullptr;
  for (Entry& entry : opened_) {
    if (entry.file == file) {
      entry.used = ++clock_;
      return entry.source;
    }
  }
  return nullptr;
}

void Archives::keep(int64_t file, const SourceHandle& source) {
  SourceHandle dropped;  // closed after the lock is released
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  for (const Entry& entry : opened_) {
    if (entry.file == file) return;
  }
  if (opened_.size() < kMostArchivesOpen) {
    opened_.push_back({file, source, ++clock_});
    return;
  }
  Entry& oldest = *std::min_element(opened_.begin(), opened_.end(),
                                    [](auto& a, auto& b) { return a.used < b.used; });
  dropped = std::exchange(oldest, {file, source, ++clock_}).source;
}

SourceHandle Archives::open(int64_t file) {
  if (SourceHandle found = find(file)) return found;
  SourceHandle source = opener_(paths_.at(static_cast<size_t>(file)));
  file_sizes_[static_cast<size_t>(file)] = source->size();
  keep(file, source);
  return source;
}

int64_t Archives::file_size(int64_t file) {
  const int64_t known = file_sizes_.at(static_cast<size_t>(file));
  return known >= 0 ? known : open(file)->size();
}

void Archives::require(int64_t file, int64_t offset, int64_t size) {
  int64_t rest = file_size(file);
  if (offset < 0 || size < 0 || offset > rest) throw ReadFailure(kEndsEarly);
  rest -= offset;
  while (joined_ && rest < size && file + 1 < count()) rest += file_size(++file);
  if (size > rest) throw ReadFailure(kEndsEarly);
  if (size > max_sample_bytes()) throw ReadFailure(kTooLarge);
}

/// The files of a request, unless they are too many: threads that ask for them one by one would be
/// in each other's way.
Archives::Opened Archives::open_some(std::span<const int64_t> files) {
  Opened opened;
  int64_t last = -1;
  for (const int64_t file : files) {
    if (file == std::exchange(last, file) || opened.contains(file)) continue;
    if (opened.size() == kMostArchivesOpen) break;
    try {
      opened.emplace(file, open(file));
    } catch (const ReadFailure&) {
      // Whoever reads from it will say so.
    }
  }
  return opened;
}

void Archives::read_piece(const Opened& opened, int64_t file, int64_t offset, int64_t size,
                          char* out) {
  const auto found = opened.find(file);
  const SourceHandle source = found == opened.end() ? open(file) : found->second;
  const int64_t here = joined_ ? std::min(size, source->size() - offset) : size;
  source->read_at(offset, here, out);
  if (here < size) read_piece(opened, file + 1, 0, size - here, out + here);
}

bool Archives::are_small() {
  if (total_size_ == Size::unknown) {
    int64_t total = 0;
    for (size_t k = 0; k < paths_.size() && k <= kMostKept && total <= kept_bytes_; k++) {
      struct stat info;
      if (::stat(local_name(paths_[k]), &info) != 0) return false;
      total += info.st_size;
    }
    const bool small = paths_.size() <= kMostKept && total <= kept_bytes_;
    total_size_ = small ? Size::small : Size::large;
  }
  return total_size_ == Size::small;
}

/// All of a file, if it may be kept in memory.
std::optional<Samples> Archives::whole(int64_t file) {
  const std::string& path = paths_.at(static_cast<size_t>(file));
  if (auto found = cache_.find(path, local_name(path))) return found;
  OpenFile opened;
  opened.open(path);
  if (opened.code() != 0 || opened.size() > kept_bytes_ || !opened.stamp().settled(least_age_)) {
    return std::nullopt;
  }
  const Samples buffer = Samples::empty(DType::uint8, 1, {opened.size()}, "", 1);
  if (opened.read_at(buffer.data<char>(0), opened.size(), 0) != 0) return std::nullopt;
  Samples contents = Samples::wrap(DType::uint8, {opened.size()}, {}, buffer.data(0),
                                   buffer.owner(0), true, false);
  cache_.insert(path, opened.stamp(), contents);
  return contents;
}

/// The pieces of a request as parts of archives in memory, if that is where they all are.
std::optional<Samples> Archives::find_kept(const Request& request) {
  const auto& [dtype, files, offsets, sizes] = request;
  const size_t count = files.size();
  if (count == 0 || !cache_.active() || !are_small()) return std::nullopt;
  const auto item = static_cast<int64_t>(dtype_size(dtype));
  std::map<int64_t, Samples> archives;
  std::vector<Samples> pieces;
  for (size_t k = 0; k < count; k++) {
    auto found = archives.find(files[k]);
    if (found == archives.end()) {
      std::optional<Samples> contents = whole(files[k]);
      if (!contents) return std::nullopt;
      found = archives.emplace(files[k], std::move(*contents)).first;
    }
    const Samples& archive = found->second;
    if (offsets[k] < 0 || sizes[k] < 0 || offsets[k] > archive.volume(0) - sizes[k] ||
        offsets[k] % item != 0) {
      return std::nullopt;
    }
    pieces.push_back(Samples::wrap(dtype, {sizes[k] / item}, {}, archive.data<char>(0) + offsets[k],
                                   archive.owner(0), true, false));
  }
  std::vector<const Samples*> pointers;
  for (const Samples& piece : pieces) pointers.push_back(&piece);
  return Samples::join(pointers);
}

void Archives::inspect_kept(const Request& request, const Samples& kept, const Inspect& inspect) {
  const std::vector<char> known = find_verified(request, kept);
  std::vector<char> verified(known.size());
  const auto cost = [&](int64_t index) {
    const auto k = static_cast<size_t>(index);
    return known[k] ? kMemberReadCost
                    : kMemberReadCost + kMemberByteCost * static_cast<double>(request.sizes[k]);
  };
  parallel_for(kept.size(), cost, [&](int64_t index) {
    const auto k = static_cast<size_t>(index);
    verified[k] = inspect(index, kept.data<uint8_t>(index), known[k] != 0);
  });
  if (verified != known) remember_verified(request, kept, verified);
}

std::vector<char> Archives::find_verified(const Request& request, const Samples& kept) {
  std::vector<char> known(request.files.size());
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return known;
  for (size_t k = 0; k < known.size(); k++) {
    const auto archive = verified_.find(request.files[k]);
    if (archive == verified_.end()) continue;
    const auto& [memory, pieces] = archive->second;
    const auto piece = pieces.find(request.offsets[k]);
    known[k] = piece != pieces.end() && piece->second == request.sizes[k] &&
               memory.lock() == kept.owner(static_cast<int64_t>(k));
  }
  return known;
}

void Archives::remember_verified(const Request& request, const Samples& kept,
                                 const std::vector<char>& verified) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  for (size_t k = 0; k < verified.size(); k++) {
    if (!verified[k] || request.sizes[k] < kLeastRemembered) continue;
    auto& [memory, pieces] = verified_[request.files[k]];
    const Buffer& owner = kept.owner(static_cast<int64_t>(k));
    if (memory.lock() != owner) {
      memory = owner;
      pieces.clear();
    }
    pieces[request.offsets[k]] = request.sizes[k];
  }
}

Samples Archives::read(DType dtype, std::span<const int64_t> files,
                       std::span<const int64_t> offsets, std::span<const int64_t> sizes,
                       std::vector<PieceError>& errors, const Inspect& inspect) {
  const size_t count = files.size();
  const Request request{dtype, files, offsets, sizes};
  if (const auto kept = find_kept(request)) {
    if (inspect) inspect_kept(request, *kept, inspect);
    return *kept;
  }
  const Opened opened = open_some(files);
  std::vector<Failure> failures(count);
  std::vector<int64_t> extents(sizes.begin(), sizes.end());
  for (size_t k = 0; k < count; k++) {
    try {
      // An index that is wrong must not make us allocate whatever it says.
      require(files[k], offsets[k], sizes[k]);
    } catch (const ReadFailure& failure) {
      failures[k] = {failure.code(), failure.what()};
      extents[k] = 0;
    }
  }
  const std::vector<Run> runs = find_runs(files, offsets, extents, failures);
  const Samples out = allocate_pieces(dtype, offsets, std::move(extents), runs);
  const auto read_from = [&](int64_t index, int64_t bytes) {
    const auto k = static_cast<size_t>(index);
    read_piece(opened, files[k], offsets[k], bytes, out.data<char>(index));
  };
  const auto read_each = [&](const Run& run) {
    for (int64_t index = run.begin; index < run.end; index++) {
      const auto k = static_cast<size_t>(index);
      try {
        read_from(index, sizes[k]);
        if (inspect) inspect(index, out.data<uint8_t>(index), false);
      } catch (const ReadFailure& failure) {
        failures[k] = {failure.code(), failure.what()};
      }
    }
  };
  parallel_for(
      static_cast<int64_t>(runs.size()),
      [&](int64_t r) {
        return kMemberReadCost +
               kMemberByteCost * static_cast<double>(runs[static_cast<size_t>(r)].bytes);
      },
      [&](int64_t r) {
        const Run& run = runs[static_cast<size_t>(r)];
        if (run.end == run.begin + 1) return read_each(run);
        try {
          read_from(run.begin, run.bytes);
        } catch (const ReadFailure&) {
          return read_each(run);
        }
        for (int64_t index = run.begin; inspect && index < run.end; index++) {
          inspect(index, out.data<uint8_t>(index), false);
        }
      });
  for (size_t k = 0; k < count; k++) {
    if (failures[k].code != 0) {
      errors.push_back({static_cast<int64_t>(k), files[k], offsets[k], failures[k].code,
                        std::move(failures[k].reason)});
    }
  }
  return out;
}

}  // namespace daliesque::files
