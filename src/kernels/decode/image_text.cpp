// SPDX-License-Identifier: Apache-2.0
#include "decode/image_text.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "core/parallel.h"

namespace daliesque::decode {

namespace {

constexpr double kNanosecondsPerValue = 1.5;

/// A number and a space, and how many letters they are.
struct Word {
  std::array<char, 4> letters;
  int32_t length;
};

std::array<Word, 256> make_words() {
  std::array<Word, 256> words{};
  for (size_t value = 0; value < words.size(); value++) {
    const std::string text = std::to_string(value) + ' ';
    text.copy(words[value].letters.data(), text.size());
    words[value].length = static_cast<int32_t>(text.size());
  }
  return words;
}

std::string header(Shape shape) {
  return std::string(shape[2] == 3 ? "P3" : "P2") + '\n' + std::to_string(shape[1]) + ' ' +
         std::to_string(shape[0]) + "\n255\n";
}

int64_t text_length(const uint8_t* data, Shape shape) {
  const int64_t values = volume(shape);
  int64_t digits = values;
  for (int64_t k = 0; k < values; k++) digits += (data[k] > 9) + (data[k] > 99);
  return static_cast<int64_t>(header(shape).size()) + digits + values + shape[0];
}

void write(char* out, const uint8_t* data, Shape shape, const std::array<Word, 256>& words) {
  const std::string start = header(shape);
  out += start.copy(out, start.size());
  const int64_t width = shape[1] * shape[2];
  const uint8_t* const last = data + shape[0] * width - 1;
  for (int64_t y = 0; y < shape[0]; y++) {
    for (int64_t k = 0; k < width; k++, data++) {
      const Word& word = words[*data];
      if (data < last) {
        // Letters beyond the length are overwritten by the next word.
        std::memcpy(out, word.letters.data(), word.letters.size());
      } else {
        std::memcpy(out, word.letters.data(), static_cast<size_t>(word.length));
      }
      out += word.length;
    }
    *out++ = '\n';
  }
}

}  // namespace

Samples image_texts(const Samples& images) {
  const std::array<Word, 256> words = make_words();
  const auto cost = [&](int64_t i) {
    return static_cast<double>(images.volume(i)) * kNanosecondsPerValue;
  };
  std::vector<int64_t> lengths(static_cast<size_t>(images.size()));
  parallel_for(images.size(), cost, [&](int64_t i) {
    lengths[static_cast<size_t>(i)] = text_length(images.data<const uint8_t>(i), images.shape(i));
  });
  Samples out = Samples::empty(DType::uint8, 1, std::move(lengths), "", images.size());
  parallel_for(images.size(), cost, [&](int64_t i) {
    write(out.data<char>(i), images.data<const uint8_t>(i), images.shape(i), words);
  });
  return out;
}

}  // namespace daliesque::decode
