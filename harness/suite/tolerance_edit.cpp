// SPDX-License-Identifier: Apache-2.0
#include "suite/tolerance_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "suite/yaml_reader.hpp"

namespace perfgate::suite {

namespace {

/// The place of a position; the text's size if there is none.
std::size_t offset_of(std::string_view yaml, Position at) {
    std::size_t line = 0;
    for (std::int64_t n = 1; n < at.line; ++n) {
        const std::size_t end = yaml.find('\n', line);
        if (end == std::string_view::npos) return yaml.size();
        line = end + 1;
    }
    return std::min(yaml.size(), line + static_cast<std::size_t>(at.column - 1));
}

/// The entry of `workloads` that the position is in.
const YamlNode* entry_at(const YamlNode& root, Position at) {
    const YamlNode* workloads = root.find("workloads");
    if (workloads == nullptr) return nullptr;
    const YamlNode* found = nullptr;
    for (const YamlNode* item : workloads->items) {
        if (!(at < item->at)) found = item;
    }
    return found;
}

std::optional<std::string> replaced(std::string_view yaml, const YamlNode& scalar,
                                    std::string_view text) {
    if (scalar.kind != YamlNode::Kind::scalar || scalar.text.empty()) return std::nullopt;
    std::size_t begin = offset_of(yaml, scalar.at);
    if (begin < yaml.size() && !scalar.plain && (yaml[begin] == '"' || yaml[begin] == '\'')) {
        ++begin;
    }
    if (yaml.substr(begin, scalar.text.size()) != scalar.text) return std::nullopt;
    std::string result(yaml);
    result.replace(begin, scalar.text.size(), text);
    return result;
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

/// Where a line begins that holds no part of the top-level key's value any more, nor what is said
/// about the next one.
std::size_t end_of_value(std::string_view yaml, const YamlNode& root, std::string_view key) {
    std::size_t end = yaml.size();
    Position own;
    for (const YamlNode::Entry& entry : root.entries) {
        if (entry.key->text == key) own = entry.key->at;
    }
    for (const YamlNode::Entry& entry : root.entries) {
        if (own < entry.key->at) end = std::min(end, offset_of(yaml, {entry.key->at.line, 1}));
    }
    // Comments and empty lines before the next key are its own.
    while (end < yaml.size() && end > 0) {
        const std::size_t before = yaml.rfind('\n', end - 1);
        if (before == std::string_view::npos || before == 0) break;
        const std::size_t line = yaml.rfind('\n', before - 1);
        const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
        const std::string_view text = yaml.substr(begin, end - begin);
        const std::size_t first = text.find_first_not_of(" \t\r\n");
        if (first != std::string_view::npos && text[first] != '#') break;
        end = begin;
    }
    return end;
}

}  // namespace

std::optional<std::string> with_stated_tolerance(std::string_view yaml, Position entry,
                                                 const std::vector<std::string>& keys,
                                                 std::string_view tolerance) {
    Problems problems("suite");
    const YamlDocument document = read_yaml(yaml, problems);
    const YamlNode* found = entry_at(*document.root, entry);
    const YamlNode* tolerances = found == nullptr ? nullptr : found->find("tolerances");
    if (tolerances == nullptr) return std::nullopt;
    for (const std::string& key : keys) {
        const YamlNode* stated = tolerances->find(key);
        if (stated == nullptr) continue;
        if (stated->kind == YamlNode::Kind::map) stated = stated->find("worse");
        return stated == nullptr ? std::nullopt : replaced(yaml, *stated, tolerance);
    }
    return std::nullopt;
}

std::string with_override(std::string_view yaml, std::string_view id,
                          const std::vector<std::pair<std::string, std::string>>& tolerances) {
    Problems problems("suite");
    const YamlDocument document = read_yaml(yaml, problems);
    const std::string line_end = yaml.find("\r\n") == std::string_view::npos ? "\n" : "\r\n";
    std::string indent = "  ";
    const YamlNode* overrides = document.root->find("overrides");
    const bool listed = overrides != nullptr && !overrides->items.empty();
    if (listed) {
        // As deep as the others: their dash.
        const std::size_t item = offset_of(yaml, overrides->items.front()->at);
        const std::size_t line = yaml.rfind('\n', item == 0 ? 0 : item - 1);
        const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
        const std::size_t dash = yaml.find('-', begin);
        indent.assign(dash < item ? dash - begin : 0, ' ');
    }
    std::string all;
    for (const auto& [metric, tolerance] : tolerances) {
        all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", metric, tolerance);
    }
    std::string text = listed ? "" : line_end + "overrides:" + line_end;
    text += fmt::format("{}- match: {}{}{}  tolerances: {{{}}}{}", indent, quoted(id), line_end,
                        indent, all, line_end);
    std::string result(yaml);
    const std::size_t at = listed ? end_of_value(yaml, *document.root, "overrides") : result.size();
    if (at == result.size() && !result.empty() && result.back() != '\n') text.insert(0, line_end);
    return result.insert(at, text);
}

}  // namespace perfgate::suite
