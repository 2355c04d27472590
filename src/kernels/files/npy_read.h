// SPDX-License-Identifier: Apache-2.0
// Reading many .npy files at once, whole or in part.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/function_ref.h"
#include "core/samples.h"
#include "files/npy_header.h"
#include "files/open_file.h"
#include "tensor/windows.h"

namespace daliesque::files {

/// Headers of files that were read before. The rules are those of FileCache: changes are noticed,
/// and no thread ever waits for another.
class NpyHeaderCache {
 public:
  explicit NpyHeaderCache(double least_age) : least_age_(static_cast<int64_t>(least_age * 1e9)) {}

  std::optional<NpyHeader> find(const std::string& path, const FileStamp& stamp);
  void insert(const std::string& path, const FileStamp& stamp, const NpyHeader& header);

 private:
  int64_t least_age_;
  std::shared_mutex mutex_;
  std::unordered_map<std::string, std::pair<FileStamp, NpyHeader>> headers_;
};

/// A part of arrays.
struct NpyRegion {
  enum class Outside : int32_t { error, pad, trim };

  tensor::SliceArgs bounds;  ///< one row each: they serve all files; no axes: all of them
  Outside outside;
  float fill;
};

/// Why an array cannot be read.
enum class NpyFault {
  unreadable,   ///< `code` is an errno code or one of those in open_file.h
  malformed,    ///< the file is not a .npy file of numbers, or shorter than its header says
  bound_count,  ///< there must be one value of a bound for each of `axis` axes; there are `value`
  region,       ///< there is no such region; `window`, `axis` and `value` are those of WindowFault
  other_axes,   ///< the number of axes differs from that of the array with the index `first`
  other_type,   ///< likewise, the type
};

struct NpyError {
  int64_t sample = 0;
  NpyFault fault = NpyFault::unreadable;
  int code = 0;
  tensor::WindowFault::Kind window = tensor::WindowFault::none;
  int64_t axis = 0;
  double value = 0;
  int64_t first = 0;
};

/// Where bytes come from.
class NpySource {
 public:
  virtual ~NpySource() = default;
  /// Returns 0 or the code of an unreadable file.
  virtual int open() = 0;
  virtual void close() = 0;
  virtual int64_t size() const = 0;
  virtual int read_at(char* out, int64_t count, int64_t offset) const = 0;
  /// The header, if it is known.
  virtual std::optional<NpyHeader> known_header() { return std::nullopt; }
  virtual void learn_header(const NpyHeader&) {}
};

std::unique_ptr<NpySource> file_source(std::string path, NpyHeaderCache* cache);
/// A sample of uint8, which must outlive the source.
std::unique_ptr<NpySource> memory_source(const Samples& samples, int64_t sample);

/// Lends memory for arrays of an outline, if it has any.
using NpyMemory = FunctionRef<std::optional<Samples>(const Samples&)>;

/// The arrays in all sources without errors (or parts of them), in order. The errors are sorted by
/// sample; kOtherAxes and kOtherType are reported alone, and nothing is read. They are read into
/// the memory that `lend`, if not null, gives, unless they have to be rearranged.
Samples read_npy(std::vector<std::unique_ptr<NpySource>>& sources, const NpyRegion* region,
                 std::vector<NpyError>& errors, const NpyMemory* lend = nullptr);

}  // namespace daliesque::files
