// SPDX-License-Identifier: Apache-2.0
// Which files inside tar archives belong together: the index of WebDataset readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tar.h"

namespace daliesque {

/// What can be wrong with an archive or its index.
enum class ComponentFault {
  none,
  no_tar,
  cut_short,
  compressed,
  bad_version,    ///< the first line does not begin with "v1.1" or "v1.2"
  bad_count,      ///< ... and go on with the number of samples
  bad_line,       ///< extension, offset, size (and name) of each component were expected
  bad_offset,     ///< contents begin at multiples of 512 bytes
  too_few_lines,  ///< there are fewer samples than the first line says
  missing,        ///< a sample has nothing for an output
  bad_size,       ///< the size of a component is no multiple of that of the output's type
};

/// A fault, the line of the index or the byte of the archive where it is, and the output concerned.
struct ComponentError {
  ComponentFault fault;
  int64_t where;
  int64_t output;
};

/// What becomes of samples that have nothing for an output.
enum class MissingComponents { stay_empty, skip, error };

/// Collects the samples of archives. A sample is a run of files whose names agree up to the first
/// dot; what follows the dot decides which outputs a file is for.
class ComponentIndex {
 public:
  /// `extensions` and `item_sizes` have an entry for each output.
  ComponentIndex(const std::vector<std::vector<std::string>>& extensions,
                 std::vector<int64_t> item_sizes, bool case_sensitive, MissingComponents missing);

  /// Adds the samples of an archive, up to where a fault ends it. Throws ReadFailure.
  void add_tar(const ByteSource& source, std::vector<ComponentError>& errors);

  /// Adds the samples that the text of an index lists.
  void add_text(std::string_view text, std::vector<ComponentError>& errors);

  int64_t outputs() const { return static_cast<int64_t>(item_sizes_.size()); }
  int64_t samples() const { return static_cast<int64_t>(chosen.size()) / outputs(); }

  /// The components in use: places, sizes, and names one after the other.
  std::vector<int64_t> offsets, sizes, name_ends;
  std::string names;
  /// For each output of each sample the number of a component, or -1.
  std::vector<int64_t> chosen;
  /// Where several components for one output were met first (-1: nowhere), and for which output.
  int64_t ambiguous_at = -1, ambiguous_output = 0;

 private:
  void begin_sample();
  void add_component(std::string_view extension, std::string_view name, int64_t offset,
                     int64_t size, int64_t where, std::vector<ComponentError>& errors);
  void end_sample(int64_t where, std::vector<ComponentError>& errors);
  ComponentFault add_line(std::string_view line, bool with_names, int64_t where,
                          std::vector<ComponentError>& errors);

  std::unordered_map<std::string, std::vector<size_t>> outputs_of_;
  std::vector<int64_t> item_sizes_;
  bool case_sensitive_;
  MissingComponents missing_;
  std::string lowered_;
  bool usable_ = true;  // the sample in the making
  size_t first_component_ = 0, first_choice_ = 0;
};

/// The text of an index.
struct IndexText {
  std::string text;
  TarEnd end;
  /// There are extensions or names that the format cannot express.
  bool blank_extensions = false, blank_names = false;
};

/// Makes the index of an archive: version 1.2, or without names version 1.1. Throws ReadFailure.
IndexText make_index(const ByteSource& source, bool with_names);

}  // namespace daliesque
