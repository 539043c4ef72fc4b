// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "baseline/diff.hpp"
#include "cli/terminal/texts.hpp"
#include "model/quantity.hpp"
#include "report/columns.hpp"
#include "util/text.hpp"

namespace perfgate::cli {
namespace {

std::string change_line(const baseline::MetricChange& change) {
    if (!change.note.empty()) return change.note;
    if (!change.change || !change.before || !change.after) return {};
    return model::moved_text(*change.before, *change.after, change.after_unit);
}

model::QuantityTexts value_texts(const baseline::MetricChange& change) {
    if (change.before && change.after && change.before_unit == change.after_unit) {
        return model::quantity_texts(*change.before, *change.after, change.after_unit);
    }
    const auto text = [](const std::optional<double>& value, const std::string& unit) {
        return value ? model::quantity_text(*value, unit) : std::string("absent");
    };
    return {text(change.before, change.before_unit), text(change.after, change.after_unit)};
}

std::string diff_text(const baseline::BaselineDiff& difference) {
    std::string text;
    for (const std::string& id : difference.removed) {
        text += fmt::format("\n{}\n  only in the stored baseline\n", util::printable(id));
    }
    for (const std::string& id : difference.added) {
        text += fmt::format("\n{}\n  not in the stored baseline\n", util::printable(id));
    }
    for (auto change = difference.changes.begin(); change != difference.changes.end();) {
        const std::string& id = change->id;
        std::vector<std::vector<std::string>> rows;
        for (; change != difference.changes.end() && change->id == id; ++change) {
            const model::QuantityTexts values = value_texts(*change);
            rows.push_back({util::printable(change->metric), values.before + " → " + values.after,
                            change_line(*change)});
        }
        text += fmt::format("\n{}\n{}", util::printable(id), report::table(rows));
    }
    return text;
}

}  // namespace

std::string stored_diff_text(const runner::StoredDiff& result) {
    const baseline::BaselineDiff& difference = result.difference;
    return fmt::format("{}{}: metrics: {} changed, {} unchanged; cases: {} new{}\n{}",
                       util::printable(result.file), result.stored ? "" : " (does not exist)",
                       difference.changes.size(), difference.unchanged, difference.added.size(),
                       result.partial ? "" : fmt::format(", {} gone", difference.removed.size()),
                       diff_text(difference));
}

}  // namespace perfgate::cli
