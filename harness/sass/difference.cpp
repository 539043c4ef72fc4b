// SPDX-License-Identifier: Apache-2.0
#include "sass/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <unordered_map>

#include "elf/instruction_listing.hpp"

namespace perfgate::sass {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
using model::SourcePlace;

constexpr std::size_t most_named = 6;

std::vector<Normalised> normalised(const model::Listing& listing) {
    std::vector<Normalised> all;
    all.reserve(listing.instructions.size());
    for (const model::Instruction& each : listing.instructions) all.push_back(normalise(each));
    return all;
}

/// Equal numbers for equal keys.
std::vector<int> numbers_of(const std::vector<Normalised>& all,
                            std::unordered_map<std::string, int>& known) {
    std::vector<int> numbers;
    numbers.reserve(all.size());
    for (const Normalised& each : all) {
        numbers.push_back(known.emplace(each.key, static_cast<int>(known.size())).first->second);
    }
    return numbers;
}

std::vector<Row> rows_of(const Pairs& pairs, const std::vector<bool>& operands,
                         std::size_t before_size, std::size_t after_size) {
    std::vector<Row> rows;
    std::size_t left = 0, right = 0;
    const auto take_unpaired = [&](std::size_t before_end, std::size_t after_end) {
        for (; left < before_end; ++left) rows.push_back({Mark::removed, left, std::nullopt});
        for (; right < after_end; ++right) rows.push_back({Mark::added, std::nullopt, right});
    };
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        take_unpaired(pairs[i].first, pairs[i].second);
        rows.push_back({operands[i] ? Mark::operands : Mark::same, left++, right++});
    }
    take_unpaired(before_size, after_size);
    return rows;
}

std::int64_t size_of(const Count& count) {
    return std::abs(count.after - count.before);
}

void sort_by_size(std::vector<Count>& counts) {
    std::ranges::stable_sort(counts, [](const Count& left, const Count& right) {
        return size_of(left) > size_of(right);
    });
}

std::vector<Count> changed_opcodes(const model::Listing& before, const model::Listing& after) {
    const auto was = elf::instruction_uses(before), is = elf::instruction_uses(after);
    std::map<std::string, Count> counts;
    for (const auto& [opcode, use] : was) counts[opcode] = {opcode, use.count, 0, {}};
    for (const auto& [opcode, use] : is) {
        Count& count = counts.try_emplace(opcode, Count{opcode, 0, 0, {}}).first->second;
        count.after = use.count;
        if (count.after > count.before) count.place = use.place;
    }
    std::vector<Count> changed;
    for (auto& [opcode, count] : counts) {
        if (count.before != count.after) changed.push_back(std::move(count));
    }
    sort_by_size(changed);
    return changed;
}

std::vector<Count> class_counts(const model::Listing& before, const model::Listing& after) {
    std::map<std::string_view, Count> counts;
    for (const model::Instruction& each : before.instructions) {
        ++counts[class_of(elf::opcode_of(each))].before;
    }
    for (const model::Instruction& each : after.instructions) {
        ++counts[class_of(elf::opcode_of(each))].after;
    }
    std::vector<Count> all;
    for (const std::string_view name : instruction_classes()) {
        const auto found = counts.find(name);
        if (found == counts.end()) continue;
        found->second.name = name;
        all.push_back(std::move(found->second));
    }
    return all;
}

