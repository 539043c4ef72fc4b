// SPDX-License-Identifier: Apache-2.0
#include "model/measured_as.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::model {

namespace {

constexpr std::size_t longest_value = 200;
constexpr std::size_t longest_shown = 60;
constexpr std::size_t most_differences = 4;

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
            return util::printable(text, longest_shown);
        }
        std::size_t begin = static_cast<std::size_t>(differs - context);
        while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
        return "…" + util::printable(std::string_view(text).substr(begin), longest_shown);
    };
    return fmt::format("{} → {}", shown(before), shown(now));
}

}  // namespace

std::string direction_key(std::string_view metric) {
    return fmt::format("{}{}.better", value_key, metric);
}

std::string shortened_value(const std::string& text) {
    if (text.size() <= longest_value) return text;
    return fmt::format("{} (all {} bytes: {})", util::printable(text, longest_value / 2),
                       text.size(), util::fingerprint_of(text));
}

std::vector<DifferingKey> differing_keys(const MeasuredAs& before, const MeasuredAs& now) {
    MeasuredAs keys = before;
    keys.insert(now.begin(), now.end());
    const std::string absent = "not stated";
    std::vector<DifferingKey> differing;
    for (const auto& [key, any] : keys) {
        const auto was = before.find(key);
        const auto is = now.find(key);
        const bool added = was == before.end();
        const bool removed = is == now.end();
        if (!added && !removed && was->second == is->second) continue;
        differing.push_back({.key = key,
                             .was = added ? absent : was->second,
                             .is = removed ? absent : is->second,
                             .adds_metrics = added && defines_a_metric(key),
                             .removes_metrics = removed && defines_a_metric(key)});
    }
    return differing;
}

std::string difference(const MeasuredAs& before, const MeasuredAs& now) {
    if (before.empty() || now.empty()) return {};
    std::vector<std::string> differences;
    for (const DifferingKey& one : differing_keys(before, now)) {
        if (one.adds_metrics || one.removes_metrics) continue;
        differences.push_back(util::printable(one.key, longest_shown) + ' ' +
                              both_shown(one.was, one.is));
    }
    const std::size_t further =
        differences.size() > most_differences ? differences.size() - most_differences : 0;
    differences.resize(differences.size() - further);
    std::string text = fmt::format("{}", fmt::join(differences, ", "));
    if (further > 0) text += fmt::format(" and {} more", further);
    return text;
}

}  // namespace perfgate::model
