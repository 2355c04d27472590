// SPDX-License-Identifier: Apache-2.0
#include "files/npy_read.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>
#include <utility>

#include "core/byte_order.h"
#include "core/parallel.h"
#include "core/saturate.h"
#include "files/npy_window.h"
#include "tensor/transpose.h"

namespace daliesque::files {

namespace {

// See file_read.cpp.
constexpr double kNpyOpenCost = 4e3, kNpyReadCost = 2e3, kNpyByteCost = 0.25;
constexpr int64_t kMostNpyOpen = 256;

// Most headers are shorter; longer ones are read in a second step.
constexpr int64_t kFirstBytes = 512;
// Large arrays are read in pieces of this size, by several threads.
constexpr int64_t kPieceBytes = int64_t{1} << 19;
// What a header says fits into far fewer bytes than this.
constexpr int64_t kMostHeaderBytes = int64_t{1} << 20;

class FileSource : public NpySource {
 public:
  FileSource(std::string path, NpyHeaderCache* cache) : path_(std::move(path)), cache_(cache) {}

  int open() override {
    file_.open(path_);
    return file_.code();
  }
  void close() override { file_.close(); }
  int64_t size() const override { return file_.size(); }
  int read_at(char* out, int64_t count, int64_t offset) const override {
    return file_.read_at(out, count, offset);
  }
  std::optional<NpyHeader> known_header() override {
    return cache_ ? cache_->find(path_, file_.stamp()) : std::nullopt;
  }
  void learn_header(const NpyHeader& header) override {
    if (cache_) cache_->insert(path_, file_.stamp(), header);
  }

 private:
  std::string path_;
  NpyHeaderCache* cache_;
  OpenFile file_;
};

class MemorySource : public NpySource {
 public:
  MemorySource(const char* data, int64_t size) : data_(data), size_(size) {}

  int open() override { return 0; }
  void close() override {}
  int64_t size() const override { return size_; }
  int read_at(char* out, int64_t count, int64_t offset) const override {
    std::memcpy(out, data_ + offset, static_cast<size_t>(count));
    return 0;
  }

 private:
  const char* data_;
  int64_t size_;
};

/// What is known of one file.
struct Array {
  NpySource* source = nullptr;
  int64_t sample = 0;
  NpyHeader header;
  std::optional<NpyError> error;
  NpyWindow window;        // of the array, without what lies outside
  tensor::Windows wanted;  // with it

  bool good() const { return !error; }
  void fail(int code) { error = {.sample = sample, .code = code}; }

