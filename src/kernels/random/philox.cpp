// SPDX-License-Identifier: Apache-2.0
#include "random/philox.h"

#include <charconv>
#include <stdexcept>

#include "core/errors.h"

namespace daliesque::random {

namespace {

constexpr std::string_view kForm = "Philox_0123456789ABCDEF_0123456789ABCDEF:0123456789ABCDEF_0";
constexpr size_t kKeyAt = 7, kHighAt = 24, kLowAt = 41, kPhaseAt = 58;

void write_hex(std::string& text, size_t at, size_t digits, uint64_t value) {
  for (size_t i = digits; i-- > 0; value >>= 4) text[at + i] = "0123456789ABCDEF"[value & 15];
}

uint64_t read_hex(std::string_view text, size_t at, size_t digits) {
  uint64_t value = 0;
  const char* end = text.data() + at + digits;
  const auto [stop, error] = std::from_chars(text.data() + at, end, value, 16);
  if (error != std::errc{} || stop != end) {
    throw UsageError("\"" + std::string(text.substr(at, digits)) +
                     "\" is not a hexadecimal number");
  }
  return value;
}

}  // namespace

std::string PhiloxState::to_string() const {
  std::string text(kForm);
  write_hex(text, kKeyAt, 16, key);
  write_hex(text, kHighAt, 16, counter_high);
  write_hex(text, kLowAt, 16, counter_low);
  write_hex(text, kPhaseAt, 1, phase);
  return text;
}

PhiloxState PhiloxState::parse(std::string_view text) {
  const bool shaped = text.size() == kForm.size() && text.starts_with("Philox_") &&
                      text[kHighAt - 1] == '_' && text[kLowAt - 1] == ':' &&
                      text[kPhaseAt - 1] == '_';
  if (!shaped) throw UsageError("it does not look like \"" + std::string(kForm) + "\"");
  PhiloxState state;
  state.key = read_hex(text, kKeyAt, 16);
  state.counter_high = read_hex(text, kHighAt, 16);
  state.counter_low = read_hex(text, kLowAt, 16);
  state.phase = static_cast<uint32_t>(read_hex(text, kPhaseAt, 1));
  if (state.phase > 3) throw UsageError("the last digit must be 0, 1, 2 or 3");
  return state;
}

PhiloxState draw_operator_state(Philox& rng) {
  uint64_t words[kStateWords];
  for (uint64_t& word : words) word = rng();
  PhiloxState state;
  state.key = words[0] | words[1] << 32;
  state.counter_low = words[2] | words[3] << 32;
  state.counter_high = words[4] | words[5] << 32;
  state.phase = words[6] & 3;
  return state;
}

}  // namespace daliesque::random
