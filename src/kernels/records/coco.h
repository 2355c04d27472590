// SPDX-License-Identifier: Apache-2.0
// Annotations of images in the format of COCO (https://cocodataset.org/#format-data).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daliesque::records {

struct CocoOptions {
  float size_threshold;
  bool include_crowds, ltrb, ratio, remap_classes, skip_empty;
  bool polygons, runs;  ///< which segmentations are wanted
  std::optional<std::vector<std::string>> images;
};

/// Something that makes one image useless.
struct CocoFault {
  enum Kind : int32_t {
    box_outside = 1,  ///< a box lies outside of its image
    odd_polygon,      ///< a polygon has an odd number of coordinates
    bad_runs,         ///< run lengths are not those of a mask of the image's size
    no_size,          ///< the size of the image is missing, and needed
    unknown_class,    ///< the category is not listed
  };
  int64_t image;  ///< in the order of the outputs
  Kind kind;
  int64_t annotation;  ///< its number in the file
  int64_t value;
};

/// Annotations, image by image. Vectors named `..._counts` say how many rows of the others belong
/// to each image, in order.
struct CocoAnnotations {
  std::vector<std::string> names;
  std::vector<int64_t> ids, widths, heights;  ///< sizes are 0 if they are not known
  std::vector<int64_t> counts;
  std::vector<float> boxes;  ///< rows of 4
  std::vector<int32_t> labels;
  std::vector<int64_t> polygon_counts, vertex_counts;
  std::vector<int32_t> polygons;  ///< rows of 3: number of the box, first vertex, one past the last
  std::vector<float> vertices;    ///< rows of 2
  std::vector<int64_t> mask_counts;
  std::vector<int32_t> mask_boxes;  ///< for each mask given by runs, the number of its box
  std::vector<int64_t> run_counts;  ///< likewise, how many runs it has
  std::vector<uint32_t> runs;       ///< lengths, down the columns, beginning outside of the mask

  std::vector<CocoFault> faults;
  std::vector<std::string> unlisted;  ///< wanted images that the file does not mention
  /// Of all categories, in the order of the file; names that are missing are empty.
  std::vector<int64_t> category_ids;
  std::vector<std::string> category_names;
};

/// Something that makes the whole file useless: an entry of a list lacks a key.
struct CocoMissing {
  std::string list, key;
  int64_t entry;
};

/// Reads a file; throws JsonFault or CocoMissing.
CocoAnnotations parse_coco(std::string_view text, const CocoOptions& options);

/// Run lengths from their compressed form; nothing if it is damaged.
std::optional<std::vector<uint32_t>> decode_runs(std::string_view text);

}  // namespace daliesque::records
