// SPDX-License-Identifier: Apache-2.0
// A record of what every thread did, as a file in the format of Chrome's tracing, which Perfetto
// reads as well: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
//
// Events wait in a buffer of limited size until a thread has written them. If they come faster than
// they can be written, some are left out, and counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace daliesque {

/// Something that a thread, or a device, did. Times are those of clock_now().
struct TraceEvent {
  enum class Kind : uint8_t { call, run, loop, file, wait, read, device };
  /// How the event takes part in the flow from a call to its execution to whoever reads the result.
  enum class Flow : uint8_t { none, begins, goes_on, ends };

  Kind kind;
  int64_t begin, end;
  std::string_view name;              // as long as the process lives
  const std::string* site = nullptr;  // the line of the user's program
  int64_t samples = -1, bytes = -1;   // -1: not known
  uint64_t flow = 0;                  // the number of the call
  Flow part = Flow::none;
  uint32_t row = 0;  // 0: the row of the thread
};

extern std::atomic<bool> trace_is_on;
inline bool tracing() { return trace_is_on.load(std::memory_order_relaxed); }

/// Notes an event; of the calling thread, unless it has a row. If there is no memory for it, it is
/// left out.
void trace(const TraceEvent& event) noexcept;

/// A text that lives as long as the process, the same for equal texts.
const std::string* trace_name(std::string_view text);
/// A number for a call that nothing else has.
uint64_t trace_number();
/// A row for what is no thread.
uint32_t trace_row(std::string_view title);

struct TraceSummary {
  int64_t events, dropped;
  int error;  // errno of the first write that failed
};

/// How many events of the trace in progress are written.
int64_t traced_events();

/// Begins to write a file. Returns 0, or errno. There is one trace at a time: EBUSY.
int begin_trace(const std::string& path, int64_t capacity);
/// Writes what is left, and the end of the file.
TraceSummary end_trace();

}  // namespace daliesque
