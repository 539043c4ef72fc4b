// SPDX-License-Identifier: Apache-2.0
#include "elf/instruction_listing.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "model/case.hpp"

namespace perfgate::elf {

using model::Instruction;
using model::Listing;

namespace {

constexpr std::size_t longest_opcode = 64;
constexpr std::size_t longest_instruction = 1000;

/// Removes the text up to `end`, and `end`; nothing if it is not there.
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

/// The length of the predicate of "@!P1 LDG.E R12, …", with the blanks behind it; nothing if there
/// is nothing behind it.
std::optional<std::size_t> length_of_predicate(std::string_view text) {
    if (!text.starts_with("@")) return 0;
    const std::size_t end = text.find(' ');
    if (end == std::string_view::npos) return std::nullopt;
    const std::size_t next = text.find_first_not_of(" \t", end);
    if (next == std::string_view::npos) return std::nullopt;
    return next;
}

bool is_opcode(std::string_view text) {
    return !text.empty() && text.size() <= longest_opcode && std::ranges::all_of(text, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_';
    });
}

/// The instruction of "/*0150*/  @!P1 LDG.E.128 R12, … ;"; with older architectures in braces.
std::optional<Instruction> instruction_of(std::string_view line) {
    if (!take_begin(line, "/*")) return std::nullopt;
    const auto address = take_until(line, "*/");
    if (!address) return std::nullopt;
    Instruction instruction;
    const auto read = std::from_chars(address->data(), address->data() + address->size(),
                                      instruction.address, 16);
    if (read.ec != std::errc{} || read.ptr != address->data() + address->size() ||
        instruction.address < 0) {
        return std::nullopt;
    }
    line.remove_prefix(std::min(line.find_first_not_of(" \t{"), line.size()));
    const std::size_t last = line.find_last_not_of(" \t};\r");
    line = line.substr(0, last == std::string_view::npos ? 0 : last + 1);
    if (line.size() > longest_instruction ||
        !std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; })) {
        return std::nullopt;
    }
    instruction.text = line;
    if (!length_of_predicate(line) || !is_opcode(opcode_of(instruction))) return std::nullopt;
    return instruction;
}

/// The label of ".L_x_14:".
std::optional<std::string> label_of(std::string_view line) {
    if (!line.starts_with(".L")) return std::nullopt;
    const std::size_t end = line.find(':');
    if (end == std::string_view::npos || !is_opcode(line.substr(0, end))) return std::nullopt;
    return std::string(line.substr(0, end));
}

/// The section of a function; nothing if the listing has none.
std::optional<std::string_view> section_of(std::string_view listing, std::string_view symbol) {
    constexpr std::string_view section = "\t.section\t";
    std::string begin{section};
    begin.append(".text.").append(symbol).append(",");
    std::size_t at = 0;
    while (at != std::string_view::npos && !listing.substr(at).starts_with(begin)) {
        at = listing.find('\n' + begin, at);
        if (at != std::string_view::npos) ++at;
    }
    if (at == std::string_view::npos) return std::nullopt;
    const std::string next = '\n' + std::string(section);
    const std::size_t end = listing.find(next, at);
    return listing.substr(at, end == std::string_view::npos ? end : end - at);
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
    std::map<model::SourcePlace, std::int64_t> by_place;
};

InstructionUse use_of(const Counts& counts) {
    InstructionUse use{counts.all, {}};
    std::int64_t most = 0;
    for (const auto& [place, count] : counts.by_place) {
        if (count <= most) continue;
        most = count;
        use.place = place;
    }
    return use;
}

}  // namespace

std::optional<Listing> read_listing(std::string_view text, std::string_view symbol,
                                    const std::filesystem::path& folder) {
    const auto found = section_of(text, symbol);
    if (!found) return std::nullopt;
    std::string_view lines = *found;
    Listing listing;
    std::vector<model::SourcePlace> places;
    model::SourcePlace shown;
    bool in_places = false;  // successive lines name one place and what it is inlined in
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        const std::string_view line = lines.substr(0, end);
        lines.remove_prefix(std::min(end + 1, lines.size()));
        if (auto place = place_of(line)) {
            if (!in_places) places.clear();
            in_places = true;
            places.push_back(*std::move(place));
            continue;
        }
        if (in_places) shown = shown_place(places, folder);
        in_places = false;
        if (auto label = label_of(line)) {
            listing.labels.emplace(*std::move(label), listing.instructions.size());
            continue;
        }
        auto instruction = instruction_of(line);
        if (!instruction || opcode_of(*instruction) == "NOP") continue;
        instruction->place = shown;
        listing.instructions.push_back(*std::move(instruction));
    }
    return listing;
}

std::string_view opcode_of(const Instruction& instruction) {
    std::string_view text = instruction.text;
    text.remove_prefix(length_of_predicate(text).value_or(text.size()));
    return text.substr(0, text.find_first_of(" \t;"));
}

std::map<std::string, InstructionUse> instruction_uses(const Listing& listing) {
    std::map<std::string, Counts> counts;
    for (const Instruction& instruction : listing.instructions) {
        Counts& of_opcode = counts[std::string(opcode_of(instruction))];
        ++of_opcode.all;
        if (instruction.place.line > 0) ++of_opcode.by_place[instruction.place];
    }
    std::map<std::string, InstructionUse> uses;
    for (const auto& [opcode, each] : counts) uses[opcode] = use_of(each);
    return uses;
}

}  // namespace perfgate::elf
