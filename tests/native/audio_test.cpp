// SPDX-License-Identifier: Apache-2.0
// Reads WAV and FLAC files that are cut off anywhere or damaged, and makes spectra of signals, in
// memory of exactly the right size. Run under a sanitizer.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "audio/file.h"
#include "audio/spectrogram.h"
#include "check.h"
#include "core/simd.h"
#include "mutations.h"

using namespace daliesque;
using namespace daliesque::audio;
using testing::check;
using testing::little;
using testing::Mutator;
using testing::passed;

namespace {

constexpr size_t kHeader = 54;

/// A WAV file with a chunk that nobody knows, and the given bytes of data.
std::string wav(int tag, int bits, int channels, const std::string& data) {
  const auto frame = static_cast<uint64_t>(channels * bits / 8);
  std::string file =
      "RIFF" + little(46 + data.size(), 4) + "WAVEnote" + little(1, 4) + little(0, 2);
  file += "fmt " + little(16, 4) + little(static_cast<uint64_t>(tag), 2);
  file += little(static_cast<uint64_t>(channels), 2) + little(16000, 4) + little(16000 * frame, 4);
  file += little(frame, 2) + little(static_cast<uint64_t>(bits), 2);
  file += "data" + little(data.size(), 4);
  check(file.size() == kHeader, "the header has the expected size");
  return file + data;
}

/// Bits, the highest of each byte first.
class BitWriter {
 public:
  void put(uint64_t value, int count) {
    for (int k = count - 1; k >= 0; k--) {
      if (used_++ % 8 == 0) bytes_ += '\0';
      if (value >> k & 1)
        bytes_.back() = static_cast<char>(bytes_.back() | 0x80 >> (used_ - 1) % 8);
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  size_t used_ = 0;
};

unsigned checksum(const std::string& bytes, int width, unsigned polynomial) {
  unsigned crc = 0;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned>(static_cast<uint8_t>(byte)) << (width - 8);
    for (int bit = 0; bit < 8; bit++) crc = crc << 1 ^ (crc >> (width - 1) & 1 ? polynomial : 0);
    crc &= (1u << width) - 1;
  }
  return crc;
}

/// A frame of 16 samples of 16 bits in one or, as left and difference, two channels.
std::string flac_frame(unsigned number, int channels, const std::string& body) {
  BitWriter head;
  head.put(0xfff8, 16);
  head.put(6, 4);
  head.put(0, 4);
  head.put(channels == 2 ? 8 : 0, 4);
  head.put(4, 3);
  head.put(0, 1);
  head.put(number, 8);
  head.put(15, 8);
  std::string frame = head.bytes();
  frame += static_cast<char>(checksum(frame, 8, 0x07));
  frame += body;
  const unsigned crc = checksum(frame, 16, 0x8005);
  return frame + static_cast<char>(crc >> 8) + static_cast<char>(crc);
}

/// A FLAC file of frames of 16 samples.
std::string flac(int channels, const std::vector<std::string>& frames) {
  BitWriter head;
  head.put(0x664c6143, 32);
  head.put(0x80, 8);
  head.put(34, 24);
  head.put(16, 16);
  head.put(16, 16);
  head.put(0, 48);
  head.put(16000, 20);
  head.put(static_cast<uint64_t>(channels - 1), 3);
  head.put(15, 5);
  head.put(16 * frames.size(), 36);
  for (int k = 0; k < 4; k++) head.put(0, 32);
  std::string file = head.bytes();
  for (const std::string& frame : frames) file += frame;
  return file;
}

/// Sixteen values from `first` on, of which each is `slope` more than the one before.
std::string flac_line(int first, int slope) {
  BitWriter body;
  body.put(10 << 1, 8);  // fixed, of order 2
  body.put(static_cast<uint16_t>(first), 16);
  body.put(static_cast<uint16_t>(first + slope), 16);
  body.put(0, 2 + 4);  // one partition
  body.put(0, 4);
  for (int k = 0; k < 14; k++) body.put(1, 1);
  return body.bytes();
}

void flac_values() {
  const std::string file =
      flac(1, {flac_frame(0, 1, flac_line(-5, 3)), flac_frame(1, 1, flac_line(1000, -7))});
  const std::vector<char> exact(file.begin(), file.end());
  const AudioBytes source(exact.data(), static_cast<int64_t>(exact.size()));
  const auto opened = open_flac(source);
  check(opened && opened->frames == 32 && opened->rate == 16000, "a FLAC file is opened");
  int16_t out[20];
  check(opened->read(out, 12, 20) == 20, "all frames are read");
  check(out[0] == -5 + 36 && out[4] == 1000 && out[19] == 1000 - 15 * 7, "values of two blocks");
  for (size_t size = 0; size < file.size(); size++) {
    const std::vector<char> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    const AudioBytes less(cut.data(), static_cast<int64_t>(size));
    const auto part = open_flac(less);
    check((part != nullptr) == (size >= 42), "a whole header is enough");
    if (part)
      check(part->read(out, 0, 20) == (size + 1 > 42 + (file.size() - 42) / 2 ? 16 : 0),
            "whole blocks are read");
  }
}

/// A file in a block of its exact size.
class Opened {
 public:
  explicit Opened(const std::string& bytes)
      : data_(bytes.begin(), bytes.end()),
        source_(data_.data(), static_cast<int64_t>(data_.size())),
        file_(open_wav(source_)) {}

