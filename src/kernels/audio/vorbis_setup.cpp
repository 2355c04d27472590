// SPDX-License-Identifier: Apache-2.0
#include "audio/vorbis_setup.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <list>
#include <mutex>

#include "audio/vorbis_bits.simd.h"

namespace daliesque::audio {

namespace {

// Of all codebooks of a stream together.
constexpr int64_t kMostVolume = 1 << 20;

int read_int(VorbisBits& bits, uint32_t count) {
  return static_cast<int>(vorbis_number(bits, count));
}

VorbisBits bits_of(VorbisBytes bytes) { return {bytes.data(), bytes.data() + bytes.size(), 0, 0}; }

/// The bits after the kind of a header and the name of the format, if these are right.
bool open_header(VorbisBytes packet, int kind, VorbisBits& bits) {
  if (packet.size() < 7 || packet[0] != kind || std::memcmp(&packet[1], "vorbis", 6) != 0) {
    return false;
  }
  bits = bits_of(packet.subspan(7));
  return true;
}

}  // namespace

bool VorbisFormat::parse(VorbisBytes packet) {
  constexpr int kMostChannels = 8;
  VorbisBits bits;
  if (packet.size() != 30 || !open_header(packet, 1, bits)) return false;
  const uint32_t version = vorbis_number(bits, 32);
  channels = read_int(bits, 8);
  rate = vorbis_number(bits, 32);
  for (int k = 0; k < 3; k++) vorbis_number(bits, 32);  // bit rates
  for (int& size : block_sizes) size = 1 << vorbis_number(bits, 4);
  const bool framed = vorbis_number(bits, 1);
  return version == 0 && framed && channels > 0 && channels <= kMostChannels && rate > 0 &&
         rate <= 0x7fffffff && block_sizes[0] >= kLeastVorbisBlock &&
         block_sizes[0] <= block_sizes[1] && block_sizes[1] <= kMostVorbisBlock;
}

bool is_vorbis_comment(VorbisBytes packet) {
  VorbisBits bits;
  if (!open_header(packet, 3, bits)) return false;
  VorbisBytes rest = packet.subspan(7);
  const auto take_number = [&]() -> uint32_t {
    if (rest.size() < 4) return 0xffffffff;
    bits = bits_of(rest);
    rest = rest.subspan(4);
    return vorbis_number(bits, 32);
  };
  const auto skip_text = [&] {
    const uint32_t length = take_number();
    if (length > rest.size()) return false;
    rest = rest.subspan(length);
    return true;
  };
  if (!skip_text()) return false;
  const uint32_t count = take_number();
  if (count > rest.size() / 4) return false;
  for (uint32_t k = 0; k < count; k++) {
    if (!skip_text()) return false;
  }
  return !rest.empty() && rest[0] & 1;
}

bool VorbisFloor::parse(VorbisBits& bits, size_t books) {
  std::vector<int> kinds(vorbis_number(bits, 5));
  for (int& kind : kinds) kind = read_int(bits, 4);
  std::vector<Group> classes;
  const auto is_book = [&](int number) { return number < static_cast<int>(books); };
  if (!kinds.empty()) classes.resize(static_cast<size_t>(*std::ranges::max_element(kinds)) + 1);
  for (Group& group : classes) {
    group.size = read_int(bits, 3) + 1;
    group.subclass_bits = read_int(bits, 2);
    group.main_book = group.subclass_bits > 0 ? read_int(bits, 8) : 0;
    if (!is_book(group.main_book)) return false;
    for (int k = 0; k < 1 << group.subclass_bits; k++) {
      group.books[k] = read_int(bits, 8) - 1;
      if (!is_book(group.books[k])) return false;
    }
  }
  multiplier = read_int(bits, 2) + 1;
  const uint32_t width = vorbis_number(bits, 4);
  if (1 << width > kMostVorbisLine) return false;
  std::vector<int> positions{0, 1 << width};
  for (const int kind : kinds) {
    groups.push_back(classes[static_cast<size_t>(kind)]);
    for (int k = 0; k < groups.back().size; k++) positions.push_back(read_int(bits, width));
  }
  const int count = static_cast<int>(positions.size());
  if (count > kMostVorbisPoints || bits.left < 0) return false;
  const auto x = [&](int i) { return positions[static_cast<size_t>(i)]; };
  for (int i = 0; i < count; i++) {
    Point point{x(i), 0, 1};
    for (int k = 0; k < i; k++) {
      if (x(k) == x(i)) return false;
      if (x(k) < x(i) && x(k) > x(point.low)) point.low = k;
      if (x(k) > x(i) && x(k) < x(point.high)) point.high = k;
    }
    points.push_back(point);
    order.push_back(i);
  }
  std::ranges::sort(order, {}, x);
  return true;
}

bool VorbisResidue::parse(VorbisBits& bits, const std::vector<VorbisCodebook>& codebooks) {
  begin = read_int(bits, 24);
  end = read_int(bits, 24);
  size = read_int(bits, 24) + 1;
  classes = read_int(bits, 6) + 1;
  class_book = read_int(bits, 8);
  const auto is_book = [&](int number) { return number < static_cast<int>(codebooks.size()); };
  const auto book = [&](int number) -> const VorbisCodebook& {
    return codebooks[static_cast<size_t>(number)];
  };
  if (end < begin || !is_book(class_book)) return false;
  int cascades[64];
  for (int c = 0; c < classes; c++) {
    cascades[c] = read_int(bits, 3);
    if (vorbis_number(bits, 1)) cascades[c] |= read_int(bits, 5) << 3;
  }
  for (int c = 0; c < classes; c++) {
    for (int pass = 0; pass < 8; pass++) {
      int& number = books[c][pass];
      number = cascades[c] >> pass & 1 ? read_int(bits, 8) : -1;
      if (number < 0) continue;
      // Vectors that go beyond a partition are left to others.
      if (!is_book(number) || book(number).volume() == 0 ||
          size % book(number).book().dimensions != 0) {
        return false;
      }
      passes = std::max(passes, pass + 1);
    }
  }
  const int dimensions = book(class_book).book().dimensions;
  int64_t words = 1;
  for (int k = 0; k < dimensions; k++) {
    words *= classes;
    if (words > book(class_book).entries()) return false;
  }
  class_words.resize(static_cast<size_t>(words * dimensions));
  for (int64_t word = 0; word < words; word++) {
    int64_t rest = word;
    for (int k = dimensions - 1; k >= 0; k--, rest /= classes) {
      class_words[static_cast<size_t>(word * dimensions + k)] =
          static_cast<uint8_t>(rest % classes);
    }
  }
  return bits.left >= 0;
}

bool VorbisMapping::parse(VorbisBits& bits, int channels, size_t floors,
                          const std::vector<VorbisResidue>& residues) {
  submaps.resize(vorbis_number(bits, 1) ? vorbis_number(bits, 4) + 1 : 1);
  const auto width = static_cast<uint32_t>(std::bit_width(static_cast<unsigned>(channels - 1)));
  couplings.resize(vorbis_number(bits, 1) ? vorbis_number(bits, 8) + 1 : 0);
  for (Coupling& coupling : couplings) {
    coupling.magnitude = read_int(bits, width);
    coupling.angle = read_int(bits, width);
    if (coupling.magnitude == coupling.angle || coupling.magnitude >= channels ||
        coupling.angle >= channels) {
      return false;
    }
  }
  if (vorbis_number(bits, 2) != 0) return false;
  for (int c = 0; c < channels; c++) {
    const size_t submap = submaps.size() > 1 ? vorbis_number(bits, 4) : 0;
    if (submap >= submaps.size()) return false;
    submaps[submap].channels.push_back(c);
    submap_of.push_back(static_cast<int>(submap));
  }
  for (Submap& submap : submaps) {
    vorbis_number(bits, 8);
    submap.floor = read_int(bits, 8);
    submap.residue = read_int(bits, 8);
    if (submap.floor >= static_cast<int>(floors) ||
        submap.residue >= static_cast<int>(residues.size())) {
      return false;
    }
    // Channels that alternate within partitions in another way are left to others.
    const VorbisResidue& residue = residues[static_cast<size_t>(submap.residue)];
    const auto count = static_cast<int64_t>(submap.channels.size());
    if (residue.type == 2 && count > 0 &&
        (residue.begin % count != 0 || residue.size % count != 0)) {
      return false;
    }
  }
  return bits.left >= 0;
}

bool VorbisSetup::parse_codebooks(VorbisBits& bits) {
  const uint32_t count = vorbis_number(bits, 8) + 1;
  int64_t volume = 0;
  for (uint32_t k = 0; k < count; k++) {
    VorbisCodebook& codebook = codebooks.emplace_back();
    if (!codebook.parse(bits)) return false;
    volume += codebook.entries() + codebook.volume();
    if (volume > kMostVolume) return false;
  }
  return true;
}

bool VorbisSetup::parse_modes(VorbisBits& bits) {
  const uint32_t count = vorbis_number(bits, 6) + 1;
  mode_bits = static_cast<uint32_t>(std::bit_width(count - 1));
  for (uint32_t k = 0; k < count; k++) {
    const bool is_long = vorbis_number(bits, 1);
    const uint32_t window = vorbis_number(bits, 16), transform = vorbis_number(bits, 16);
    const int mapping = read_int(bits, 8);
    if (window != 0 || transform != 0 || mapping >= static_cast<int>(mappings.size())) return false;
    modes.push_back({is_long, mapping});
  }
  return true;
}

bool VorbisSetup::parse(VorbisBytes packet, int channels) {
  VorbisBits bits;
  if (!open_header(packet, 5, bits) || !parse_codebooks(bits)) return false;
  const auto count = [&] { return vorbis_number(bits, 6) + 1; };
  for (uint32_t left = count(); left > 0; left--) {
    if (vorbis_number(bits, 16) != 0) return false;
  }
  for (uint32_t left = count(); left > 0; left--) {
    // Curves of the first kind, which encoders stopped writing long ago, are left to others.
    if (vorbis_number(bits, 16) != 1) return false;
    if (!floors.emplace_back().parse(bits, codebooks.size())) return false;
  }
  for (uint32_t left = count(); left > 0; left--) {
    VorbisResidue& residue = residues.emplace_back();
    residue.type = read_int(bits, 16);
    if (residue.type > 2 || !residue.parse(bits, codebooks)) return false;
  }
  for (uint32_t left = count(); left > 0; left--) {
    if (vorbis_number(bits, 16) != 0) return false;
    if (!mappings.emplace_back().parse(bits, channels, floors.size(), residues)) return false;
  }
  return parse_modes(bits) && vorbis_number(bits, 1) && bits.left >= 0;
}

std::shared_ptr<const VorbisSetup> vorbis_setup(VorbisBytes packet, int channels) {
  struct Kept {
    std::vector<uint8_t> packet;
    int channels;
    std::shared_ptr<const VorbisSetup> setup;
  };
  constexpr size_t kMostKept = 8;
  static std::mutex mutex;
  static std::list<Kept> all;
  {
    const std::lock_guard lock(mutex);
    const auto found = std::ranges::find_if(all, [&](const Kept& kept) {
      return kept.channels == channels && std::ranges::equal(kept.packet, packet);
    });
    if (found != all.end()) {
      all.splice(all.begin(), all, found);
      return found->setup;
    }
  }
  auto setup = std::make_shared<VorbisSetup>();
  if (!setup->parse(packet, channels)) return nullptr;
  const std::lock_guard lock(mutex);
  all.push_front({{packet.begin(), packet.end()}, channels, setup});
  if (all.size() > kMostKept) all.pop_back();
  return setup;
}

}  // namespace daliesque::audio
