// SPDX-License-Identifier: Apache-2.0
#include "audio/file.h"

#include <algorithm>
#include <cstring>

#include "audio/resample.h"
#include "core/parallel.h"
#include "core/saturate.h"

namespace daliesque::audio {

namespace {

// Nanoseconds for opening an audio file, with a decoder of our own and with libsndfile.
constexpr double kOpenOwn = 1e3, kOpenOther = 60e3;

bool begins_like_own(const AudioBytes& source) {
  char tag[4];
  return source.read(tag, 4, 0) == 4 &&
         (std::memcmp(tag, "RIFF", 4) == 0 || std::memcmp(tag, "fLaC", 4) == 0);
}

template <class T>
void store_mixed(T* out, const float* in, int64_t count) {
  if constexpr (std::is_same_v<T, float>) {
    std::copy_n(in, count, out);
  } else {
    constexpr auto kScale = static_cast<float>(std::numeric_limits<T>::max());
    for (int64_t j = 0; j < count; j++) out[j] = saturate<T>(in[j] * kScale);
  }
}

/// Reads some frames at a time and mixes their channels.
template <class T>
int64_t read_mixed(T* out, AudioFile& file, int64_t first, int64_t count) {
  constexpr int64_t kValues = 8192;
  const int64_t most = std::max<int64_t>(1, kValues / file.channels);
  std::vector<float> frames(static_cast<size_t>(most * file.channels));
  std::vector<float> mixed(static_cast<size_t>(most));
  int64_t done = 0;
  while (done < count) {
    const int64_t wanted = std::min(most, count - done);
    const int64_t got = file.read(frames.data(), first + done, wanted);
    downmix(mixed.data(), frames.data(), got, file.channels);
    store_mixed(out + done, mixed.data(), got);
    done += got;
    if (got < wanted) break;
  }
  return done;
}

}  // namespace

int64_t AudioBytes::read(void* out, int64_t count, int64_t offset) const {
  if (offset < 0 || offset >= size_) return 0;
  count = std::min(count, size_ - offset);
  if (data_) {
    std::memcpy(out, data_ + offset, static_cast<size_t>(count));
    return count;
  }
  return file_->read_at(static_cast<char*>(out), count, offset) == 0 ? count : 0;
}

AudioFiles::AudioFiles(const Samples& encoded, const SndfileFunctions* library)
    : encoded_(encoded) {
  if (library) library_ = *library;
  for (int64_t i = 0; i < encoded.size(); i++) {
    auto& entry = entries_.emplace_back(std::make_unique<Entry>());
    entry->source = std::make_unique<AudioBytes>(encoded.data(i), encoded.volume(i));
  }
  open();
}

AudioFiles::AudioFiles(const std::vector<std::string>& paths, const SndfileFunctions* library) {
  if (library) library_ = *library;
  for (const std::string& path : paths) {
    auto& entry = entries_.emplace_back(std::make_unique<Entry>());
    entry->file.open(path);
    if (entry->file.code() == 0) entry->source = std::make_unique<AudioBytes>(entry->file);
  }
  open();
}

void AudioFiles::open() {
  const SndfileFunctions* library = library_ ? &*library_ : nullptr;
  const auto entry = [&](int64_t i) -> Entry& { return *entries_[static_cast<size_t>(i)]; };
  parallel_for(
      size(),
      [&](int64_t i) {
        return entry(i).source && begins_like_own(*entry(i).source) ? kOpenOwn : kOpenOther;
      },
      [&](int64_t i) {
        Entry& opened = entry(i);
        if (!opened.source) return;
        opened.audio = open_wav(*opened.source);
        if (!opened.audio) opened.audio = open_flac(*opened.source);
        if (!opened.audio) opened.audio = open_vorbis(*opened.source, library);
        if (!opened.audio && library) opened.audio = open_sndfile(*library, *opened.source);
      });
}

std::vector<int64_t> AudioFiles::decode(Samples& out, const std::vector<Task>& tasks) const {
  std::vector<int64_t> decoded(tasks.size());
  dispatch(Types<int16_t, int32_t, float>{}, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(
        static_cast<int64_t>(tasks.size()),
        [&](int64_t k) {
          const Task& task = tasks[static_cast<size_t>(k)];
          const Entry& entry = *entries_[static_cast<size_t>(task.file)];
          const auto values = static_cast<double>(task.count * entry.audio->channels);
          return values * entry.audio->value_cost;
        },
        [&](int64_t k) {
          const Task& task = tasks[static_cast<size_t>(k)];
          AudioFile& file = *entries_[static_cast<size_t>(task.file)]->audio;
          auto* to = out.data<T>(k);
          decoded[static_cast<size_t>(k)] = out.ndim() == 1 && file.channels > 1
                                                ? read_mixed(to, file, task.first, task.count)
                                                : file.read(to, task.first, task.count);
        });
  });
  return decoded;
}

}  // namespace daliesque::audio
