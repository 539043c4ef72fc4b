// SPDX-License-Identifier: Apache-2.0
#include "model/measured_as.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/sha256.hpp"
#include "model/text.hpp"

namespace perfgate::model {

namespace {

constexpr std::size_t longest_value = 200;
constexpr std::size_t longest_shown = 60;
constexpr std::size_t most_shown = 4;

bool defines_a_metric(std::string_view key) {
    return key.starts_with(value_key) || key == work_key;
}

/// Both in a few words: of long values, what is around the first difference.
std::string both_shown(const std::string& before, const std::string& now) {
    const auto differs =
        std::mismatch(before.begin(), before.end(), now.begin(), now.end()).first - before.begin();
    constexpr std::ptrdiff_t context = 15;
    const auto shown = [&](const std::string& text) {
        if (text.size() <= longest_shown || differs <= context) {
            return printable(text, longest_shown);
        }
        std::size_t begin = static_cast<std::size_t>(differs - context);
        while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
        return "…" + printable(std::string_view(text).substr(begin), longest_shown);
    };
    return fmt::format("{} → {}", shown(before), shown(now));
}

}  // namespace

std::string shortened_value(const std::string& text) {
    if (text.size() <= longest_value) return text;
    Sha256 hash;
    hash.add(text);
    return fmt::format("{} (all {} bytes: {})", printable(text, longest_value / 2), text.size(),
                       hash.fingerprint());
}

std::string difference(const MeasuredAs& before, const MeasuredAs& now) {
    if (before.empty() || now.empty()) return {};
    std::vector<std::string> differences;
    const auto add = [&](const std::string& key, const std::string& was, const std::string& is) {
        differences.push_back(printable(key, longest_shown) + ' ' + both_shown(was, is));
    };
    const std::string absent = "not stated";
    for (const auto& [key, was] : before) {
        const auto is = now.find(key);
        if (is == now.end()) {
            if (!defines_a_metric(key)) add(key, was, absent);
        } else if (is->second != was) {
            add(key, was, is->second);
        }
    }
    for (const auto& [key, is] : now) {
        if (!before.contains(key) && !defines_a_metric(key)) add(key, absent, is);
    }
    const std::size_t further =
        differences.size() > most_shown ? differences.size() - most_shown : 0;
    differences.resize(differences.size() - further);
    std::string text = fmt::format("{}", fmt::join(differences, ", "));
    if (further > 0) text += fmt::format(" and {} more", further);
    return text;
}

}  // namespace perfgate::model
