// SPDX-License-Identifier: Apache-2.0
#include "tensor/lookup.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/parallel.h"
#include "core/simd.h"
#include "core/stream.h"

namespace daliesque::tensor {

#define DALIESQUE_LOOKUP_LOOPS                                                          \
  void look_up_bytes(uint8_t* out, const uint8_t* in, int64_t pixels, int64_t channels, \
                     const uint8_t (*tables)[256], bool streamed);

namespace portable {
DALIESQUE_LOOKUP_LOOPS
}
namespace avx2 {
DALIESQUE_LOOKUP_LOOPS
}
namespace avx512 {
DALIESQUE_LOOKUP_LOOPS
}

#undef DALIESQUE_LOOKUP_LOOPS

void look_up_bytes(uint8_t* out, const uint8_t* in, int64_t pixels, int64_t channels,
                   const ByteTable* tables, bool streamed) {
  const auto* values = reinterpret_cast<const uint8_t (*)[256]>(tables);
  DALIESQUE_CHOOSE_512(look_up_bytes(out, in, pixels, channels, values, streamed));
}

namespace {

// Pieces start on whole cache lines of the output for every element type.
constexpr int64_t kUnit = 64;
constexpr double kNanosecondsPerElement = 0.5;

/// Looks up elements of type In; a Word holds the bits of an output element.
template <class Word, class In>
class Table {
 public:
  Table(const Samples& table, const Samples& otherwise)
      : values_(table.data<const Word>(0)),
        size_(static_cast<uint64_t>(table.volume(0))),
        otherwise_(*otherwise.data<const Word>(0)) {
    if constexpr (sizeof(In) == 1) {
      for (size_t byte = 0; byte < 256; byte++) bytes_[byte] = find(static_cast<In>(byte));
    }
  }

  void run(Word* out, const In* in, int64_t count, bool streamed) const {
    if constexpr (sizeof(Word) == 1 && sizeof(In) == 1) {
      look_up_bytes(out, reinterpret_cast<const uint8_t*>(in), count, 1, &bytes_, streamed);
    } else if (streamed) {
      run_streamed(out, in, count);
    } else if constexpr (sizeof(In) == 1) {
      for (int64_t k = 0; k < count; k++) out[k] = bytes_[static_cast<uint8_t>(in[k])];
    } else {
      for (int64_t k = 0; k < count; k++) out[k] = find(in[k]);
    }
  }

 private:
  void run_streamed(Word* out, const In* in, int64_t count) const {
    constexpr int64_t kBlock = 2048;
    alignas(64) Word block[kBlock];
    for (int64_t at = 0; at < count; at += kBlock) {
      const int64_t length = std::min(kBlock, count - at);
      run(block, in + at, length, false);
      stream_copy(out + at, block, static_cast<size_t>(length) * sizeof(Word));
    }
  }

  Word find(In key) const {
    // Negative keys become huge.
    const auto index = static_cast<uint64_t>(key);
    return index < size_ ? values_[index] : otherwise_;
  }

  const Word* values_;
  uint64_t size_;
  Word otherwise_;
  std::array<Word, 256> bytes_;  // the value for every byte, if the input has bytes
};

template <class Word, class In>
void look_up_all(Samples& out, const Samples& in, const Samples& table, const Samples& otherwise) {
  const Table<Word, In> values(table, otherwise);
  const bool streamed = exceeds_caches(out, in);
  parallel_slices(
      in.size(), [&](int64_t i) { return (in.volume(i) + kUnit - 1) / kUnit; },
      [&](int64_t) { return kUnit * kNanosecondsPerElement; },
      [&](int64_t i, int64_t begin, int64_t end) {
        begin *= kUnit;
        end = std::min(end * kUnit, in.volume(i));
        Word* to = out.data<Word>(i);
        const In* from = in.data<const In>(i);
        values.run(to + begin, from + begin, end - begin, streamed);
        if (streamed) stream_fence();
      });
}

}  // namespace

void look_up(Samples& out, const Samples& in, const Samples& table, const Samples& otherwise) {
  dispatch(IntegerTypes{}, in.dtype(), [&](auto tag) {
    using In = typename decltype(tag)::type;
    switch (out.itemsize()) {
      case 1:
        return look_up_all<uint8_t, In>(out, in, table, otherwise);
      case 2:
        return look_up_all<uint16_t, In>(out, in, table, otherwise);
      case 4:
        return look_up_all<uint32_t, In>(out, in, table, otherwise);
      default:
        return look_up_all<uint64_t, In>(out, in, table, otherwise);
    }
  });
}

}  // namespace daliesque::tensor
