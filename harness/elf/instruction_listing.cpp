// SPDX-License-Identifier: Apache-2.0
#include "elf/instruction_listing.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "model/source_place.hpp"

namespace perfgate::elf {
namespace {

constexpr std::size_t longest_opcode = 64;

/// Removes what `text` has up to `end`, and `end`; nothing if it is not there.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view end) {
    const std::size_t at = text.find(end);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view taken = text.substr(0, at);
    text.remove_prefix(at + end.size());
    return taken;
}

void skip_blanks(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

/// Removes blanks and `begin`; false if something else is there.
bool take_begin(std::string_view& text, std::string_view begin) {
    skip_blanks(text);
    if (!text.starts_with(begin)) return false;
    text.remove_prefix(begin.size());
    return true;
}

/// The function of "\t.section\t.text.NAME,…".
std::optional<std::string> function_of(std::string_view line) {
    if (!take_begin(line, ".section\t.text.")) return std::nullopt;
    const auto name = take_until(line, ",");
    if (!name) return std::nullopt;
    return std::string(*name);
}

/// The place of "//## File "NAME", line N…".
std::optional<model::SourcePlace> place_of(std::string_view line) {
    if (!take_begin(line, "//## File \"")) return std::nullopt;
    const auto file = take_until(line, "\", line ");
    if (!file) return std::nullopt;
    model::SourcePlace place;
    place.file = std::filesystem::path(*file).lexically_normal().generic_string();
    const auto read = std::from_chars(line.data(), line.data() + line.size(), place.line);
    if (read.ec != std::errc{} || place.line <= 0) return std::nullopt;
    return place;
}

/// The opcode of "/*0150*/  @!P1 LDG.E.128 R12, …"; with older architectures after a brace.
std::optional<std::string> opcode_of(std::string_view line) {
    if (!take_begin(line, "/*") || !take_until(line, "*/")) return std::nullopt;
    line.remove_prefix(std::min(line.find_first_not_of(" \t{"), line.size()));
    if (line.starts_with("@")) {
        if (!take_until(line, " ")) return std::nullopt;
        skip_blanks(line);
    }
    const std::string_view opcode = line.substr(0, line.find_first_of(" \t;"));
    const auto belongs = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_';
    };
    if (opcode.empty() || opcode.size() > longest_opcode ||
        !std::all_of(opcode.begin(), opcode.end(), belongs)) {
        return std::nullopt;
    }
    return std::string(opcode);
}

/// The innermost place in the folder, else the outermost; `places` begin with the innermost.
model::SourcePlace shown_place(const std::vector<model::SourcePlace>& places,
                               const std::filesystem::path& folder) {
    for (const model::SourcePlace& each : places) {
        model::SourcePlace place = model::relative_to(folder, each);
        if (model::lies_inside(place)) return place;
    }
    return places.empty() ? model::SourcePlace{} : places.back();
}

struct Counts {
    std::int64_t all = 0;
    std::map<std::pair<std::string, std::int64_t>, std::int64_t> by_place;
};

InstructionUse use_of(const Counts& counts) {
    InstructionUse use{counts.all, {}};
    std::int64_t most = 0;
    for (const auto& [place, count] : counts.by_place) {
        if (count <= most) continue;
        most = count;
        use.place = {place.first, place.second};
    }
    return use;
}

}  // namespace

std::map<std::string, Instructions> read_listing(std::string_view listing,
                                                 const std::filesystem::path& folder) {
    std::map<std::string, std::map<std::string, Counts>> functions;
    std::map<std::string, Counts>* function = nullptr;
    std::vector<model::SourcePlace> places;
    model::SourcePlace shown;
    bool in_places = false;  // successive lines name one place and what it is inlined in
    while (!listing.empty()) {
        const std::size_t end = std::min(listing.find('\n'), listing.size());
        const std::string_view line = listing.substr(0, end);
        listing.remove_prefix(std::min(end + 1, listing.size()));
        if (const auto name = function_of(line)) {
            function = &functions[*name];
            places.clear();
            shown = {};
        }
        if (auto place = place_of(line)) {
            if (!in_places) places.clear();
            in_places = true;
            places.push_back(*std::move(place));
            continue;
        }
        if (in_places) shown = shown_place(places, folder);
        in_places = false;
        const auto opcode = opcode_of(line);
        if (!opcode || function == nullptr || *opcode == "NOP") continue;
        Counts& counts = (*function)[*opcode];
        ++counts.all;
        if (shown.line > 0) ++counts.by_place[{shown.file, shown.line}];
    }
    std::map<std::string, Instructions> result;
    for (const auto& [name, opcodes] : functions) {
        for (const auto& [opcode, counts] : opcodes) result[name][opcode] = use_of(counts);
    }
    return result;
}

}  // namespace perfgate::elf
