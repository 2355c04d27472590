// SPDX-License-Identifier: Apache-2.0
#include "core/trace.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/meter.h"

namespace daliesque {

std::atomic<bool> trace_is_on{false};

namespace {

constexpr auto kWriteInterval = std::chrono::milliseconds(50);
// Enough to write at once.
constexpr size_t kManyEvents = 4096, kManyBytes = 1 << 20;

/// Text as JSON has it.
void append_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_number(std::string& out, int64_t number) {
  char text[24];
  const int size = std::snprintf(text, sizeof text, "%lld", static_cast<long long>(number));
  out.append(text, static_cast<size_t>(size));
}

/// Nanoseconds as microseconds, which the format wants; negative before the trace began.
void append_time(std::string& out, int64_t nanoseconds) {
  if (nanoseconds < 0) out += '-';
  const auto size = static_cast<unsigned long long>(std::abs(nanoseconds));
  char text[40];
  const int length = std::snprintf(text, sizeof text, "%llu.%03llu", size / 1000, size % 1000);
  out.append(text, static_cast<size_t>(length));
}

constexpr const char* kCategories[] = {"call", "run", "loop", "file", "wait", "read", "device"};
// Where threads of a role stand in the picture, from the top.
constexpr std::pair<const char*, int> kOrder[] = {{"caller", 0},   {"prefetch", 1}, {"capture", 2},
                                                  {"executor", 3}, {"map", 4},      {"pool", 5},
                                                  {"reader", 6},   {"device", 8}};

/// The file and what waits to be written to it.
class Trace {
 public:
  Trace(std::FILE* file, uint64_t number, int64_t capacity)
      : file_(file),
        number_(number),
        capacity_(static_cast<size_t>(capacity)),
        begin_(clock_now()) {
    text_ = "[\n";
    append_head(text_, "process_name", 0);
    text_ += ",\"args\":{\"name\":\"daliesque\"}}";
  }

  void start() {
    writer_ = std::thread([this] { serve(); });
  }

  void add(TraceEvent event) {
    ThreadClock& thread = thread_clock();
    std::lock_guard lock(mutex_);
    if (event.row == 0) {
      if (thread.trace != number_) {
        thread.row = add_row(thread.role ? thread.role : "caller");
        thread.trace = number_;
      }
      event.row = thread.row;
    }
    if (waiting_.size() >= capacity_) {
      dropped_++;
      return;
    }
    waiting_.push_back(event);
    if (waiting_.size() == kManyEvents) wake_.notify_one();
  }

  void drop() noexcept { dropped_++; }

  uint32_t row(const std::string& title) {
    std::lock_guard lock(mutex_);
    const auto found = titled_.find(title);
    return found != titled_.end() ? found->second : titled_[title] = add_row(title);
  }

  int64_t written() const { return written_; }

  TraceSummary finish() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    writer_.join();
    return {written_, dropped_, error_};
  }

 private:
  /// With the mutex held: the number of a new row, whose title is written with the next events.
  uint32_t add_row(const std::string& title) {
    const int number = ++counts_[title];
    int order = 7;
    for (const auto& [name, position] : kOrder) {
      if (title.starts_with(name)) order = position;
    }
    new_rows_.push_back({number > 1 ? title + " " + std::to_string(number) : title, order});
    return static_cast<uint32_t>(++rows_);
  }

  // NOLINTNEXTLINE(bugprone-exception-escape): a mutex that is used properly does not throw.
  void serve() noexcept {
    std::vector<TraceEvent> events;
    std::vector<std::pair<std::string, int>> rows;
    for (bool last = false; !last;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait_for(lock, kWriteInterval,
                       [&] { return stopping_ || waiting_.size() >= kManyEvents; });
        last = stopping_;
        events.swap(waiting_);
        rows.swap(new_rows_);
      }
      try {
        write(rows, events, last);
      } catch (const std::exception&) {
        if (error_ == 0) error_ = ENOMEM;
      }
      events.clear();
      rows.clear();
    }
    if (std::fclose(file_) != 0 && error_ == 0) error_ = errno;
  }

  void write(const std::vector<std::pair<std::string, int>>& rows,
             const std::vector<TraceEvent>& events, bool last) {
    for (const auto& row : rows) append_row(row);
    for (const TraceEvent& event : events) {
      append_event(event);
      if (text_.size() >= kManyBytes) write();
    }
    written_ += static_cast<int64_t>(events.size());
    if (last) text_ += "\n]\n";
    write();
  }

  void write() {
    if (error_ == 0 && std::fwrite(text_.data(), 1, text_.size(), file_) != text_.size()) {
      error_ = errno ? errno : EIO;
    }
    text_.clear();
  }

  void append_head(std::string& out, const char* name, uint32_t row) const {
    out += "{\"ph\":\"M\",\"name\":\"";
    out += name;
    out += "\",\"pid\":";
    append_number(out, ::getpid());
    out += ",\"tid\":";
    append_number(out, row);
  }

  void append_row(const std::pair<std::string, int>& row) {
    titles_++;
    text_ += ",\n";
    append_head(text_, "thread_name", titles_);
    text_ += ",\"args\":{\"name\":";
    append_text(text_, row.first);
    text_ += "}},\n";
    append_head(text_, "thread_sort_index", titles_);
    text_ += ",\"args\":{\"sort_index\":";
    append_number(text_, row.second * 1000 + titles_);
    text_ += "}}";
  }

