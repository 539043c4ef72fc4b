// SPDX-License-Identifier: Apache-2.0
#include "model/unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace perfgate::model {

namespace {

constexpr double kibi = 1024;

constexpr std::array table{
    Unit{"%", "%", 1},
    Unit{"pt", "%", 1},  // percentage points
    Unit{"ns", "ns", 1},
    Unit{"us", "ns", 1e3},
    Unit{"ms", "ns", 1e6},
    Unit{"s", "ns", 1e9},
    Unit{"B", "bytes", 1},
    Unit{"KiB", "bytes", kibi},
    Unit{"MiB", "bytes", kibi* kibi},
    Unit{"GiB", "bytes", kibi* kibi* kibi},
    Unit{"KB", "bytes", 1e3},
    Unit{"kB", "bytes", 1e3},
    Unit{"MB", "bytes", 1e6},
    Unit{"GB", "bytes", 1e9},
    Unit{"Hz", "Hz", 1},
    Unit{"kHz", "Hz", 1e3},
    Unit{"MHz", "Hz", 1e6},
    Unit{"GHz", "Hz", 1e9},
    Unit{"B/s", "bytes/s", 1},
    Unit{"KiB/s", "bytes/s", kibi},
    Unit{"MiB/s", "bytes/s", kibi* kibi},
    Unit{"GiB/s", "bytes/s", kibi* kibi* kibi},
    Unit{"TiB/s", "bytes/s", kibi* kibi* kibi* kibi},
    Unit{"kB/s", "bytes/s", 1e3},
    Unit{"KB/s", "bytes/s", 1e3},
    Unit{"MB/s", "bytes/s", 1e6},
    Unit{"GB/s", "bytes/s", 1e9},
    Unit{"TB/s", "bytes/s", 1e12},
    Unit{"flop/s", "flop/s", 1},
    Unit{"Mflop/s", "flop/s", 1e6},
    Unit{"Gflop/s", "flop/s", 1e9},
    Unit{"Tflop/s", "flop/s", 1e12},
    Unit{"Pflop/s", "flop/s", 1e15},
    Unit{"FLOP/s", "flop/s", 1},
    Unit{"kFLOP/s", "flop/s", 1e3},
    Unit{"KFLOP/s", "flop/s", 1e3},
    Unit{"MFLOP/s", "flop/s", 1e6},
    Unit{"GFLOP/s", "flop/s", 1e9},
    Unit{"TFLOP/s", "flop/s", 1e12},
    Unit{"PFLOP/s", "flop/s", 1e15},
    Unit{"uJ", "J", 1e-6},
    Unit{"mJ", "J", 1e-3},
    Unit{"J", "J", 1},
    Unit{"W", "W", 1},
    Unit{"Gflop/J", "flop/J", 1e9},
    Unit{"Tflop/J", "flop/J", 1e12},
    Unit{"GB/J", "bytes/J", 1e9},
};

/// What programs write in place of the table's names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> spellings{
    {{"\xC2\xB5", "u"},  // micro sign
     {"\xCE\xBC", "u"},  // Greek mu
     {"seconds", "s"},
     {"second", "s"},
     {"sec", "s"},
     {"bytes", "B"},
     {"byte", "B"}}};

std::string as_in_table(std::string_view text) {
    std::string name(text);
    for (const auto& [written, meant] : spellings) {
        for (std::size_t at = name.find(written); at != std::string::npos;
             at = name.find(written, at + meant.size())) {
            name.replace(at, written.size(), meant);
        }
    }
    return name;
}

bool is_rate(std::string_view text) {
    constexpr std::size_t longest = 40;
    constexpr std::string_view per_second = "/s";
    if (text.size() > longest || !text.ends_with(per_second)) return false;
    text.remove_suffix(per_second.size());
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

}  // namespace

std::span<const Unit> units() {
    return table;
}

const Unit* find_unit(std::string_view suffix) {
    const auto* const found = std::ranges::find(table, suffix, &Unit::suffix);
    return found == table.end() ? nullptr : found;
}

std::optional<ReportedUnit> reported_unit(std::string_view text) {
    const std::array names{std::string(text), as_in_table(text)};
    for (const std::string& name : names) {
        if (const Unit* known = find_unit(name)) {
            return ReportedUnit{std::string(known->base), known->factor};
        }
    }
    for (const std::string& name : names) {
        if (is_rate(name)) return ReportedUnit{name, 1};
    }
    return std::nullopt;
}

std::string units_for(std::string_view base) {
    std::string text;
    for (const Unit& known : table) {
        if (known.base != base) continue;
        if (!text.empty()) text += ", ";
        text += known.suffix;
    }
    return text;
}

namespace {

struct Row {
    std::string_view unit;
    Dimension dimension;
    double scale;
    std::string_view words;
};

// The first row of a dimension is the unit that its values are reported in.
constexpr std::array dimensions{
    Row{"", {0, 0, 0}, 1, "a plain number"},
    Row{"%", {0, 0, 0}, 0.01, "a plain number"},
    Row{"ns", {1, 0, 0}, 1e-9, "a time"},
    Row{"Hz", {-1, 0, 0}, 1, "a frequency"},
    Row{"bytes", {0, 1, 0}, 1, "bytes"},
    Row{"bytes/s", {-1, 1, 0}, 1, "bytes per time"},
    Row{"flop", {0, 0, 1}, 1, "operations"},
    Row{"flop/s", {-1, 0, 1}, 1, "operations per time"},
    Row{"flop/byte", {0, -1, 1}, 1, "operations per byte"},
    Row{"J", {0, 0, 0, 1}, 1, "an energy"},
    Row{"W", {-1, 0, 0, 1}, 1, "a power"},
    Row{"flop/J", {0, 0, 1, -1}, 1, "operations per energy"},
    Row{"bytes/J", {0, 1, 0, -1}, 1, "bytes per energy"},
};

const Row* find_row(const Dimension& dimension) {
    for (const Row& row : dimensions) {
        if (row.dimension == dimension) return &row;
    }
    return nullptr;
}

std::string spelled(const Dimension& dimension) {
    std::string text;
    const auto add = [&](std::string_view name, int power) {
        if (power == 0) return;
        if (!text.empty()) text += '*';
        text += power == 1 ? std::string(name) : fmt::format("{}^{}", name, power);
    };
    add("s", dimension.seconds);
    add("bytes", dimension.bytes);
    add("flop", dimension.flops);
    add("J", dimension.joules);
    return text;
}

}  // namespace

Dimension operator/(const Dimension& left, const Dimension& right) {
    return {left.seconds - right.seconds, left.bytes - right.bytes, left.flops - right.flops,
            left.joules - right.joules};
}

UnitMeaning meaning_of(std::string_view unit) {
    for (const Row& row : dimensions) {
        if (row.unit == unit) return {row.dimension, row.scale};
    }
    return {};
}

std::string unit_of(const Dimension& dimension) {
    const Row* row = find_row(dimension);
    return row != nullptr ? std::string(row->unit) : spelled(dimension);
}

std::string in_words(const Dimension& dimension) {
    const Row* row = find_row(dimension);
    return row != nullptr ? std::string(row->words) : spelled(dimension);
}

}  // namespace perfgate::model
