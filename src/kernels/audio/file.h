// SPDX-License-Identifier: Apache-2.0
// Encoded audio: WAV files of plain samples, FLAC and Ogg Vorbis files by native decoders,
// everything else through libsndfile, where it is installed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/samples.h"
#include "files/open_file.h"

namespace daliesque::audio {

/// Encoded bytes in memory or in an open file.
class AudioBytes {
 public:
  AudioBytes(const void* data, int64_t size) : data_(static_cast<const char*>(data)), size_(size) {}
  explicit AudioBytes(const files::OpenFile& file) : file_(&file), size_(file.size()) {}

  int64_t size() const { return size_; }
  /// All bytes, if they are in memory.
  const void* memory() const { return data_; }
  /// Copies up to `count` bytes from `offset` on and returns how many there were.
  int64_t read(void* out, int64_t count, int64_t offset) const;

 private:
  const char* data_ = nullptr;
  const files::OpenFile* file_ = nullptr;
  int64_t size_;
};

/// An opened audio file. Frames hold one value for each channel.
class AudioFile {
 public:
  virtual ~AudioFile() = default;

  int64_t frames = 0;
  int64_t channels = 0, rate = 0;
  /// About how many nanoseconds it takes to decode a value.
  double value_cost = 6;

  /// Reads frames [first, first + count) and returns how many could be read. Integers are scaled:
  /// the range of each integer type stands for -1 to 1.
  virtual int64_t read(float* out, int64_t first, int64_t count) = 0;
  virtual int64_t read(int16_t* out, int64_t first, int64_t count) = 0;
  virtual int64_t read(int32_t* out, int64_t first, int64_t count) = 0;
};

/// The functions of libsndfile, as addresses.
struct SndfileFunctions {
  uintptr_t open_virtual, close, seek, readf_float, readf_short, readf_int;
};

/// Opens a WAV file of plain integers or floating-point numbers; null if it is anything else.
std::unique_ptr<AudioFile> open_wav(const AudioBytes& source);

/// Opens a FLAC file of 8, 16 or 24 bits that says how long it is; null if it is anything else.
/// `source` must stay.
std::unique_ptr<AudioFile> open_flac(const AudioBytes& source);

/// Opens an Ogg file of a Vorbis stream; null if it is anything else, or there is something unusual
/// about it. `source` must stay, and `library`, which may be null; that reads what is found to be
/// damaged.
std::unique_ptr<AudioFile> open_vorbis(const AudioBytes& source, const SndfileFunctions* library);

/// Opens a file of any kind that libsndfile knows; null if it cannot. `source` must stay.
std::unique_ptr<AudioFile> open_sndfile(const SndfileFunctions& library, const AudioBytes& source);

/// Audio files, opened together and decoded together. The bytes must stay where they are.
class AudioFiles {
 public:
  /// Audio in memory: one-dimensional samples of bytes. `library` may be null.
  AudioFiles(const Samples& encoded, const SndfileFunctions* library);
  /// Audio in files.
  AudioFiles(const std::vector<std::string>& paths, const SndfileFunctions* library);
  AudioFiles(const AudioFiles&) = delete;
  AudioFiles& operator=(const AudioFiles&) = delete;

  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  /// Null if the audio could not be opened; `file_code` then says whether that is because of the
  /// file (an errno code or one of open_file.h).
  const AudioFile* file(int64_t i) const { return entries_[static_cast<size_t>(i)]->audio.get(); }
  int file_code(int64_t i) const { return entries_[static_cast<size_t>(i)]->file.code(); }

  struct Task {
    int64_t file, first, count;  ///< frames [first, first + count)
  };
  /// Decodes into int16, int32 or float32 samples, one for each task; if they have one axis, the
  /// channels are mixed. Returns how many frames of each could be decoded.
  std::vector<int64_t> decode(Samples& out, const std::vector<Task>& tasks) const;

 private:
  struct Entry {
    files::OpenFile file;
    std::unique_ptr<AudioBytes> source;
    std::unique_ptr<AudioFile> audio;
  };

  void open();

  Samples encoded_;
  std::optional<SndfileFunctions> library_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace daliesque::audio
