// SPDX-License-Identifier: Apache-2.0
// Vorbis streams in Ogg files.
#include <algorithm>
#include <type_traits>

#include "audio/file.h"
#include "audio/ogg.h"
#include "audio/vorbis_decoder.h"
#include "core/saturate.h"

namespace daliesque::audio {

namespace {

template <class Out>
Out to_scale(float value) {
  if constexpr (std::is_same_v<Out, float>) {
    return value;
  } else {
    return saturate<Out>(value * static_cast<float>(std::numeric_limits<Out>::max()));
  }
}

class VorbisFile : public AudioFile {
 public:
  VorbisFile(const AudioBytes& source, const SndfileFunctions* library)
      : source_(source), library_(library), packets_(source), size_(source.size()) {
    value_cost = 5;
  }

  /// False if this is not a Vorbis stream, or there is something unusual about it.
  bool open() {
    OggPackets::Packet packet;
    if (!packets_.next(packet) || !packets_.at_page_end() || !format_.parse(packet.bytes)) {
      return false;
    }
    if (!packets_.next(packet) || !is_vorbis_comment(packet.bytes)) return false;
    if (!packets_.next(packet) || !packets_.at_page_end()) return false;
    auto setup = vorbis_setup(packet.bytes, format_.channels);
    if (!setup) return false;
    decoder_ = std::make_unique<VorbisDecoder>(format_, std::move(setup));
    begin_ = packets_.page().end();
    channels = format_.channels;
    rate = format_.rate;
    return find_ends();
  }

  int64_t read(float* out, int64_t first, int64_t count) override {
    return read_as(out, first, count);
  }
  int64_t read(int16_t* out, int64_t first, int64_t count) override {
    return read_as(out, first, count);
  }
  int64_t read(int32_t* out, int64_t first, int64_t count) override {
    return read_as(out, first, count);
  }

 private:
  /// What a damaged stream becomes is up to libsndfile, if that is there.
  template <class Out>
  int64_t read_as(Out* out, int64_t first, int64_t count) {
    if (!other_) {
      const int64_t wanted = std::clamp<int64_t>(frames - first, 0, count);
      const int64_t done = read_own(out, first, wanted);
      if (done == wanted || !library_) return done;
      other_ = open_sndfile(*library_, source_);
      if (!other_ || other_->channels != channels) {
        other_.reset();
        return done;
      }
    }
    return other_->read(out, first, count);
  }

  template <class Out>
  int64_t read_own(Out* out, int64_t first, int64_t count) {
    if (first < next_ - held_ || first > next_ + kNear) {
      if (!seek(first)) return 0;
    }
    int64_t done = 0;
    while (done < count) {
      if (first + done >= next_ && !advance(first + done)) return done;
      const int64_t from = first + done - (next_ - held_);
      if (from < 0) return done;
      if (from >= held_) continue;
      const int64_t some = std::min(held_ - from, count - done);
      store(out + done * channels, from, some);
      done += some;
    }
    return done;
  }

  /// Interleaves samples of the block.
  template <class Out>
  void store(Out* out, int64_t from, int64_t count) const {
    const float* first = decoder_->channel(0) + from;
    if (channels == 1) {
      for (int64_t i = 0; i < count; i++) out[i] = to_scale<Out>(first[i]);
    } else if (channels == 2 && std::is_same_v<Out, float>) {
      const float* second = decoder_->channel(1) + from;
      DALIESQUE_CHOOSE(vorbis_loops)
          .make_pairs(reinterpret_cast<float*>(out), first, second, count);
    } else {
      for (int c = 0; c < format_.channels; c++) {
        const float* values = decoder_->channel(c) + from;
        for (int64_t i = 0; i < count; i++) out[i * channels + c] = to_scale<Out>(values[i]);
      }
    }
  }

  /// How far a block takes the stream on after one of another size.
  int64_t duration(int size) const { return last_size_ == 0 ? 0 : (last_size_ + size) / 4; }