  void append_position(const TraceEvent& event) {
    text_ += ",\"pid\":";
    append_number(text_, ::getpid());
    text_ += ",\"tid\":";
    append_number(text_, event.row);
    text_ += ",\"ts\":";
    append_time(text_, event.begin - begin_);
  }

  void append_event(const TraceEvent& event) {
    text_ += ",\n{\"ph\":\"X\",\"name\":";
    append_text(text_, event.name);
    text_ += ",\"cat\":\"";
    text_ += kCategories[static_cast<int>(event.kind)];
    text_ += '"';
    append_position(event);
    text_ += ",\"dur\":";
    append_time(text_, event.end - event.begin);
    text_ += ",\"args\":{";
    const char* separator = "";
    for (const auto& [name, number] :
         {std::pair{"samples", event.samples}, std::pair{"bytes", event.bytes},
          std::pair{"call", static_cast<int64_t>(event.flow)}}) {
      if (number < (name[0] == 'c' ? 1 : 0)) continue;
      text_ += separator;
      text_ += '"';
      text_ += name;
      text_ += "\":";
      append_number(text_, number);
      separator = ",";
    }
    if (event.site) {
      text_ += separator;
      text_ += "\"site\":";
      append_text(text_, *event.site);
    }
    text_ += "}}";
    if (event.flow != 0 && event.part != TraceEvent::Flow::none) append_flow(event);
  }

  void append_flow(const TraceEvent& event) {
    const bool ends = event.part == TraceEvent::Flow::ends;
    text_ += ",\n{\"ph\":\"";
    text_ += event.part == TraceEvent::Flow::begins ? 's' : ends ? 'f' : 't';
    text_ += "\",\"name\":\"call\",\"cat\":\"flow\",\"id\":";
    append_number(text_, static_cast<int64_t>(event.flow));
    append_position(event);
    if (ends) text_ += ",\"bp\":\"e\"";
    text_ += '}';
  }

  std::FILE* file_;
  uint64_t number_;
  size_t capacity_;
  int64_t begin_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<TraceEvent> waiting_;
  std::vector<std::pair<std::string, int>> new_rows_;
  std::map<std::string, int> counts_;
  std::map<std::string, uint32_t> titled_;
  bool stopping_ = false;
  int64_t rows_ = 0;
  std::atomic<int64_t> written_{0}, dropped_{0};
  uint32_t titles_ = 0;
  int error_ = 0;
  std::string text_;
  std::thread writer_;
};

/// The trace in progress. Threads that are about to note an event keep it alive.
struct TraceSlot {
  std::mutex mutex;
  std::shared_ptr<Trace> trace;
  std::set<std::string, std::less<>> names;
  uint64_t traces = 0;
};

/// Never destroyed: threads may still run at exit.
TraceSlot& trace_slot() {
  static auto* slot = [] {
    auto* made = new TraceSlot;
    // The thread that writes stays in the parent, and so does the trace.
    pthread_atfork([] { trace_slot().mutex.lock(); }, [] { trace_slot().mutex.unlock(); },
                   [] {
                     new std::shared_ptr<Trace>(std::move(trace_slot().trace));
                     trace_is_on = false;
                     trace_slot().mutex.unlock();
                   });
    return made;
  }();
  return *slot;
}

std::shared_ptr<Trace> current_trace() {
  std::lock_guard lock(trace_slot().mutex);
  return trace_slot().trace;
}

std::atomic<uint64_t> last_number{0};

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): a mutex that is used properly does not throw.
void trace(const TraceEvent& event) noexcept {
  const auto current = current_trace();
  if (!current) return;
  try {
    current->add(event);
  } catch (const std::exception&) {
    current->drop();
  }
}

const std::string* trace_name(std::string_view text) {
  std::lock_guard lock(trace_slot().mutex);
  auto& names = trace_slot().names;
  const auto found = names.find(text);
  return &*(found != names.end() ? found : names.emplace(text).first);
}

uint64_t trace_number() { return ++last_number; }

uint32_t trace_row(std::string_view title) {
  const auto current = current_trace();
  return current ? current->row(std::string(title)) : 0;
}

int64_t traced_events() {
  const auto current = current_trace();
  return current ? current->written() : 0;
}

int begin_trace(const std::string& path, int64_t capacity) {
  std::lock_guard lock(trace_slot().mutex);
  if (trace_slot().trace) return EBUSY;
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (!file) return errno;
  // A buffer of the system's would be written again by a process that is forked off.
  std::setvbuf(file, nullptr, _IONBF, 0);
  std::shared_ptr<Trace> made;
  try {
    made = std::make_shared<Trace>(file, ++trace_slot().traces, capacity);
    made->start();
  } catch (const std::system_error& error) {
    std::fclose(file);
    return error.code().value();  // there is no thread to be had
  } catch (...) {
    std::fclose(file);
    throw;
  }
  trace_slot().trace = std::move(made);
  trace_is_on = true;
  return 0;
}

TraceSummary end_trace() {
  std::shared_ptr<Trace> ended;
  {
    std::lock_guard lock(trace_slot().mutex);
    trace_is_on = false;
    ended.swap(trace_slot().trace);
  }
  return ended ? ended->finish() : TraceSummary{0, 0, 0};
}

}  // namespace daliesque
