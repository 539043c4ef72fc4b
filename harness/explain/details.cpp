// SPDX-License-Identifier: Apache-2.0
#include "explain/details.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/text.hpp"

namespace perfgate::explain {

namespace {

/// Each part of a list and how often it is there. A part is a name, or a name and a place:
/// "cudaMalloc", "cudaMalloc in forward".
struct Parts {
    std::map<std::string, double, std::less<>> counts;
    bool complete = true;
};

std::optional<double> number_in(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) {
        return std::nullopt;
    }
    return number;
}

/// Adds "cudaMalloc 0.5 in forward"; false if it is something else.
bool add_part(std::string_view text, Parts& parts) {
    const std::size_t name = text.find(' ');
    if (name == 0 || name == std::string_view::npos) return false;
    const std::size_t end = std::min(text.find(' ', name + 1), text.size());
    const auto count = number_in(text.substr(name + 1, end - name - 1));
    const std::string_view place = text.substr(end);
    if (!count || !(place.empty() || place.starts_with(" in "))) return false;
    parts.counts[std::string(text.substr(0, name)).append(place)] += *count;
    return true;
}

/// Takes " and 3 more" from the end.
bool take_rest(std::string_view& list) {
    constexpr std::string_view begin = " and ", end = " more";
    const std::size_t at = list.rfind(begin);
    if (at == std::string_view::npos || !list.ends_with(end)) return false;
    const std::size_t number = at + begin.size();
    if (number + end.size() > list.size()) return false;
    if (!number_in(list.substr(number, list.size() - end.size() - number))) return false;
    list = list.substr(0, at);
    return true;
}

std::optional<Parts> parts_of(std::string_view list) {
    Parts parts;
    parts.complete = !take_rest(list);
    while (!list.empty()) {
        constexpr std::string_view separator = ", ";
        const std::size_t end = std::min(list.find(separator), list.size());
        if (!add_part(list.substr(0, end), parts)) return std::nullopt;
        list.remove_prefix(std::min(end + separator.size(), list.size()));
    }
    return parts;
}

struct Difference {
    std::string name;
    double before = 0, after = 0;
    [[nodiscard]] double size() const { return std::fabs(after - before); }
};

/// Nothing if a shortened list leaves it out.
std::optional<double> count_in(const Parts& parts, std::string_view name) {
    const auto found = parts.counts.find(name);
    if (found != parts.counts.end()) return found->second;
    return parts.complete ? std::optional<double>(0) : std::nullopt;
}

}  // namespace

std::string difference_of_details(std::string_view before, std::string_view after) {
    constexpr std::size_t most = 6, longest_name = 120;
    const auto was = parts_of(before), is = parts_of(after);
    if (!was || !is) return {};
    std::map<std::string, double, std::less<>> names = was->counts;
    names.insert(is->counts.begin(), is->counts.end());
    std::vector<Difference> differences;
    for (const auto& [name, ignored] : names) {
        const auto left = count_in(*was, name), right = count_in(*is, name);
        if (left && right && *left != *right) differences.push_back({name, *left, *right});
    }
    std::stable_sort(differences.begin(), differences.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::string text;
    for (std::size_t i = 0; i < std::min(differences.size(), most); ++i) {
        const Difference& one = differences[i];
        text += fmt::format("{}{} {:.3g} → {:.3g}", i == 0 ? "" : ", ",
                            model::printable(one.name, longest_name), one.before, one.after);
    }
    if (differences.size() > most) {
        text += fmt::format(" and {} more", differences.size() - most);
    }
    return text;
}

}  // namespace perfgate::explain
