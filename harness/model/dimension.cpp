// SPDX-License-Identifier: Apache-2.0
#include "model/dimension.hpp"

#include <fmt/format.h>

#include <array>

namespace perfgate::model {

namespace {

struct Row {
    std::string_view unit;
    Dimension dimension;
    double scale;
    std::string_view words;
};

// The first row of a dimension is the unit that its values are reported in.
constexpr std::array table{
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
    for (const Row& row : table) {
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
    for (const Row& row : table) {
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
