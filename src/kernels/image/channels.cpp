// SPDX-License-Identifier: Apache-2.0
#include "image/channels.h"

#include <cstring>

#include "core/parallel.h"

namespace daliesque::image {

namespace {

constexpr double kChannelNanosecondsPerByte = 0.5;

template <class Word>
void reorder(Word* out, const Word* in, int64_t pixels, int64_t channels, const int32_t* order) {
  if (channels == 3) {
    const int32_t a = order[0], b = order[1], c = order[2];
    for (int64_t k = 0; k < pixels; k++, out += 3, in += 3) {
      out[0] = in[a];
      out[1] = in[b];
      out[2] = in[c];
    }
    return;
  }
  for (int64_t k = 0; k < pixels; k++, out += channels, in += channels) {
    for (int64_t c = 0; c < channels; c++) out[c] = in[order[c]];
  }
}

}  // namespace

void reorder_channels(Samples& out, const Samples& in, PerSample<int32_t> order) {
  const auto last = static_cast<size_t>(in.ndim()) - 1;
  parallel_for(
      in.size(),
      [&](int64_t i) {
        return static_cast<double>(in.volume(i)) * static_cast<double>(in.itemsize()) *
               kChannelNanosecondsPerByte;
      },
      [&](int64_t i) {
        if (in.volume(i) == 0) return;
        const int64_t channels = in.shape(i)[last], pixels = in.volume(i) / channels;
        const auto run = [&]<class Word>(Word) {
          reorder(out.data<Word>(i), in.data<const Word>(i), pixels, channels, order.row(i));
        };
        switch (in.itemsize()) {
          case 1:
            return run(uint8_t{});
          case 2:
            return run(uint16_t{});
          case 4:
            return run(uint32_t{});
          default:
            return run(uint64_t{});
        }
      });
}

}  // namespace daliesque::image