std::vector<Line> lines_of(const model::Listing& before, const model::Listing& after,
                           const std::vector<Row>& rows) {
    // A line of the base belongs to the line that most of its instructions are paired with.
    std::map<SourcePlace, std::map<SourcePlace, std::int64_t>> partners;
    for (const Row& row : rows) {
        if (!row.before || !row.after) continue;
        const SourcePlace& left = before.instructions[*row.before].place;
        const SourcePlace& right = after.instructions[*row.after].place;
        if (left.line > 0 && right.line > 0) ++partners[left][right];
    }
    std::map<SourcePlace, SourcePlace> partner_of;
    for (const auto& [left, counts] : partners) {
        partner_of[left] = std::ranges::max_element(counts, [](auto& a, auto& b) {
                               return a.second < b.second;
                           })->first;
    }
    struct Found {
        Line line;
        std::map<std::string, Count> opcodes;
        std::map<std::string, Executions> executed;
    };
    const std::vector<model::Samples> caused_before = samples_by_cause(before),
                                      caused_after = samples_by_cause(after);
    // By the head's place; one that only the base has is apart from those.
    std::map<std::pair<bool, SourcePlace>, Found> lines;
    const auto of_before = [&](const model::Instruction& instruction) -> Found& {
        const auto partner = partner_of.find(instruction.place);
        Found& found = partner == partner_of.end() ? lines[{true, instruction.place}]
                                                   : lines[{false, partner->second}];
        if (found.line.before.line == 0) found.line.before = instruction.place;
        return found;
    };
    const auto of_after = [&](const model::Instruction& instruction) -> Found& {
        Found& found = lines[{false, instruction.place}];
        found.line.after = instruction.place;
        return found;
    };
    for (const Row& row : rows) {
        if (row.before) {
            const model::Instruction& instruction = before.instructions[*row.before];
            if (instruction.place.line > 0) {
                Found& found = of_before(instruction);
                ++found.line.instructions_before;
                found.line.samples_before.add(instruction.samples);
                found.line.caused_before.add(caused_before[*row.before]);
                const std::string opcode(elf::opcode_of(instruction));
                ++found.opcodes[opcode].before;
                Executions& executed = found.executed[opcode];
                ++executed.instructions_before;
                executed.before += instruction.executed.value_or(0);
                if (row.mark != Mark::same) ++found.line.changed;
            }
        }
        if (row.after) {
            const model::Instruction& instruction = after.instructions[*row.after];
            if (instruction.place.line > 0) {
                Found& found = of_after(instruction);
                ++found.line.instructions_after;
                found.line.samples_after.add(instruction.samples);
                found.line.caused_after.add(caused_after[*row.after]);
                const std::string opcode(elf::opcode_of(instruction));
                ++found.opcodes[opcode].after;
                Executions& executed = found.executed[opcode];
                ++executed.instructions_after;
                executed.after += instruction.executed.value_or(0);
                if (row.mark == Mark::added) ++found.line.changed;
            }
        }
    }
    std::vector<Line> all;
    for (auto& [place, found] : lines) {
        for (auto& [opcode, count] : found.opcodes) {
            count.name = opcode;
            if (count.before != count.after) found.line.opcodes.push_back(std::move(count));
        }
        sort_by_size(found.line.opcodes);
        for (auto& [opcode, executed] : found.executed) {
            if (executed.before == 0 || executed.after == 0) continue;
            if (executed.before == executed.after) continue;
            executed.opcode = opcode;
            found.line.executed.push_back(std::move(executed));
        }
        all.push_back(std::move(found.line));
    }
    std::ranges::stable_sort(all, std::greater{}, &Line::changed);
    return all;
}

std::string at(const SourcePlace& place) {
    return place.line > 0 ? fmt::format(" at {}:{}", place.file, place.line) : "";
}

std::string opcode_and_place(const model::Instruction& instruction) {
    return std::string(elf::opcode_of(instruction)) + at(instruction.place);
}

/// Rows that are there on both sides, if one looks past their place or their operands.
struct Rest {
    std::int64_t moved = 0;     ///< the same instruction elsewhere
    std::int64_t changed = 0;   ///< another operand of the same opcode
    std::int64_t operands = 0;  ///< rows that are marked so
    std::string first_moved, first_changed, first_operands;
};

Rest rest_of(const Side& before, const Side& after, const std::vector<Row>& rows) {
    Rest rest;
    // Instructions of one opcode that take each other's place: where rows before and after agree.
    for (std::size_t begin = 0; begin < rows.size();) {
        if (rows[begin].mark != Mark::removed && rows[begin].mark != Mark::added) {
            if (rows[begin].mark == Mark::operands) {
                const model::Instruction& it = after.listing.instructions[*rows[begin].after];
                if (rest.operands++ == 0) rest.first_operands = opcode_and_place(it);
            }
            ++begin;
            continue;
        }
        std::size_t end = begin;
        std::map<std::string_view, std::vector<std::size_t>> removed;
        for (; end < rows.size() && rows[end].mark == Mark::removed; ++end) {
            const std::size_t i = *rows[end].before;
            removed[elf::opcode_of(before.listing.instructions[i])].push_back(i);
        }
        for (; end < rows.size() && rows[end].mark == Mark::added; ++end) {
            const model::Instruction& now = after.listing.instructions[*rows[end].after];
            const auto same = removed.find(elf::opcode_of(now));
            if (same == removed.end() || same->second.empty()) continue;
            const model::Instruction& was = before.listing.instructions[same->second.front()];
            same->second.erase(same->second.begin());
            if (rest.changed++ == 0) {
                rest.first_changed = fmt::format("{} → {}{}", was.text, now.text, at(now.place));
            }
        }
        begin = std::max(end, begin + 1);
    }
    std::unordered_map<std::string_view, std::int64_t> left_over;
    for (const Row& row : rows) {
        if (row.mark == Mark::removed) ++left_over[before.normalised[*row.before].key];
    }
    for (const Row& row : rows) {
        if (row.mark != Mark::added) continue;
        const auto found = left_over.find(after.normalised[*row.after].key);
        if (found == left_over.end() || found->second == 0) continue;
        --found->second;
        if (rest.moved++ == 0) {
            rest.first_moved = opcode_and_place(after.listing.instructions[*row.after]);
        }
    }
    return rest;
}