  /// Decodes the next packet, unless all that it contributes to is before frame `wanted`; false if
  /// there is none, or it is damaged.
  bool advance(int64_t wanted) {
    OggPackets::Packet packet;
    if (!packets_.next(packet)) return false;
    const int size = decoder_->block_size(packet.bytes);
    if (size == 0) return false;
    next_ += duration(size);
    last_size_ = size;
    held_ = 0;
    if (next_ + duration(format_.block_sizes[1]) <= wanted) {
      decoder_->restart();
    } else {
      held_ = decoder_->decode(packet.bytes);
    }
    if (packet.granule < 0) return true;
    // The last page may say that the stream ends within its last block.
    const int64_t stated = packet.granule - start_;
    return packets_.in_last_page() ? next_ >= stated : next_ == stated;
  }

  bool restart() {
    next_ = held_ = last_size_ = 0;
    decoder_->restart();
    return packets_.go_to(begin_);
  }

  /// Goes to a block that is before a frame, and near it.
  bool seek(int64_t frame) {
    constexpr int64_t kNearBytes = 1 << 15;
    int64_t low = begin_, high = size_;
    while (high - low > kNearBytes) {
      const int64_t middle = low + (high - low) / 2;
      OggPage page;
      // A page follows soon, or the file is damaged.
      const int64_t end = std::min(high, middle + 2 * kMostOggPage);
      if (packets_.find_page(middle, end, page) && page.granule - start_ <= frame) {
        low = page.offset;
      } else {
        high = middle;
      }
    }
    return (low > begin_ && resume(low) && next_ <= frame) || restart();
  }

  /// Goes on after a packet whose position a page states; its block is needed for the next.
  bool resume(int64_t offset) {
    if (!packets_.go_to(offset)) return false;
    OggPackets::Packet packet;
    do {
      if (!packets_.next(packet)) return false;
    } while (packet.granule < 0);
    last_size_ = decoder_->block_size(packet.bytes);
    if (last_size_ == 0) return false;
    decoder_->restart();
    held_ = decoder_->decode(packet.bytes);
    next_ = packet.granule - start_;
    return true;
  }

  /// Finds out where the stream begins and ends. The first page with samples states at which
  /// position it ends, and its packets how many there are.
  bool find_ends() {
    OggPackets::Packet packet;
    int64_t length = 0;
    do {
      if (!packets_.next(packet)) return false;
      const int size = decoder_->block_size(packet.bytes);
      if (size == 0) return false;
      length += duration(size);
      last_size_ = size;
    } while (packet.granule < 0);
    start_ = packet.granule - length;
    if (packets_.page().is_last && start_ < 0) start_ = 0;
    OggPage last;
    if (start_ < 0 || !packets_.find_last_page(last)) return false;
    frames = last.granule - start_;
    return frames >= 0 && frames < kMostFrames && restart();
  }

  // A length that a page can claim but no file has.
  static constexpr int64_t kMostFrames = int64_t{1} << 40;
  // It is not worth while to search for what comes soon.
  static constexpr int64_t kNear = 1 << 16;

  const AudioBytes& source_;
  const SndfileFunctions* library_;
  OggPackets packets_;
  VorbisFormat format_;
  std::unique_ptr<VorbisDecoder> decoder_;
  std::unique_ptr<AudioFile> other_;
  int64_t size_, begin_ = 0;  ///< of the file and of its first page with samples, in bytes
  int64_t start_ = 0;         ///< the position of the first frame
  /// The frame after the block that was decoded last, how many before it there are, and its size.
  int64_t next_ = 0, held_ = 0, last_size_ = 0;
};

}  // namespace

std::unique_ptr<AudioFile> open_vorbis(const AudioBytes& source, const SndfileFunctions* library) {
  auto file = std::make_unique<VorbisFile>(source, library);
  if (!file->open()) return nullptr;
  return file;
}

}  // namespace daliesque::audio
