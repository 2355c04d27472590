// SPDX-License-Identifier: Apache-2.0
#include "boxes/polygons.h"

#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

namespace daliesque::boxes {

namespace {

struct Range {
  int32_t begin, end;
};

/// The vertices of each chosen mask; returns what is wrong, or an empty text.
std::string find_ranges(std::vector<Range>& ranges, const Samples& masks, const Samples& polygons,
                        int64_t vertices, int64_t i) {
  std::unordered_map<int32_t, Range> known;
  const auto* row = polygons.data<const int32_t>(i);
  for (int64_t k = 0; k < polygons.shape(i)[0]; k++, row += 3) known[row[0]] = {row[1], row[2]};
  std::unordered_map<int32_t, bool> used;
  for (int64_t k = 0; k < masks.shape(i)[0]; k++) {
    const int32_t mask = masks.data<const int32_t>(i)[k];
    const std::string name = "mask " + std::to_string(mask);
    if (std::exchange(used[mask], true)) return "selects " + name + " more than once";
    const auto found = known.find(mask);
    if (found == known.end()) return "has no " + name;
    const auto [begin, end] = found->second;
    if (begin < 0 || begin > end || end > vertices) {
      return "has a " + name + " of the vertices " + std::to_string(begin) + " to " +
             std::to_string(end) + "; there are " + std::to_string(vertices);
    }
    ranges.push_back({begin, end});
  }
  return "";
}

}  // namespace

SelectedPolygons select_polygons(const Samples& masks, const Samples& polygons,
                                 const Samples& vertices, bool renumber) {
  SelectedPolygons out;
  std::vector<std::vector<Range>> ranges(static_cast<size_t>(masks.size()));
  std::vector<int64_t> polygon_shapes, vertex_shapes;
  for (int64_t i = 0; i < masks.size(); i++) {
    std::vector<Range>& chosen = ranges[static_cast<size_t>(i)];
    out.reason = find_ranges(chosen, masks, polygons, vertices.shape(i)[0], i);
    if (!out.reason.empty()) {
      out.failed = i;
      return out;
    }
    int64_t rows = 0;
    for (const Range& range : chosen) rows += range.end - range.begin;
    polygon_shapes.insert(polygon_shapes.end(), {static_cast<int64_t>(chosen.size()), 3});
    vertex_shapes.insert(vertex_shapes.end(), {rows, vertices.shape(i)[1]});
  }
  out.polygons = Samples::empty(DType::int32, 2, polygon_shapes, "", masks.size());
  out.vertices = Samples::empty(vertices.dtype(), 2, vertex_shapes, "", masks.size());
  for (int64_t i = 0; i < masks.size(); i++) {
    auto* row = out.polygons.data<int32_t>(i);
    auto* to = out.vertices.data<std::byte>(i);
    const size_t bytes = static_cast<size_t>(vertices.shape(i)[1]) * vertices.itemsize();
    int32_t begin = 0, number = 0;
    for (const Range& range : ranges[static_cast<size_t>(i)]) {
      const int32_t count = range.end - range.begin;
      const size_t length = static_cast<size_t>(count) * bytes;
      *row++ = renumber ? number : masks.data<const int32_t>(i)[number];
      *row++ = begin;
      *row++ = begin + count;
      if (length) {
        const auto* from = vertices.data<const std::byte>(i);
        std::memcpy(to, from + static_cast<size_t>(range.begin) * bytes, length);
      }
      to += length;
      begin += count;
      number++;
    }
  }
  return out;
}

}  // namespace daliesque::boxes
