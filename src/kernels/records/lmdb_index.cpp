// SPDX-License-Identifier: Apache-2.0
#include "records/lmdb_index.h"

#include "records/protobuf.h"

namespace daliesque::records {

namespace {

using protobuf::little_endian;

// The format, as lmdb.h and the beginning of mdb.c describe it for 64-bit machines.
constexpr int64_t kPageHeader = 16, kMetaSize = 136, kNodeHeader = 8;
constexpr uint32_t kLmdbMagic = 0xbeefc0de, kLmdbVersion = 1;
constexpr uint64_t kBranch = 1, kLeaf = 2;
constexpr uint64_t kBigData = 1, kSubDatabase = 2, kDuplicates = 4;
constexpr uint64_t kNoPage = ~uint64_t{0};
constexpr int64_t kSmallestPage = 256, kLargestPage = 1 << 16;
// Deeper trees do not exist.
constexpr size_t kMostLevels = 64;

struct Damage {
  LmdbFault fault;
  int64_t page;
};

/// What one of the two descriptions at the beginning of the file says.
struct Meta {
  int64_t page_size = 0;
  uint64_t flags = 0, root = kNoPage, transaction = 0;
};

class Walk {
 public:
  Walk(const files::ByteSource& source, LmdbIndex& index)
      : source_(source), window_(source), index_(index) {}

  void run() {
    const Meta meta = newest_meta();
    page_size_ = meta.page_size;
    if (meta.flags & kDuplicates) throw Damage{LmdbFault::unsupported, 0};
    if (meta.root != kNoPage) visit(meta.root, 0);
  }

 private:
  Meta newest_meta() {
    Meta newest = read_meta(0);
    if (newest.page_size == 0) throw Damage{LmdbFault::no_database, 0};
    const Meta other = read_meta(newest.page_size);
    return other.page_size != 0 && other.transaction > newest.transaction ? other : newest;
  }

  Meta read_meta(int64_t offset) {
    if (offset + kPageHeader + kMetaSize > source_.size()) return {};
    const uint8_t* data = window_.at(offset + kPageHeader, kMetaSize);
    Meta meta;
    meta.page_size = static_cast<int64_t>(little_endian(data + 24, 4));
    const bool known =
        little_endian(data, 4) == kLmdbMagic && little_endian(data + 4, 4) == kLmdbVersion;
    const bool possible = meta.page_size >= kSmallestPage && meta.page_size <= kLargestPage;
    if (!known || !possible) return {};
    meta.flags = little_endian(data + 72 + 4, 2);
    meta.root = little_endian(data + 72 + 40, 8);
    meta.transaction = little_endian(data + 128, 8);
    return meta;
  }

  void visit(uint64_t number, size_t level) {
    const auto page = static_cast<int64_t>(number);
    // A page that is visited twice would make the walk endless.
    if (level >= kMostLevels || number >= static_cast<uint64_t>(source_.size() / page_size_) ||
        ++visited_ > source_.size() / page_size_) {
      throw Damage{LmdbFault::damaged, page};
    }
    const auto* data = reinterpret_cast<const char*>(window_.at(page * page_size_, page_size_));
    const std::string copy(data, static_cast<size_t>(page_size_));
    const auto* bytes = reinterpret_cast<const uint8_t*>(copy.data());
    const uint64_t flags = little_endian(bytes + 10, 2);
    const auto lower = static_cast<int64_t>(little_endian(bytes + 12, 2));
    if (lower < kPageHeader || lower > page_size_) throw Damage{LmdbFault::damaged, page};
    for (int64_t at = kPageHeader; at + 2 <= lower; at += 2) {
      const auto node = static_cast<int64_t>(little_endian(bytes + at, 2));
      if (node < kPageHeader || node + kNodeHeader > page_size_) {
        throw Damage{LmdbFault::damaged, page};
      }
      const uint8_t* header = bytes + node;
      if (flags & kBranch) {
        visit(little_endian(header, 6), level + 1);
      } else if (flags & kLeaf) {
        add_entry(header, node, page);
      } else {
        throw Damage{LmdbFault::damaged, page};
      }
    }
  }

  void add_entry(const uint8_t* header, int64_t node, int64_t page) {
    auto size = static_cast<int64_t>(little_endian(header, 4));
    const uint64_t flags = little_endian(header + 4, 2);
    const auto key_size = static_cast<int64_t>(little_endian(header + 6, 2));
    if (flags & (kSubDatabase | kDuplicates)) throw Damage{LmdbFault::unsupported, page};
    const int64_t begin = node + kNodeHeader + key_size;
    const int64_t stored = flags & kBigData ? 8 : size;
    if (begin + stored > page_size_) throw Damage{LmdbFault::damaged, page};
    int64_t offset = page * page_size_ + begin;
    if (flags & kBigData) {
      const uint64_t number = little_endian(header + kNodeHeader + key_size, 8);
      if (number >= static_cast<uint64_t>(source_.size() / page_size_)) {
        throw Damage{LmdbFault::damaged, page};
      }
      offset = static_cast<int64_t>(number) * page_size_ + kPageHeader;
    }
    index_.offsets.push_back(offset);
    index_.sizes.push_back(size);
    index_.keys.append(reinterpret_cast<const char*>(header + kNodeHeader),
                       static_cast<size_t>(key_size));
    index_.key_ends.push_back(static_cast<int64_t>(index_.keys.size()));
  }

  const files::ByteSource& source_;
  files::SourceWindow window_;
  LmdbIndex& index_;
  int64_t page_size_ = 0, visited_ = 0;
};

}  // namespace

LmdbIndex index_lmdb(const files::ByteSource& source) {
  LmdbIndex index;
  try {
    Walk(source, index).run();
  } catch (const Damage& damage) {
    index.fault = damage.fault;
    index.fault_page = damage.page;
  }
  return index;
}

}  // namespace daliesque::records