  bool padded() const { return !wanted.extents.empty() && wanted.extents != window.extents; }
};

void read_header(Array& array) {
  NpySource& source = *array.source;
  const auto malformed = [&] {
    array.error = {.sample = array.sample, .fault = NpyFault::malformed};
  };
  if (auto known = source.known_header()) {
    array.header = std::move(*known);
    return;
  }
  char first[kFirstBytes];
  const int64_t have = std::min(source.size(), kFirstBytes);
  if (const int code = source.read_at(first, have, 0)) return array.fail(code);
  const int64_t size = npy_header_size({first, static_cast<size_t>(have)});
  if (size == 0 || size > source.size() || size > kMostHeaderBytes) return malformed();
  std::string text(first, static_cast<size_t>(std::min(size, have)));
  if (size > have) {
    text.resize(static_cast<size_t>(size));
    if (const int code = source.read_at(text.data(), size, 0)) return array.fail(code);
  }
  auto header = parse_npy_header(text);
  if (!header || header->nbytes > source.size() - size) return malformed();
  source.learn_header(*header);
  array.header = std::move(*header);
}

/// Finds out which part of an array to read.
void locate_window(Array& array, const NpyRegion* region) {
  const std::vector<int64_t>& shape = array.header.shape;
  array.window = {shape, std::vector<int64_t>(shape.size(), 0), shape,
                  static_cast<int64_t>(dtype_size(array.header.dtype))};
  if (!region || shape.empty()) return;
  const auto ndim = static_cast<int64_t>(shape.size());
  const PerSample<int64_t> row(shape.data(), 1, ndim);
  tensor::SliceArgs bounds = region->bounds;
  std::vector<int32_t> all(shape.size());
  std::iota(all.begin(), all.end(), 0);
  if (bounds.axes.width() == 0) bounds.axes = {all.data(), 1, ndim};
  for (const tensor::SliceBound* bound : {&bounds.begin, &bounds.end, &bounds.size}) {
    if (!bound->values) continue;
    const int64_t given = bound->values->width();
    if (given == 1 || given == bounds.axes.width()) continue;
    array.error = {.sample = array.sample,
                   .fault = NpyFault::bound_count,
                   .axis = bounds.axes.width(),
                   .value = static_cast<double>(given)};
    return;
  }
  tensor::WindowFault fault = tensor::slice_windows(array.wanted, row, bounds);
  tensor::Windows fitting = array.wanted;
  if (!fault.kind) {
    fault = tensor::fit_windows(fitting, row, region->outside != NpyRegion::Outside::error);
  }
  if (fault.kind) {
    array.error = {.sample = array.sample,
                   .fault = NpyFault::region,
                   .window = fault.kind,
                   .axis = fault.axis,
                   .value = fault.value};
    return;
  }
  array.window.anchors = fitting.anchors;
  array.window.extents = fitting.extents;
  if (region->outside != NpyRegion::Outside::pad) array.wanted = std::move(fitting);
}

std::vector<int64_t> reversed(const std::vector<int64_t>& values) {
  return {values.rbegin(), values.rend()};
}

/// The outline of the windows, with the axes in the order of the file if `as_stored`.
Samples outline_windows(const std::vector<Array*>& arrays, bool as_stored) {
  std::vector<int64_t> shapes;
  for (const Array* array : arrays) {
    const bool reverse = as_stored && array->header.fortran_order;
    const std::vector<int64_t> extents =
        reverse ? reversed(array->window.extents) : array->window.extents;
    shapes.insert(shapes.end(), extents.begin(), extents.end());
  }
  const NpyHeader& first = arrays[0]->header;
  return Samples::outline(first.dtype, static_cast<int>(first.shape.size()), std::move(shapes), "",
                          static_cast<int64_t>(arrays.size()));
}

NpyWindow as_stored(const Array& array) {
  const NpyWindow& window = array.window;
  if (!array.header.fortran_order) return window;
  return {reversed(window.shape), reversed(window.anchors), reversed(window.extents),
          window.itemsize};
}

/// Reads windows into `out`, where the axes have the order of the file. Whole arrays are cut into
/// pieces, so that one large file keeps all threads busy.
void read_windows(Samples& out, const std::vector<Array*>& arrays, bool keep_open) {
  const auto count = static_cast<int64_t>(arrays.size());
  std::vector<std::atomic<int>> codes(arrays.size());
  const auto at = [&](int64_t i) -> Array& { return *arrays[static_cast<size_t>(i)]; };
  const auto whole = [&](int64_t i) { return at(i).window.whole() && keep_open; };
  parallel_slices(
      count,
      [&](int64_t i) {
        return whole(i) ? (at(i).header.nbytes + kPieceBytes - 1) / kPieceBytes : int64_t{1};
      },
      [&](int64_t i) {
        const auto bytes = static_cast<double>(at(i).window.nbytes());
        return kNpyReadCost +
               kNpyByteCost * (whole(i) ? std::min<double>(bytes, kPieceBytes) : bytes);
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        NpySource& source = *at(i).source;
        int code = 0;
        if (!keep_open) {
          code = source.open();
          if (code == 0 && source.size() < at(i).header.offset + at(i).header.nbytes) {
            code = kFileChanged;
          }
        }
        if (code == 0 && whole(i)) {
          const int64_t first = begin * kPieceBytes;
          const int64_t last = std::min(end * kPieceBytes, at(i).header.nbytes);
          code =
              source.read_at(out.data<char>(i) + first, last - first, at(i).header.offset + first);
        } else if (code == 0) {
          const int64_t offset = at(i).header.offset;
          code = read_window(
              out.data<char>(i), as_stored(at(i)),
              [&](char* to, int64_t n, int64_t k) { return source.read_at(to, n, offset + k); });
        }
        if (!keep_open) source.close();
        if (code != 0) codes[static_cast<size_t>(i)] = code;
      });
  for (int64_t i = 0; i < count; i++) {
    if (keep_open) at(i).source->close();
    if (const int code = codes[static_cast<size_t>(i)]) at(i).fail(code);
    if (at(i).header.swapped) {
      copy_swapped(out.data(i), out.data(i), out.volume(i), out.itemsize());
    }
  }
}

/// Transposes the windows of arrays in Fortran order.
Samples in_c_order(const Samples& stored, const std::vector<Array*>& arrays) {
  std::vector<int64_t> fortran, straight;
  for (size_t k = 0; k < arrays.size(); k++) {
    const bool reverse = arrays[k]->header.fortran_order && arrays[k]->header.shape.size() > 1;
    (reverse ? fortran : straight).push_back(static_cast<int64_t>(k));
  }
  if (fortran.empty()) return stored;
  Samples out = outline_windows(arrays, false);
  out.materialize();
  std::vector<int> backwards(static_cast<size_t>(out.ndim()));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  Samples transposed = out.select(fortran);
  tensor::transpose(transposed, stored.select(fortran), backwards);
  if (!straight.empty()) {
    Samples to_copy = out.select(straight);
    copy(to_copy, stored.select(straight));
  }
  return out;
}

/// Puts windows that leave their arrays into larger ones, filled with a value.
Samples padded(const Samples& windows, const std::vector<Array*>& arrays, float fill) {
  std::vector<int64_t> shapes;
  for (const Array* array : arrays) {
    shapes.insert(shapes.end(), array->wanted.extents.begin(), array->wanted.extents.end());
  }
  Samples out =
      Samples::empty(windows.dtype(), windows.ndim(), std::move(shapes), "", windows.size());
  dispatch(AllTypes{}, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T value = saturate<T>(fill);
    parallel_for(
        out.size(), [&](int64_t i) { return static_cast<double>(out.volume(i)); },
        [&](int64_t i) {
          const Array& array = *arrays[static_cast<size_t>(i)];
          std::fill_n(out.data<T>(i), out.volume(i), value);
          std::vector<int64_t> anchors(array.wanted.anchors.size());
          for (size_t axis = 0; axis < anchors.size(); axis++) {
            anchors[axis] = array.window.anchors[axis] - array.wanted.anchors[axis];
          }
          put_window(out.data<char>(i),
                     {array.wanted.extents, anchors, array.window.extents, array.window.itemsize},
                     windows.data<const char>(i));
        });
  });
  return out;
}

/// Memory for the windows as they are stored: lent, if these are the arrays in the end.
Samples memory_for(const std::vector<Array*>& arrays, const NpyMemory* lend) {
  Samples stored = outline_windows(arrays, true);
  const bool rearranged = std::ranges::any_of(arrays, [](const Array* array) {
    return array->padded() || (array->header.fortran_order && array->header.shape.size() > 1);
  });
  if (lend && !rearranged) {
    if (std::optional<Samples> lent = (*lend)(stored)) return *std::move(lent);
  }
  stored.materialize();
  return stored;
}

/// The arrays without errors; empty if they do not go together.
std::vector<Array*> alike(std::vector<Array>& arrays, std::vector<NpyError>& errors) {
  std::vector<Array*> good;
  for (Array& array : arrays) {
    if (!array.good()) continue;
    good.push_back(&array);
    const NpyHeader &header = array.header, &first = good[0]->header;
    const bool other_axes = header.shape.size() != first.shape.size();
    if (!other_axes && header.dtype == first.dtype) continue;
    errors.push_back({.sample = array.sample,
                      .fault = other_axes ? NpyFault::other_axes : NpyFault::other_type,
                      .first = good[0]->sample});
    return {};
  }
  return good;
}

}  // namespace

