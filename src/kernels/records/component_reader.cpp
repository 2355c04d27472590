// SPDX-License-Identifier: Apache-2.0
#include "records/component_reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace daliesque::records {

namespace {

// Up to this many unneeded bytes are read to avoid another call.
constexpr int64_t kLargestGap = 4096;

// Offsets beyond this come from a wrong index; sums of smaller ones cannot overflow.
constexpr int64_t kFarthest = int64_t{1} << 48;

/// Pieces of archives, one for each sample.
struct OutputColumn {
  std::vector<int64_t> offsets, sizes;
};

/// What to read: the archive of each sample, and its piece for each output.
struct Request {
  std::vector<int64_t> files;
  std::vector<OutputColumn> outputs;
};

Request find_pieces(const ComponentIndex& index, std::span<const int64_t> numbers) {
  Request request;
  request.outputs.resize(static_cast<size_t>(index.outputs()));
  for (const int64_t number : numbers) request.files.push_back(index.file_of(number));
  for (size_t output = 0; output < request.outputs.size(); output++) {
    auto& [offsets, sizes] = request.outputs[output];
    for (const int64_t number : numbers) {
      const int64_t component = index.component(number, static_cast<int64_t>(output));
      const bool there = component >= 0;
      offsets.push_back(there ? index.offsets[static_cast<size_t>(component)] : 0);
      sizes.push_back(there ? index.sizes[static_cast<size_t>(component)] : 0);
    }
  }
  return request;
}

/// The stretches of the archives that hold the samples; none if they lie too far apart.
std::optional<OutputColumn> find_stretches(const Request& request) {
  const size_t count = request.files.size();
  OutputColumn stretches;
  double wanted = 0, total = 0;
  for (size_t k = 0; k < count; k++) {
    int64_t begin = std::numeric_limits<int64_t>::max(), end = 0;
    for (const auto& [offsets, sizes] : request.outputs) {
      if (sizes[k] == 0) continue;
      if (offsets[k] > kFarthest || sizes[k] > kFarthest) return std::nullopt;
      begin = std::min(begin, offsets[k]);
      end = std::max(end, offsets[k] + sizes[k]);
      wanted += static_cast<double>(sizes[k]);
    }
    begin = std::min(begin, end);
    if (k > 0 && request.files[k] == request.files[k - 1]) {
      // From one sample to the next only a header is left out: reading it, too, saves a call.
      const int64_t gap = begin - (stretches.offsets.back() + stretches.sizes.back());
      if (gap >= 0 && gap <= kLargestGap) stretches.sizes.back() += gap;
    }
    stretches.offsets.push_back(begin);
    stretches.sizes.push_back(end - begin);
  }
  for (const int64_t size : stretches.sizes) total += static_cast<double>(size);
  if (total > 2 * wanted) return std::nullopt;
  return stretches;
}

/// Parts of stretches; copies unless these consist mostly of them.
Samples cut(const Samples& stretches, const std::vector<int64_t>& begins,
            const OutputColumn& pieces) {
  std::vector<Samples::Range> ranges;
  int64_t total = 0;
  for (size_t k = 0; k < begins.size(); k++) {
    const int64_t size = pieces.sizes[k];
    ranges.push_back({size == 0 ? 0 : pieces.offsets[k] - begins[k], size, 1});
    total += size;
  }
  const Samples parts = stretches.slice(ranges, {false}, "");
  return 2 * total < stretches.total_volume() ? clone(parts) : parts;
}

/// All outputs out of one buffer, if the files of samples lie side by side and can be read.
std::optional<std::vector<Samples>> read_together(files::Archives& archives,
                                                  const ComponentIndex& index,
                                                  const Request& request) {
  // Parts of one buffer are aligned to nothing, and no two outputs may have the same.
  if (!index.separate_bytes()) return std::nullopt;
  const auto stretches = find_stretches(request);
  if (!stretches) return std::nullopt;
  std::vector<files::PieceError> errors;
  const Samples read =
      archives.read(DType::uint8, request.files, stretches->offsets, stretches->sizes, errors);
  if (!errors.empty()) return std::nullopt;
  std::vector<Samples> outputs;
  for (const OutputColumn& pieces : request.outputs) {
    outputs.push_back(cut(read, stretches->offsets, pieces));
  }
  return outputs;
}

}  // namespace

std::vector<Samples> read_components(files::Archives& archives, const ComponentIndex& index,
                                     std::span<const int64_t> numbers,
                                     std::vector<files::PieceError>& errors) {
  const Request request = find_pieces(index, numbers);
  if (auto outputs = read_together(archives, index, request)) return std::move(*outputs);
  std::vector<Samples> outputs;
  for (size_t output = 0; output < request.outputs.size(); output++) {
    const auto& [offsets, sizes] = request.outputs[output];
    outputs.push_back(archives.read(index.dtypes()[output], request.files, offsets, sizes, errors));
  }
  // Of several errors of one sample the first output's counts.
  std::stable_sort(errors.begin(), errors.end(),
                   [](const auto& a, const auto& b) { return a.index < b.index; });
  const auto same_index = [](const auto& a, const auto& b) { return a.index == b.index; };
  errors.erase(std::unique(errors.begin(), errors.end(), same_index), errors.end());
  return outputs;
}

}  // namespace daliesque::records
