// SPDX-License-Identifier: Apache-2.0
#include "util/utf8.hpp"

#include <algorithm>

namespace perfgate::util {

namespace {

struct Lead {
    std::size_t continuation_bytes = 0;
    unsigned char second_low = 0x80, second_high = 0xbf;  // Unicode 15, table 3-7
    char32_t bits = 0;
};

/// What a lead byte announces; no continuation bytes: it cannot lead.
Lead classify(unsigned char byte) {
    if (byte >= 0xc2 && byte <= 0xdf) return {1, 0x80, 0xbf, byte & 0x1fu};
    if (byte == 0xe0) return {2, 0xa0, 0xbf, 0};
    if (byte == 0xed) return {2, 0x80, 0x9f, 0x0d};
    if (byte >= 0xe1 && byte <= 0xef) return {2, 0x80, 0xbf, byte & 0x0fu};
    if (byte == 0xf0) return {3, 0x90, 0xbf, 0};
    if (byte == 0xf4) return {3, 0x80, 0x8f, 4};
    if (byte >= 0xf1 && byte <= 0xf3) return {3, 0x80, 0xbf, byte & 0x07u};
    return {};
}

}  // namespace

Utf8Step utf8_step(std::string_view text, std::size_t position) {
    if (position >= text.size()) return {};
    const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte_at(position);
    if (first < 0x80) return {1, first, true};

    const Lead lead = classify(first);
    if (lead.continuation_bytes == 0) return {1, 0, false};
    char32_t code_point = lead.bits;
    std::size_t length = 1;
    for (; length <= lead.continuation_bytes; ++length) {
        if (position + length >= text.size()) return {length, 0, false};
        const unsigned char next = byte_at(position + length);
        const unsigned char low = length == 1 ? lead.second_low : 0x80;
        const unsigned char high = length == 1 ? lead.second_high : 0xbf;
        if (next < low || next > high) return {length, 0, false};
        code_point = (code_point << 6) | (next & 0x3fu);
    }
    return {length, code_point, true};
}

std::size_t printable_ascii_length(std::string_view text) {
    const auto end =
        std::find_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; });
    return static_cast<std::size_t>(end - text.begin());
}

bool is_terminal_control(char32_t c) {
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029 ||
           (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
           c == 0x200f || c == 0x061c || c == 0xfeff;
}

}  // namespace perfgate::util
