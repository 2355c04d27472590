// SPDX-License-Identifier: Apache-2.0
#include "byte_source.h"

#include <algorithm>

namespace daliesque {

namespace {

// Windows begin small, because the next piece may be far away, and grow while it is not.
constexpr int64_t kLeastWindow = 1 << 12, kLargestWindow = 1 << 18;

class LocalFile : public ByteSource {
 public:
  explicit LocalFile(const std::string& path) {
    file_.open(path);
    if (file_.code() != 0) throw ReadFailure(file_.code());
  }

  int64_t size() const override { return file_.size(); }

  void read_at(int64_t offset, int64_t size, char* out) const override {
    const int code = file_.read_at(out, size, offset);
    if (code != 0) throw ReadFailure(code);
  }

 private:
  OpenFile file_;
};

}  // namespace

SourceHandle open_file(const std::string& path) { return std::make_shared<LocalFile>(path); }

const uint8_t* SourceWindow::at(int64_t offset, int64_t size) {
  if (offset < begin_ || offset + size > end_) {
    const bool near = offset >= begin_ && offset <= end_ + kLeastWindow;
    wanted_ = near ? std::min(2 * wanted_, kLargestWindow) : kLeastWindow;
    wanted_ = std::max(wanted_, kLeastWindow);
    const int64_t length = std::min(std::max(wanted_, size), source_.size() - offset);
    if (length < size) throw ReadFailure(kEndsEarly);
    if (length > capacity_) {
      capacity_ = length;
      data_ = std::make_unique<char[]>(static_cast<size_t>(length));
    }
    begin_ = end_ = offset;
    source_.read_at(offset, length, data_.get());
    end_ = offset + length;
  }
  return reinterpret_cast<const uint8_t*>(data_.get() + (offset - begin_));
}

}  // namespace daliesque