std::optional<NpyHeader> NpyHeaderCache::find(const std::string& path, const FileStamp& stamp) {
  const std::shared_lock lock(mutex_, std::try_to_lock);
  if (!lock) return std::nullopt;
  const auto found = headers_.find(path);
  if (found == headers_.end() || found->second.first != stamp) return std::nullopt;
  return found->second.second;
}

void NpyHeaderCache::insert(const std::string& path, const FileStamp& stamp,
                            const NpyHeader& header) {
  if (!stamp.settled(least_age_)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock) headers_.insert_or_assign(path, std::pair(stamp, header));
}

std::unique_ptr<NpySource> file_source(std::string path, NpyHeaderCache* cache) {
  return std::make_unique<FileSource>(std::move(path), cache);
}

std::unique_ptr<NpySource> memory_source(const Samples& samples, int64_t sample) {
  return std::make_unique<MemorySource>(samples.data<const char>(sample), samples.volume(sample));
}

Samples read_npy(std::vector<std::unique_ptr<NpySource>>& sources, const NpyRegion* region,
                 std::vector<NpyError>& errors, const NpyMemory* lend) {
  const auto count = static_cast<int64_t>(sources.size());
  const bool keep_open = count <= kMostNpyOpen;
  const int64_t limit = max_sample_bytes();
  std::vector<Array> arrays(sources.size());
  parallel_for(
      count, [](int64_t) { return kNpyOpenCost; },
      [&](int64_t i) {
        Array& array = arrays[static_cast<size_t>(i)];
        array.source = sources[static_cast<size_t>(i)].get();
        array.sample = i;
        if (const int code = array.source->open()) {
          array.fail(code);
        } else {
          read_header(array);
        }
        if (!keep_open) array.source->close();
        if (array.good()) locate_window(array, region);
        if (array.good() && array.window.nbytes() > limit) array.fail(kTooLarge);
      });
  const std::vector<Array*> good = alike(arrays, errors);
  if (!errors.empty()) return {};
  Samples out;
  if (!good.empty()) {
    Samples stored = memory_for(good, lend);
    read_windows(stored, good, keep_open);
    out = in_c_order(stored, good);
    if (std::ranges::any_of(good, [](const Array* array) { return array->padded(); })) {
      out = padded(out, good, region->fill);
    }
  }
  std::vector<int64_t> complete;
  for (size_t k = 0; k < good.size(); k++) {
    if (good[k]->good()) complete.push_back(static_cast<int64_t>(k));
  }
  for (const Array& array : arrays) {
    if (!array.good()) errors.push_back(*array.error);
  }
  return complete.size() == good.size() ? out : out.select(complete);
}

}  // namespace daliesque::files
