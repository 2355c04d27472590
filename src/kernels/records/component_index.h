// SPDX-License-Identifier: Apache-2.0
// Which files inside tar archives belong together: the index of WebDataset readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/dtype.h"
#include "records/tar.h"

namespace daliesque::records {

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
  /// `extensions` and `dtypes` have an entry for each output.
  ComponentIndex(const std::vector<std::vector<std::string>>& extensions, std::vector<DType> dtypes,
                 bool case_sensitive, MissingComponents missing);

  /// Adds the samples of an archive, up to where a fault ends it. Throws ReadFailure.
  void add_tar(const files::ByteSource& source, std::vector<ComponentError>& errors);

  /// Adds the samples that the text of an index lists.
  void add_text(std::string_view text, std::vector<ComponentError>& errors);

  /// What was added belongs to one archive, and what comes to the next.
  void end_file() { file_ends.push_back(samples()); }

  const std::vector<DType>& dtypes() const { return dtypes_; }
  int64_t outputs() const { return static_cast<int64_t>(dtypes_.size()); }
  int64_t samples() const { return static_cast<int64_t>(chosen_.size()) / outputs(); }

  /// The number of a component, or -1 if the sample has nothing for the output.
  int64_t component(int64_t sample, int64_t output) const {
    return chosen_[static_cast<size_t>(sample * outputs() + output)];
  }
  /// Which archive a sample is in.
  int64_t file_of(int64_t sample) const;
  /// The name of a component: empty if the index of the archive has none.
  std::string_view name(int64_t component) const;
  /// All outputs are bytes, and no component can be that of two.
  bool separate_bytes() const;

  /// The offsets and sizes of the components in use.
  std::vector<int64_t> offsets, sizes;
  /// How many samples there are up to the end of each archive.
  std::vector<int64_t> file_ends;
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
  std::vector<DType> dtypes_;
  bool case_sensitive_;
  MissingComponents missing_;
  std::vector<int64_t> chosen_;  // for each output of each sample
  std::vector<int64_t> name_ends_;
  std::string names_;
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
IndexText make_index(const files::ByteSource& source, bool with_names);

}  // namespace daliesque::records
