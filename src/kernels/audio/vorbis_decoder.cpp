// SPDX-License-Identifier: Apache-2.0
#include "audio/vorbis_decoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "audio/vorbis_bits.simd.h"

namespace daliesque::audio {

namespace {

constexpr int kLevels = kMostVorbisLevel + 1;

/// What levels of curves stand for: equal steps of decibels up to 1. The specification has them as
/// a table, which this step meets best.
const std::array<float, kLevels>& curve_levels() {
  static const auto levels = [] {
    std::array<float, kLevels> made;
    for (int k = 0; k < kLevels; k++) {
      made[static_cast<size_t>(k)] =
          static_cast<float>(std::exp(0.0629613087 * (k - (kLevels - 1))));
    }
    return made;
  }();
  return levels;
}

/// Where a line between two points is at `x`.
int on_line(const VorbisFloor::Point& low, int low_y, const VorbisFloor::Point& high, int high_y,
            int x) {
  const int change = high_y - low_y;
  const int offset = std::abs(change) * (x - low.x) / (high.x - low.x);
  return change < 0 ? low_y - offset : low_y + offset;
}

/// A level that was encoded as its distance from a prediction: the sides alternate as long as both
/// have space.
int restore_level(int predicted, int distance, int range) {
  const int above = range - predicted, below = predicted;
  if (distance >= 2 * std::min(above, below)) {
    return above > below ? distance : range - 1 - distance;
  }
  return distance % 2 ? predicted - (distance + 1) / 2 : predicted + distance / 2;
}

}  // namespace

VorbisDecoder::VorbisDecoder(const VorbisFormat& format, std::shared_ptr<const VorbisSetup> setup)
    : format_(format),
      setup_(std::move(setup)),
      loops_(DALIESQUE_CHOOSE(vorbis_loops)),
      blocks_{&vorbis_block(format.block_sizes[0]), &vorbis_block(format.block_sizes[1])},
      longest_(format.block_sizes[1]) {
  const int64_t all = longest_ / 2 * format.channels;
  spectra_.require(all);
  endings_.require(all / 2);
  samples_.require(all);
  mixed_.require(all);
  block_.require(longest_ / 2);
  work_.require(longest_);
  curve_.require(longest_ / 2 + kVorbisStep);
  channels_.resize(static_cast<size_t>(format.channels));
}

int VorbisDecoder::block_size(VorbisBytes packet) const {
  VorbisBits bits{packet.data(), packet.data() + packet.size(), 0, 0};
  const VorbisMode* mode = read_mode(bits);
  return mode ? blocks_[mode->is_long]->size() : 0;
}

/// Reads the beginning of a packet; null if it is damaged.
const VorbisMode* VorbisDecoder::read_mode(VorbisBits& bits) const {
  const bool is_audio = !vorbis_number(bits, 1);
  const uint32_t number = vorbis_number(bits, setup_->mode_bits);
  if (!is_audio || number >= setup_->modes.size()) return nullptr;
  const VorbisMode& mode = setup_->modes[number];
  // The shapes of the windows follow from the sizes of the blocks.
  if (mode.is_long) vorbis_number(bits, 2);
  return bits.left >= 0 ? &mode : nullptr;
}

int64_t VorbisDecoder::decode(VorbisBytes packet) {
  VorbisBits bits{packet.data(), packet.data() + packet.size(), 0, 0};
  const VorbisMode& mode = *read_mode(bits);
  const VorbisBlock& block = *blocks_[mode.is_long];
  read_spectra(bits, setup_->mappings[static_cast<size_t>(mode.mapping)], block.size() / 2);
  int64_t count = 0;
  for (int c = 0; c < format_.channels; c++) {
    const Channel& channel = channels_[static_cast<size_t>(c)];
    if (channel.has_curve) {
      draw_curve(*channel.floor, channel.levels, block.size() / 2);
      loops_.inverse_mdct(block_.data(), spectrum(c), curve_.data(), block.tables(), work_.data());
    } else {
      std::fill_n(block_.data(), block.size() / 2, 0.0f);
    }
    count = join(c, block);
  }
  before_ = &block;
  return count;
}

/// Reads the levels of the points of a curve. False if there is no curve.
bool VorbisDecoder::read_curve(VorbisBits& bits, const VorbisFloor& floor, int* levels) const {
  static constexpr int kRanges[] = {256, 128, 86, 64};
  const int range = kRanges[floor.multiplier - 1];
  if (!vorbis_number(bits, 1)) return false;
  const auto width = static_cast<uint32_t>(std::bit_width(static_cast<unsigned>(range - 1)));
  int distances[kMostVorbisPoints] = {};
  for (int k = 0; k < 2; k++) distances[k] = static_cast<int>(vorbis_number(bits, width));
  const auto read = [&](int number) {
    vorbis_refill(bits);
    return vorbis_entry(bits, setup_->codebooks[static_cast<size_t>(number)].book());
  };
  int* to = distances + 2;
  for (const VorbisFloor::Group& group : floor.groups) {
    uint32_t choice = group.subclass_bits > 0 ? read(group.main_book) : 0;
    for (int k = 0; k < group.size; k++, choice >>= group.subclass_bits) {
      const int book = group.books[choice & ((1u << group.subclass_bits) - 1)];
      *to++ = book >= 0 ? static_cast<int>(read(book)) : 0;
    }
    if (bits.left < 0) return false;
  }
  int all[kMostVorbisPoints];
  for (size_t i = 0; i < floor.points.size(); i++) {
    all[i] = distances[i];
    levels[i] = all[i];
    if (i < 2) continue;
    const VorbisFloor::Point& point = floor.points[i];
    const auto low = static_cast<size_t>(point.low), high = static_cast<size_t>(point.high);
    all[i] = on_line(floor.points[low], all[low], floor.points[high], all[high], point.x);
    levels[i] = -1;
    if (distances[i] == 0) continue;
    // Only damaged packets leave the range.
    all[i] = std::clamp(restore_level(all[i], distances[i], range), 0, range - 1);
    levels[i] = all[i];
    levels[low] = all[low];
    levels[high] = all[high];
  }
  return bits.left >= 0;
}

void VorbisDecoder::draw_curve(const VorbisFloor& floor, const int* levels, int64_t count) {
  const float* factors = curve_levels().data();
  const auto scaled = [&](int i) { return std::min(levels[i] * floor.multiplier, kLevels - 1); };
  int64_t x = 0;
  int y = scaled(0);
  for (size_t k = 1; k < floor.order.size() && x < count; k++) {
    const int next = floor.order[k];
    if (levels[next] < 0) continue;
    const int64_t next_x = floor.points[static_cast<size_t>(next)].x;
    loops_.draw_line(curve_.data() + x, std::min(next_x, count) - x, next_x - x, y, scaled(next),
                     factors);
    x = next_x;
    y = scaled(next);
  }
  if (x < count) std::fill_n(curve_.data() + x, count - x, factors[y]);
}

/// Reads the classes of the partitions that one codeword stands for.
bool VorbisDecoder::read_classes(VorbisBits& bits, const VorbisResidue& residue, uint8_t* classes,
                                 int64_t count) const {
  const VorbisBook& book = setup_->codebooks[static_cast<size_t>(residue.class_book)].book();
  vorbis_refill(bits);
  const size_t first =
      static_cast<size_t>(vorbis_entry(bits, book)) * static_cast<size_t>(book.dimensions);
  if (bits.left < 0 || first >= residue.class_words.size()) return false;
  std::copy_n(&residue.class_words[first], count, classes);
  return true;
}

/// Adds to the vectors, those that are null excepted, what is encoded for their first `length`
/// numbers. Packets may end anywhere.
void VorbisDecoder::read_partitions(VorbisBits& bits, const VorbisResidue& residue,
                                    const std::vector<float*>& vectors, int64_t length) {
  const int64_t end = std::min(residue.end, length);
  if (end <= residue.begin) return;
  const int64_t partitions = (end - residue.begin) / residue.size;
  const int64_t group =
      setup_->codebooks[static_cast<size_t>(residue.class_book)].book().dimensions;
  classes_.resize(static_cast<size_t>(partitions) * vectors.size());
  const auto add = residue.type == 0 ? loops_.add_spread_vectors : loops_.add_vectors;
  for (int pass = 0; pass < residue.passes; pass++) {
    for (int64_t first = 0; first < partitions; first += group) {
      const int64_t count = std::min(group, partitions - first);
      for (size_t v = 0; v < vectors.size() && pass == 0; v++) {
        uint8_t* classes = &classes_[v * static_cast<size_t>(partitions)] + first;
        if (vectors[v] && !read_classes(bits, residue, classes, count)) return;
      }
      for (int64_t p = first; p < first + count; p++) {
        for (size_t v = 0; v < vectors.size(); v++) {
          if (!vectors[v]) continue;
          const uint8_t kind =
              classes_[v * static_cast<size_t>(partitions) + static_cast<size_t>(p)];
          const int book = residue.books[kind][pass];
          if (book < 0) continue;
          float* to = vectors[v] + residue.begin + p * residue.size;
          if (!add(bits, setup_->codebooks[static_cast<size_t>(book)].book(), to, residue.size)) {
            return;
          }
        }
      }
    }
  }
}

void VorbisDecoder::read_residue(VorbisBits& bits, const VorbisMapping::Submap& submap,
                                 int64_t half) {
  const VorbisResidue& residue = setup_->residues[static_cast<size_t>(submap.residue)];
  const auto is_used = [&](int c) { return channels_[static_cast<size_t>(c)].has_residue; };
  const auto count = static_cast<int64_t>(submap.channels.size());
  std::vector<float*> vectors;
  if (residue.type < 2 || count == 1) {
    for (const int c : submap.channels) vectors.push_back(is_used(c) ? spectrum(c) : nullptr);
    read_partitions(bits, residue, vectors, half);
    return;
  }
  if (std::ranges::none_of(submap.channels, is_used)) return;
  // The channels alternate.
  float* mixed = mixed_.data();
  std::fill_n(mixed, half * count, 0.0f);
  vectors.push_back(mixed);
  read_partitions(bits, residue, vectors, half * count);
  if (count == 2) {
    loops_.split_pairs(spectrum(submap.channels[0]), spectrum(submap.channels[1]), mixed, half);
    return;
  }
  for (int64_t c = 0; c < count; c++) {
    float* to = spectrum(submap.channels[static_cast<size_t>(c)]);
    for (int64_t i = 0; i < half; i++) to[i] = mixed[i * count + c];
  }
}

void VorbisDecoder::read_spectra(VorbisBits& bits, const VorbisMapping& mapping, int64_t half) {
  for (int c = 0; c < format_.channels; c++) {
    const auto submap = static_cast<size_t>(mapping.submap_of[static_cast<size_t>(c)]);
    Channel& channel = channels_[static_cast<size_t>(c)];
    channel.floor = &setup_->floors[static_cast<size_t>(mapping.submaps[submap].floor)];
    channel.has_curve = read_curve(bits, *channel.floor, channel.levels);
    channel.has_residue = channel.has_curve;
    std::fill_n(spectrum(c), half, 0.0f);
  }
  for (const auto [magnitude, angle] : mapping.couplings) {
    Channel& a = channels_[static_cast<size_t>(magnitude)];
    Channel& b = channels_[static_cast<size_t>(angle)];
    a.has_residue = b.has_residue = a.has_residue || b.has_residue;
  }
  for (const VorbisMapping::Submap& submap : mapping.submaps) read_residue(bits, submap, half);
  for (size_t k = mapping.couplings.size(); k-- > 0;) {
    const auto [magnitude, angle] = mapping.couplings[k];
    loops_.uncouple(spectrum(magnitude), spectrum(angle), half);
  }
}

/// Overlaps the end of the last block with the beginning of this one, and keeps its end.
int64_t VorbisDecoder::join(int channel, const VorbisBlock& block) {
  const int64_t half = block.size() / 2;
  const float* after = block_.data();
  int64_t count = 0;
  if (before_) {
    const int64_t half_before = before_->size() / 2, length = std::min(half, half_before);
    float *out = samples_.data() + channel * longest_ / 2, *before = ending(channel);
    const int64_t alone = (half_before - length) / 2;
    loops_.mirror(out, before + half_before / 2, alone);
    const VorbisBlock& shorter = half < half_before ? block : *before_;
    loops_.overlap(out + alone, before, after + half - length / 2, shorter.slope(), length);
    loops_.mirror(out + alone + length, after + half - length / 2, (half - length) / 2);
    count = (half_before + half) / 2;
  }
  std::copy_n(after, half / 2, ending(channel));
  return count;
}

}  // namespace daliesque::audio
