// SPDX-License-Identifier: Apache-2.0
// A window of an array that lies in a file.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace daliesque::files {

/// A part of an array in C order: it begins at `anchors`, has the shape `extents`, and does not
/// leave the array.
struct NpyWindow {
  std::vector<int64_t> shape, anchors, extents;
  int64_t itemsize = 1;

  bool whole() const { return shape == extents; }

  int64_t nbytes() const {
    int64_t bytes = itemsize;
    for (const int64_t extent : extents) bytes *= extent;
    return bytes;
  }
};

/// How a window lies in memory: runs of bytes, which the axes before `outer` repeat.
struct NpyRuns {
  explicit NpyRuns(const NpyWindow& window);

  size_t outer;                  ///< number of axes that step from run to run
  int64_t bytes;                 ///< of a run
  int64_t begin = 0;             ///< where the first run is
  std::vector<int64_t> strides;  ///< of all axes, in bytes
};

inline NpyRuns::NpyRuns(const NpyWindow& window)
    : outer(window.shape.size()), bytes(window.itemsize), strides(window.shape.size()) {
  int64_t stride = window.itemsize;
  for (size_t axis = window.shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    begin += stride * window.anchors[axis];
    stride *= window.shape[axis];
  }
  while (outer > 0) {
    outer--;
    bytes *= window.extents[outer];
    if (window.extents[outer] != window.shape[outer]) break;
  }
}

namespace npy_detail {

/// Calls body(offset) for each offset that the axes [first, last) lead to.
template <class Body>
void for_each_offset(const NpyWindow& window, const NpyRuns& runs, size_t first, size_t last,
                     Body&& body) {
  std::vector<int64_t> index(last, 0);
  int64_t offset = 0;
  while (true) {
    if (!body(offset)) return;
    size_t axis = last;
    while (axis > first) {
      axis--;
      offset += runs.strides[axis];
      if (++index[axis] < window.extents[axis]) break;
      offset -= runs.strides[axis] * window.extents[axis];
      index[axis] = 0;
      if (axis == first) return;
    }
    if (first == last) return;
  }
}

}  // namespace npy_detail

/// Fills `out` with a window. `read(to, count, offset)` reads bytes of the array and returns 0, or
/// a code which ends the reading and is returned.
///
/// Runs with little between them are read together: that costs less than another call.
template <class Read>
int read_window(char* out, const NpyWindow& window, Read&& read) {
  constexpr int64_t kMostGap = int64_t{1} << 13, kMostSpan = int64_t{1} << 22;
  if (window.nbytes() == 0) return 0;
  const NpyRuns runs(window);
  size_t outer = runs.outer;
  int64_t span = runs.bytes;
  while (outer > 0) {
    const int64_t stride = runs.strides[outer - 1];
    const int64_t longer = (window.extents[outer - 1] - 1) * stride + span;
    if (stride - span > kMostGap || longer > kMostSpan) break;
    span = longer;
    outer--;
  }
  std::vector<char> together(outer < runs.outer ? static_cast<size_t>(span) : 0);
  int code = 0;
  npy_detail::for_each_offset(window, runs, 0, outer, [&](int64_t base) {
    char* to = together.empty() ? out : together.data();
    code = read(to, span, runs.begin + base);
    if (code != 0) return false;
    if (together.empty()) {
      out += span;
      return true;
    }
    npy_detail::for_each_offset(window, runs, outer, runs.outer, [&](int64_t offset) {
      std::memcpy(out, together.data() + offset, static_cast<size_t>(runs.bytes));
      out += runs.bytes;
      return true;
    });
    return true;
  });
  return code;
}

/// The reverse: puts the elements of `in` into the window of the array `out`.
inline void put_window(char* out, const NpyWindow& window, const char* in) {
  if (window.nbytes() == 0) return;
  const NpyRuns runs(window);
  npy_detail::for_each_offset(window, runs, 0, runs.outer, [&](int64_t offset) {
    std::memcpy(out + runs.begin + offset, in, static_cast<size_t>(runs.bytes));
    in += runs.bytes;
    return true;
  });
}

}  // namespace daliesque::files