  AudioFile* file() const { return file_.get(); }

 private:
  std::vector<char> data_;
  AudioBytes source_;
  std::unique_ptr<AudioFile> file_;
};

/// Reads everything that the file claims to have, and some frames beyond.
template <class T>
int64_t read_all(AudioFile& file, int64_t first) {
  const int64_t count = file.frames - first + 3;
  std::vector<T> out(static_cast<size_t>(count * file.channels));
  return file.read(out.data(), first, count);
}

/// Subframes of any bits after a header that is right, so that each kind of them is met.
void flac_frames_of_any_bits() {
  Mutator random(3);
  for (int round = 0; round < 60000; round++) {
    const int channels = 1 + static_cast<int>(random.below(2));
    std::string body = flac_line(3, 4) + flac_line(1, 1);
    if (random.below(3) > 0) {
      for (char& byte : body) byte = static_cast<char>(random.below(256));
      // A kind that exists.
      constexpr int kKinds[] = {0, 2, 16, 18, 20, 22, 24, 64, 66, 78, 126, 25, 65};
      body[0] = static_cast<char>(kKinds[random.below(std::size(kKinds))]);
    }
    body = random.damaged(body);
    std::string file = flac(channels, {flac_frame(0, channels, body)});
    if (random.below(4) == 0) file = random.damaged(file);
    const std::vector<char> exact(file.begin(), file.end());
    const AudioBytes source(exact.data(), static_cast<int64_t>(exact.size()));
    const auto opened = open_flac(source);
    if (!opened || opened->frames > 1000) continue;
    read_all<float>(*opened, 0);
    read_all<int16_t>(*opened, std::min<int64_t>(7, opened->frames));
  }
}

struct Format {
  int tag, bits;
};
constexpr Format kFormats[] = {{1, 8}, {1, 16}, {1, 24}, {1, 32}, {3, 32}, {3, 64}};

void files_cut_off() {
  Mutator random(1);
  for (const Format& format : kFormats) {
    for (int channels = 1; channels <= 3; channels++) {
      const auto frame = static_cast<size_t>(channels * format.bits / 8);
      std::string data(frame * 5, 0);
      for (char& byte : data) byte = static_cast<char>(random.below(256));
      const std::string whole = wav(format.tag, format.bits, channels, data);
      for (size_t size = 0; size <= whole.size(); size++) {
        const Opened opened(whole.substr(0, size));
        AudioFile* file = opened.file();
        check((file != nullptr) == (size >= kHeader), "a whole header is enough");
        if (!file) continue;
        const auto frames = static_cast<int64_t>((size - kHeader) / frame);
        check(file->frames == frames && file->channels == channels, "what is there counts");
        check(read_all<float>(*file, 0) == frames, "frames as float32");
        check(read_all<int16_t>(*file, 0) == frames, "frames as int16");
        check(read_all<int32_t>(*file, frames) == 0, "no frames after the end");
      }
    }
  }
}

void values() {
  const Opened opened(wav(1, 16, 1, little(0x00017fff8000, 6)));
  AudioFile* file = opened.file();
  float out[2];
  check(file && file->rate == 16000 && file->read(out, 1, 2) == 2, "two frames are read");
  check(out[0] == 32767.0f / 32768 && out[1] == 1.0f / 32768, "values of 16 bits");
}

/// Through the loops over batches, with and without mixing channels.
void decode_together(const std::vector<std::string>& files) {
  std::vector<int64_t> sizes;
  for (const std::string& file : files) sizes.push_back(static_cast<int64_t>(file.size()));
  const auto count = static_cast<int64_t>(files.size());
  const Samples encoded = Samples::empty(DType::uint8, 1, sizes, "", count);
  for (int64_t i = 0; i < count; i++) {
    const std::string& file = files[static_cast<size_t>(i)];
    std::copy(file.begin(), file.end(), encoded.data<char>(i));
  }
  const AudioFiles opened(encoded, nullptr);
  std::vector<AudioFiles::Task> tasks;
  std::vector<int64_t> mixed, apart;
  for (int64_t i = 0; i < count; i++) {
    const AudioFile* file = opened.file(i);
    if (!file) continue;
    tasks.push_back({i, 0, file->frames});
    mixed.push_back(file->frames);
    apart.insert(apart.end(), {file->frames, file->channels});
  }
  check(tasks.size() > 100 && tasks.size() < files.size(), "some files are still audio");
  const auto kept = static_cast<int64_t>(tasks.size());
  Samples one = Samples::empty(DType::int16, 1, mixed, "", kept);
  Samples all = Samples::empty(DType::float32, 2, apart, "", kept);
  check(opened.decode(one, tasks) == mixed && opened.decode(all, tasks) == mixed,
        "all frames are decoded");
}

void files_with_wrong_bytes() {
  Mutator random(2);
  std::vector<std::string> files;
  for (int round = 0; round < 20000; round++) {
    const Format format = kFormats[random.below(std::size(kFormats))];
    const int channels = 1 + static_cast<int>(random.below(4));
    files.push_back(random.damaged(wav(format.tag, format.bits, channels, std::string(24, 7))));
    const Opened opened(files.back());
    AudioFile* file = opened.file();
    if (file) check(read_all<float>(*file, 0) == file->frames, "all frames are there");
  }
  decode_together(files);
}

void spectra_in_tight_memory() {
  for (const int64_t nfft : {31, 100, 128, 256, 512, 2048}) {
    for (const int64_t length : {int64_t{1}, nfft / 2 + 1, nfft * 25 / 32, nfft - 1, nfft}) {
      for (const int64_t windows : {1, 7, 8, 19}) {
        const int64_t step = length / 3 + 1, bins = nfft / 2 + 1;
        std::vector<float> signal(static_cast<size_t>(length + (windows - 1) * step), 1);
        const std::vector<float> window(static_cast<size_t>(length), 1);
        std::vector<float> results(static_cast<size_t>(windows * bins), -1);
        const Samples in = Samples::wrap(DType::float32, {static_cast<int64_t>(signal.size())}, {},
                                         signal.data(), nullptr, true, true);
        for (const bool time_major : {false, true}) {
          Samples out = Samples::wrap(
              DType::float32, time_major ? std::vector{windows, bins} : std::vector{bins, windows},
              {}, results.data(), nullptr, false, true);
          spectrogram(out, in,
                      {nfft, window.data(), length, step, SignalPadding::none, true, time_major});
          const auto expected = static_cast<float>(length);
          for (int64_t k = 0; k < windows; k++) {
            const float sum = results[static_cast<size_t>(time_major ? k * bins : k)];
            check(std::abs(sum - expected) <= 1e-5f * expected, "frequency 0 is the sum");
          }
        }
      }
    }
  }
}

}  // namespace

int main() {
  files_cut_off();
  values();
  files_with_wrong_bytes();
  for (const bool simd : {true, false}) {
    set_simd_enabled(simd);
    spectra_in_tight_memory();
    flac_values();
    flac_frames_of_any_bits();
  }
  return passed("audio_test");
}
