// SPDX-License-Identifier: Apache-2.0
#include "util/text.hpp"

#include <cxxabi.h>
#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <numeric>

namespace perfgate::util {

namespace {

constexpr std::string_view ellipsis = "\xe2\x80\xa6";  // U+2026

/// Longer names are not compared: they are not typos.
constexpr std::size_t longest_name = 128;

/// Edit distance with insertions, deletions, replacements and swaps of neighbours, each costing 1.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::array<std::array<std::size_t, longest_name + 1>, 3> rows{};
    std::iota(rows[0].begin(), rows[0].end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto& row = rows[i % 3];
        const auto& above = rows[(i - 1) % 3];
        const auto& two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return rows[a.size() % 3][b.size()];
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
    std::size_t p = 0;
    std::size_t t = 0;
    // Where to try again with the last '*' one character longer.
    std::size_t star = std::string_view::npos;
    std::size_t star_text = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            star_text = t;
        } else if (p < pattern.size() && pattern[p] == '?') {
            ++p;
            t += utf8_step(text, t).length;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            star_text += utf8_step(text, star_text).length;
            t = star_text;
            p = star + 1;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool glob_may_match(std::string_view pattern, std::string_view prefix) {
    const std::size_t wildcard = pattern.find_first_of("*?");
    const std::string_view literal = pattern.substr(0, wildcard);
    if (literal.starts_with(prefix)) return true;
    return wildcard != std::string_view::npos && prefix.starts_with(literal);
}

std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& candidates) {
    if (name.size() > longest_name) return std::nullopt;
    const std::string* nearest = nullptr;
    // A third of the letters may be wrong: "til" still means "tiled", "abc" does not mean "xyz".
    std::size_t bound = std::max<std::size_t>(1, name.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        if (candidate.size() > longest_name) continue;
        const std::size_t gap =
            std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
        if (gap >= bound) continue;
        const std::size_t distance = edit_distance(name, candidate);
        if (distance < bound && distance < std::max(name.size(), candidate.size())) {
            bound = distance;
            nearest = &candidate;
        }
    }
    if (nearest == nullptr) return std::nullopt;
    return *nearest;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
    const std::optional<std::string> nearest = nearest_name(name, candidates);
    return nearest ? fmt::format("; did you mean '{}'?", printable(*nearest)) : std::string();
}

std::string counted(std::size_t count, std::string_view noun) {
    if (count == 1) return fmt::format("1 {}", noun);
    if (noun.ends_with("py")) {
        return fmt::format("{} {}ies", count, noun.substr(0, noun.size() - 1));
    }
    const bool hissing = noun.ends_with('s') || noun.ends_with("sh") || noun.ends_with("ch");
    return fmt::format("{} {}{}", count, noun, hissing ? "es" : "s");
}

std::string shell_word(std::string_view word) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) {
        return std::string(word);
    }
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string printable(std::string_view text, std::size_t limit) {
    std::string out;
    out.reserve(std::min(text.size(), limit));
    std::size_t cut = 0;  // the last length at which the ellipsis still fits
    for (std::size_t i = 0; i < text.size();) {
        const Utf8Step step = utf8_step(text, i);
        const bool keep = step.valid && !is_terminal_control(step.code_point);
        const std::string_view piece = keep ? text.substr(i, step.length) : std::string_view("?");
        if (out.size() + piece.size() > limit) {
            out.resize(cut);
            if (limit >= ellipsis.size()) out += ellipsis;
            return out;
        }
        out += piece;
        if (out.size() + ellipsis.size() <= limit) cut = out.size();
        i += step.length;
    }
    return out;
}

std::string valid_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t ascii = printable_ascii_length(text);
        out += text.substr(0, ascii);
        text.remove_prefix(ascii);
        const Utf8Step step = utf8_step(text, 0);
        out += step.valid || text.empty() ? text.substr(0, step.length) : replacement_character;
        text.remove_prefix(step.length);
    }
    return out;
}

std::string number_text(double value) {
    std::string text;
    append_number(text, value);
    return text;
}

void append_number(std::string& out, double value) {
    // fmt is locale-independent and shortest; it only drops what tells -0.0 from an integer's 0.
    if (value == 0 && std::signbit(value)) {
        out += "-0.0";
    } else {
        fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), value);
    }
}

bool is_hex(std::string_view text, std::size_t digits) {
    return text.size() == digits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string slug(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool upper = c >= 'A' && c <= 'Z';
        if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            out += upper ? static_cast<char>(c - 'A' + 'a') : c;
        } else if (!out.empty() && out.back() != '-') {
            out += '-';
        }
    }
    if (!out.empty() && out.back() == '-') out.pop_back();
    return out.empty() ? "unknown" : out;
}

std::string demangled(const std::string& symbol) {
    // Without the prefix it is a C name, which the function below would read as an encoded type.
    // Expanding the nested templates of a hostile name could take forever.
    if (!symbol.starts_with("_Z") || symbol.size() > 16384) return symbol;
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && name != nullptr ? name.get() : symbol;
}

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
    const auto end = std::ranges::find_if(text, [](char c) { return c < ' ' || c > '~'; });
    return static_cast<std::size_t>(end - text.begin());
}

bool is_terminal_control(char32_t c) {
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029 ||
           (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
           c == 0x200f || c == 0x061c || c == 0xfeff;
}

}  // namespace perfgate::util
