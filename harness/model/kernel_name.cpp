// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_name.hpp"

#include <algorithm>
#include <cstddef>

#include "util/text.hpp"

namespace perfgate::model {

namespace {

constexpr std::size_t most_characters = 60;
/// Characters of the part in which two names differ.
constexpr std::size_t longest_difference = 40;
/// A shorter name is considered too general.
constexpr std::size_t telling = 8;

/// Without result, parameters and anonymous namespaces.
std::string core_of(std::string_view full) {
    constexpr std::string_view nameless = "(anonymous namespace)::";
    std::string name(full);
    for (std::size_t at = name.find(nameless); at != std::string::npos; at = name.find(nameless)) {
        name.erase(at, nameless.size());
    }
    if (name.ends_with(')')) {
        std::size_t open = name.size();
        for (int depth = 0; open > 0;) {
            --open;
            if (name[open] == ')') ++depth;
            if (name[open] == '(' && --depth == 0) break;
        }
        if (open > 0) name.resize(open);
    }
    if (name.starts_with("void ")) name.erase(0, 5);
    return name;
}

/// Where the template arguments of the name's last component begin; the name's size if it has none.
std::size_t arguments_of(std::string_view core) {
    if (!core.ends_with('>')) return core.size();
    int depth = 0;
    for (std::size_t at = core.size(); at > 0;) {
        --at;
        if (core[at] == '>') ++depth;
        if (core[at] == '<' && --depth == 0) return at == 0 ? core.size() : at;
    }
    return core.size();
}

bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The part of `text` that `other` does not have, in whole words.
std::string_view difference(std::string_view text, std::string_view other) {
    const auto head = std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first;
    auto begin = static_cast<std::size_t>(head - text.begin());
    const std::size_t most = std::min(text.size(), other.size()) - begin;
    std::size_t tail = 0;
    while (tail < most && text[text.size() - 1 - tail] == other[other.size() - 1 - tail]) ++tail;
    std::size_t end = text.size() - tail;
    while (begin > 0 && begin < text.size() && in_word(text[begin - 1])) --begin;
    while (end > 0 && end < text.size() && in_word(text[end - 1]) && in_word(text[end])) ++end;
    return text.substr(begin, std::max(end, begin) - begin);
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
    return util::printable(core_of(name), most_characters);
}

std::string brief_kernel_name(std::string_view name) {
    const std::string core = core_of(name);
    const std::size_t arguments = arguments_of(core);
    const std::size_t colons = core.rfind("::", arguments);
    const std::size_t begin = colons == std::string::npos ? 0 : colons + 2;
    const bool tells = arguments - begin >= telling;
    const std::string brief = core.substr(begin, tells ? arguments - begin : std::string::npos);
    return util::printable(brief.empty() ? core : brief, most_characters);
}

std::string distinct_kernel_name(std::string_view name, std::string_view other) {
    std::string brief = brief_kernel_name(name);
    if (name == other || brief != brief_kernel_name(other)) return brief;
    const std::string_view own = difference(name, other);
    if (own.empty()) return brief;
    const std::size_t arguments = std::min(brief.find('<'), brief.size());
    return brief.substr(0, arguments) + "<…" + util::printable(own, longest_difference) + "…>";
}

}  // namespace perfgate::model
