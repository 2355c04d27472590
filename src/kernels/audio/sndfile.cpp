// SPDX-License-Identifier: Apache-2.0
// Audio through libsndfile, whose functions come as addresses: its binary interface has not
// changed since version 1.0.18 (http://www.mega-nerd.com/libsndfile/api.html).
#include "audio/file.h"
#include "core/saturate.h"

namespace daliesque::audio {

namespace {

struct Info {
  int64_t frames;
  int samplerate, channels, format, sections, seekable;
};

struct VirtualIo {
  int64_t (*get_filelen)(void*);
  int64_t (*seek)(int64_t, int, void*);
  int64_t (*read)(void*, int64_t, void*);
  int64_t (*write)(const void*, int64_t, void*);
  int64_t (*get_offset)(void*);
};

constexpr int kReadMode = 0x10, kSubtypeMask = 0xffff;
// Floating-point samples; Vorbis, Opus and MPEG, whose decoders make such.
constexpr int kFloatingSubtypes[] = {6, 7, 0x60, 0x64, 0x80, 0x81, 0x82};
constexpr int kFromBegin = 0, kFromHere = 1, kFromEnd = 2;
// A length that a header can claim but no file has.
constexpr int64_t kMostFrames = int64_t{1} << 40;

template <class Function>
Function* as_function(uintptr_t address) {
  return reinterpret_cast<Function*>(address);
}

class SndFile : public AudioFile {
 public:
  SndFile(const SndfileFunctions& library, const AudioBytes& source)
      : library_(library), source_(source) {}

  ~SndFile() override {
    if (handle_) as_function<int(void*)>(library_.close)(handle_);
  }

  bool open() {
    static const VirtualIo io = {get_length, seek_to, read_bytes, nullptr, get_offset};
    Info info{};
    using Open = void*(const VirtualIo*, int, Info*, void*);
    handle_ = as_function<Open>(library_.open_virtual)(&io, kReadMode, &info, this);
    if (!handle_) return false;
    frames = info.frames;
    channels = info.channels;
    rate = info.samplerate;
    for (const int subtype : kFloatingSubtypes) {
      floating_ |= (info.format & kSubtypeMask) == subtype;
    }
    return frames >= 0 && frames < kMostFrames && channels > 0 && rate > 0;
  }

  int64_t read(float* out, int64_t first, int64_t count) override {
    return read_with(library_.readf_float, out, first, count);
  }
  int64_t read(int16_t* out, int64_t first, int64_t count) override {
    return floating_ ? read_scaled(out, first, count)
                     : read_with(library_.readf_short, out, first, count);
  }
  int64_t read(int32_t* out, int64_t first, int64_t count) override {
    return floating_ ? read_scaled(out, first, count)
                     : read_with(library_.readf_int, out, first, count);
  }

 private:
  template <class T>
  int64_t read_with(uintptr_t function, T* out, int64_t first, int64_t count) {
    if (first != next_) {
      using Seek = int64_t(void*, int64_t, int);
      if (as_function<Seek>(library_.seek)(handle_, first, kFromBegin) != first) return 0;
    }
    using Read = int64_t(void*, T*, int64_t);
    const int64_t got = as_function<Read>(function)(handle_, out, count);
    next_ = first + got;
    return got;
  }

  /// libsndfile would round floating-point numbers to integers without scaling them, and let those
  /// of decoders wrap around that leave the range.
  template <class T>
  int64_t read_scaled(T* out, int64_t first, int64_t count) {
    constexpr int64_t kFrames = 1024;
    constexpr auto kScale = static_cast<float>(std::numeric_limits<T>::max());
    std::vector<float> values(static_cast<size_t>(kFrames * channels));
    int64_t done = 0;
    while (done < count) {
      const int64_t wanted = std::min(kFrames, count - done);
      const int64_t got = read(values.data(), first + done, wanted);
      for (int64_t j = 0; j < got * channels; j++) {
        out[done * channels + j] = saturate<T>(values[static_cast<size_t>(j)] * kScale);
      }
      done += got;
      if (got < wanted) break;
    }
    return done;
  }

  static int64_t get_length(void* self) { return static_cast<SndFile*>(self)->source_.size(); }
  static int64_t get_offset(void* self) { return static_cast<SndFile*>(self)->offset_; }

  static int64_t seek_to(int64_t offset, int whence, void* self) {
    auto* file = static_cast<SndFile*>(self);
    if (whence == kFromHere) offset += file->offset_;
    if (whence == kFromEnd) offset += file->source_.size();
    if (offset < 0 || offset > file->source_.size()) return -1;
    return file->offset_ = offset;
  }

  static int64_t read_bytes(void* out, int64_t count, void* self) {
    auto* file = static_cast<SndFile*>(self);
    const int64_t got = file->source_.read(out, count, file->offset_);
    file->offset_ += got;
    return got;
  }

  const SndfileFunctions library_;
  const AudioBytes& source_;
  void* handle_ = nullptr;
  int64_t offset_ = 0;  ///< in bytes
  int64_t next_ = 0;    ///< in frames
  bool floating_ = false;
};

}  // namespace

std::unique_ptr<AudioFile> open_sndfile(const SndfileFunctions& library, const AudioBytes& source) {
  auto file = std::make_unique<SndFile>(library, source);
  if (!file->open()) return nullptr;
  return file;
}

}  // namespace daliesque::audio
