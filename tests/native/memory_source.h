// SPDX-License-Identifier: Apache-2.0
// Files for tests of what reads them.
#pragma once

#include <cstring>
#include <memory>
#include <string>

#include "check.h"
#include "files/byte_source.h"

namespace daliesque::testing {

/// A file in memory.
class MemorySource : public files::ByteSource {
 public:
  explicit MemorySource(const std::string& bytes)
      : size_(static_cast<int64_t>(bytes.size())), data_(new char[bytes.size()]) {
    std::memcpy(data_.get(), bytes.data(), bytes.size());
  }
  int64_t size() const override { return size_; }
  void read_at(int64_t offset, int64_t size, char* out) const override {
    check(offset >= 0 && size >= 0 && offset <= size_ - size, "nobody reads beyond the end");
    std::memcpy(out, data_.get() + offset, static_cast<size_t>(size));
  }

 private:
  int64_t size_;
  std::unique_ptr<char[]> data_;
};

}  // namespace daliesque::testing