/// Loads, stores and atomics: few of them cost more than many other instructions.
bool accesses_memory(const Count& opcode) {
    return opcode.name.starts_with("LD") || opcode.name.starts_with("ST") ||
           opcode.name.starts_with("ATOM") || opcode.name.starts_with("RED");
}

std::string counts_text(std::vector<Count> opcodes) {
    std::stable_partition(opcodes.begin(), opcodes.end(), accesses_memory);
    std::string text;
    bool spills = false;
    for (std::size_t i = 0; i < std::min(opcodes.size(), most_named); ++i) {
        const Count& one = opcodes[i];
        text += fmt::format("{}{} {} → {}{}", i == 0 ? "" : ", ", one.name, one.before, one.after,
                            at(one.place));
        const bool spill =
            (one.name.starts_with("STL") || one.name.starts_with("LDL")) && one.after > one.before;
        if (spill && !spills) text += " (spills)";
        spills = spills || spill;
    }
    if (opcodes.size() > most_named) {
        text += fmt::format(" and {} more", opcodes.size() - most_named);
    }
    return text;
}

/// With the first of them if `first` is not empty.
void add_part(std::string& text, std::int64_t count, std::string_view what,
              const std::string& first) {
    if (count == 0) return;
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {}", count, what);
    if (!first.empty()) text += fmt::format(" ({}{})", count > 1 ? "first: " : "", first);
}

/// About the instructions of a line with the most executions more than before, at least 1 % of
/// the kernel's, where each of them is executed more often, too: what their number does not say.
/// Empty: there are none.
std::string executions_text(const model::Listing& before, const std::vector<Line>& lines) {
    constexpr double least_factor = 1.05, least_share = 0.01;
    const auto ratio = [](std::int64_t one, std::int64_t other) {
        return static_cast<double>(one) / static_cast<double>(other);
    };
    std::int64_t all = 0;
    for (const model::Instruction& each : before.instructions) all += each.executed.value_or(0);
    std::string text;
    std::int64_t most = 0;
    for (const Line& line : lines) {
        for (const Executions& one : line.executed) {
            const std::int64_t more = one.after - one.before;
            const double times = ratio(one.after, one.before);
            const double of_each = times / ratio(one.instructions_after, one.instructions_before);
            if (more <= most || std::min(times, of_each) < least_factor) continue;
            if (ratio(more, all) < least_share) continue;
            most = more;
            text = fmt::format("; {}{} is executed {:.2f} times as often", one.opcode,
                               at(line.after), times);
        }
    }
    return text;
}

std::string sentence_of(const std::vector<Count>& opcodes, const Rest& rest) {
    std::string text = counts_text(opcodes);
    const bool counted = !text.empty();
    const std::int64_t changed = std::max<std::int64_t>(rest.changed - rest.moved, 0);
    const auto first = [&](const std::string& one) { return counted ? std::string() : one; };
    add_part(text, changed, "with other operands", first(rest.first_changed));
    add_part(text, rest.moved, "in another order", first(rest.first_moved));
    add_part(text, rest.operands, "with operands or a target from elsewhere",
             first(rest.first_operands));
    if (text.empty()) {
        text = "the same instructions in the same order: registers, addresses and encodings differ";
    }
    return text;
}

}  // namespace

Difference difference(const model::Listing& before, const model::Listing& after) {
    const std::vector<Normalised> was = normalised(before), is = normalised(after);
    std::unordered_map<std::string, int> known;
    const std::vector<int> left = numbers_of(was, known), right = numbers_of(is, known);
    const Pairs pairs = align(left, right);
    const Side before_side{before, was}, after_side{after, is};
    Difference result;
    result.rows =
        rows_of(pairs, differing_operands(before_side, after_side, pairs), was.size(), is.size());
    result.classes = class_counts(before, after);
    result.opcodes = changed_opcodes(before, after);
    result.lines = lines_of(before, after, result.rows);
    result.sentence = sentence_of(result.opcodes, rest_of(before_side, after_side, result.rows)) +
                      executions_text(before, result.lines);
    return result;
}

std::vector<std::pair<std::size_t, std::size_t>> shown_parts(const Difference& difference,
                                                             std::size_t context) {
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    const std::vector<Row>& rows = difference.rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].mark == Mark::same) continue;
        const std::size_t begin = i - std::min(i, context);
        const std::size_t end = std::min(i + 1 + context, rows.size());
        if (!parts.empty() && begin <= parts.back().second) {
            parts.back().second = end;
        } else {
            parts.emplace_back(begin, end);
        }
    }
    return parts;
}

}  // namespace perfgate::sass
