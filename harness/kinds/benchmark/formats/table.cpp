// SPDX-License-Identifier: Apache-2.0
#include "kinds/benchmark/formats/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "model/unit.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

/// "column time", or the path as it is.
std::string in_words(const std::string& place) {
    const std::string text = util::printable(place, 80);
    return place.starts_with('/') ? '\'' + text + '\'' : "column " + text;
}

std::string plain_text(const model::ParamValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : model::to_text(value);
}

[[noreturn]] void refuse(const std::string& at, const std::string& why) {
    throw util::InputError("{}: {}", at, why);
}

/// "1,234,567.8" without its commas; nothing if they do not separate thousands.
std::optional<std::string> without_thousands(std::string_view text) {
    std::string digits;
    std::size_t group = 0;  // digits since the last comma
    bool any = false;
    const std::string_view whole = text.substr(0, text.find_first_of(".eE"));
    for (const char c : whole) {
        if (c == ',') {
            if (any ? group != 3 : group == 0 || group > 3) return std::nullopt;
            any = true;
            group = 0;
        } else {
            digits += c;
            if (c >= '0' && c <= '9') ++group;
        }
    }
    if (any && group != 3) return std::nullopt;
    return digits.append(text.substr(whole.size()));
}

}  // namespace

std::optional<double> number_in(std::string_view text, bool thousands) {
    std::string plain;
    if (thousands) {
        auto without = without_thousands(text);
        if (!without) return std::nullopt;
        plain = *std::move(without);
        text = plain;
    }
    if (text.starts_with('+')) text.remove_prefix(1);
    return util::parsed<double>(text);
}

Places::Places(const Layout& reading, const KnownRows* known) {
    const auto add = [&](const std::string& place) {
        if (std::ranges::find(all_, place) == all_.end()) all_.push_back(place);
    };
    if (!reading.name.empty()) add(reading.name);
    for (const auto& [axis, place] : reading.axes) add(place);
    for (const Value& value : reading.values) {
        add(value.from);
        if (!value.unit_from.empty()) add(value.unit_from);
        for (const auto& [place, text] : value.where) add(place);
    }
    for (const std::string& place : reading.samples) add(place);
    if (known == nullptr) return;
    for (const auto& [place, texts] : known->good) add(place);
    if (!known->equal) return;
    add(known->equal->first);
    add(known->equal->second);
}

std::size_t Places::index_of(const std::string& place) const {
    return static_cast<std::size_t>(std::ranges::find(all_, place) - all_.begin());
}

Table::Table(const Layout& reading, Numbers numbers, const KnownRows* known)
    : reading_(reading), numbers_(numbers), known_(known), places_(reading, known) {
    for (const Value& value : reading.values) {
        Column& column = columns_.emplace_back();
        column.from = places_.index_of(value.from);
        column.unit = places_.index_of(value.unit_from);
        column.words = in_words(value.from);
        for (const auto& [place, text] : value.where) {
            column.where.emplace_back(places_.index_of(place), text);
        }
    }
}

std::vector<std::size_t> Table::values_of(const Row& row) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const auto& where = columns_[i].where;
        const bool chosen = std::ranges::all_of(where, [&](const auto& condition) {
            const auto& values = row.cells[condition.first].values;
            return values.size() == 1 && plain_text(values.front()) == condition.second;
        });
        if (chosen) found.push_back(i);
    }
    return found;
}

const model::ParamValue& Table::only_one(const Row& row, std::size_t place) const {
    const std::vector<model::ParamValue>& values = row.cells[place].values;
    if (values.size() != 1) {
        refuse(row.at, fmt::format("'{}' leads to {} values; expected one",
                                   util::printable(places_.all()[place], 80), values.size()));
    }
    return values.front();
}

Table::Pending& Table::result_of(const Row& row) {
    std::string name = row.key.empty() ? only_result : row.key;
    if (!reading_.name.empty()) name = plain_text(only_one(row, places_.index_of(reading_.name)));
    ResultBuilder fresh(name);
    for (const auto& [axis, place] : reading_.axes) {
        const std::size_t index = places_.index_of(place);
        if (known_ != nullptr && row.cells[index].values.empty()) continue;
        const model::ParamValue& value = only_one(row, index);
        const auto* text = std::get_if<std::string>(&value);
        fresh.add_axis(axis, text != nullptr ? axis_value(*text) : value);
    }
    const auto [place, added] = by_id_.try_emplace(fresh.id(), results_.size());
    if (added) {
        results_.push_back({std::move(fresh), {}});
        results_.back().values.resize(columns_.size());
    }
    return results_[place->second];
}

double Table::factor_of(const Row& row, std::size_t value) const {
    const Value& stated = reading_.values[value];
    if (stated.unit_from.empty()) return stated.factor;
    const std::string text = plain_text(only_one(row, columns_[value].unit));
    const auto unit = model::reported_unit(text);
    if (unit && unit->base == stated.definition.unit) return unit->factor;
    const std::string expected = model::units_for(stated.definition.unit);
    refuse(row.at, fmt::format("{} is in '{}'; expected {}: choose its rows with 'where'",
                               stated.definition.name, util::printable(text, 40),
                               expected.empty() ? stated.definition.unit : expected));
}

/// Rows of one result are repetitions, which differ only in what the layout names as such.
void Table::require_same(const Row& row, const Row& first, const Pending& result) const {
    std::vector<std::string> differing;
    std::map<std::string_view, std::string_view> before;
    for (const OtherField& field : first.others) before.emplace(field.name, field.text);
    for (const OtherField& field : row.others) {
        const auto found = before.find(field.name);
        if (found == before.end() || found->second != field.text) {
            differing.emplace_back(field.name);
        }
        if (found != before.end()) before.erase(found);
    }
    for (const auto& [name, text] : before) differing.emplace_back(name);
    if (differing.empty()) return;
    constexpr std::size_t most = 10;
    if (differing.size() > most) differing.resize(most);
    for (std::string& name : differing) name = util::printable(name, 80);
    refuse(row.at,
           fmt::format("{} is already at {}, which differs in {}: name what tells cases apart in "
                       "'axes', and what tells the repetitions of one case apart in 'samples'",
                       result.builder.words(), first.at, fmt::join(differing, ", ")));
}

void Table::add_value(const std::shared_ptr<const Row>& shared, std::size_t value,
                      Pending& result) {
    const Row& row = *shared;
    const Value& stated = reading_.values[value];
    const Column& column = columns_[value];
    const Cell& cell = row.cells[column.from];
    std::optional<Seen>& seen = result.values[value];
    if (!seen) {
        seen = Seen{shared, {}, {}};
    } else {
        require_same(row, *seen->first, result);
    }
    const auto is_empty = [](const model::ParamValue& each) {
        const auto* text = std::get_if<std::string>(&each);
        return text != nullptr && text->empty();
    };
    const bool absent = cell.values.empty() || std::ranges::all_of(cell.values, is_empty);
    std::string& first = absent ? seen->first_without : seen->first_with;
    if (first.empty()) first = row.at;
    if (absent) return;
    if (!cell.lacks.empty()) {
        result.builder.fail(
            "{}: {} has no value here, but has values elsewhere in the row: each sample needs one",
            cell.lacks, column.words);
        return;
    }
    if (cell.is_part) {
        result.builder.fail("{}: '{}' in {} is a part of a number: the group must match all of it",
                            row.at, util::printable(plain_text(cell.values.front()), 40),
                            column.words);
        return;
    }
    const double factor = factor_of(row, value);
    const bool is_time = stated.definition.metric_class == model::MetricClass::timing;
    for (const model::ParamValue& each : cell.values) {
        std::optional<double> number;
        if (const auto* integer = std::get_if<std::int64_t>(&each)) {
            number = static_cast<double>(*integer);
        } else if (const auto* real = std::get_if<double>(&each)) {
            number = *real;
        } else if (const auto* text = std::get_if<std::string>(&each)) {
            if (numbers_ != Numbers::are_numbers) {
                number = number_in(*text, numbers_ == Numbers::are_text_with_thousands);
            }
        }
        if (!number) {
            result.builder.fail("{}: '{}' in {} is no number", row.at,
                                util::printable(plain_text(each), 40), column.words);
            return;
        }
        if (!is_time && std::fabs(*number) >= 0x1p53) {
            result.builder.fail("{}: '{}' in {} is not below 2^53: its last digits would be lost",
                                row.at, util::printable(plain_text(each), 40), column.words);
            return;
        }
        result.builder.add(stated.definition.name, {reading_.format, ""}, factor * *number,
                           is_time);
    }
}

void Table::note_texts(const Row& row) {
    for (const OtherField& field : row.others) {
        if (field.is_number || field.text.empty()) continue;
        const auto [found, added] =
            texts_.try_emplace(std::string(field.name), Text{field.text, row.at, {}, {}});
        Text& text = found->second;
        if (added || text.first == field.text || !text.other_at.empty()) continue;
        text.other = field.text;
        text.other_at = row.at;
    }
}

void Table::require_good(const Row& row, Pending& result) const {
    if (known_ == nullptr) return;
    for (const auto& [place, texts] : known_->good) {
        for (const model::ParamValue& value : row.cells[places_.index_of(place)].values) {
            const std::string text = plain_text(value);
            if (text.empty() || std::ranges::find(texts, text) != texts.end()) {
                continue;
            }
            result.builder.fail("{}: {} is '{}'; expected {}", row.at, place,
                                util::printable(text, 80), fmt::join(texts, " or "));
        }
    }
    if (!known_->equal) return;
    const bool says_whether_good = std::ranges::any_of(known_->good, [&](const auto& good) {
        return !row.cells[places_.index_of(good.first)].values.empty();
    });
    if (says_whether_good) return;
    const auto& [one, other] = *known_->equal;
    const auto& left = row.cells[places_.index_of(one)].values;
    const auto* count = left.empty() ? nullptr : std::get_if<std::int64_t>(&left.front());
    if (count != nullptr && *count <= 0) return;
    const auto& right = row.cells[places_.index_of(other)].values;
    if (left.empty() || left == right) return;
    const std::string then = right.empty() ? "absent" : plain_text(right.front());
    result.builder.fail("{}: {} is {}, and {} is {}; expected the same", row.at, one,
                        util::printable(plain_text(left.front()), 40), other,
                        util::printable(then, 40));
}

void Table::note_device(const Row& row) {
    for (const auto& [name, before] : known_->device) {
        const auto field = std::ranges::find(row.others, name, &OtherField::name);
        if (field == row.others.end() || field->text.empty()) continue;
        devices_.insert(before + field->text);
        return;
    }
}

void Table::add(Row row) {
    const std::vector<std::size_t> values = values_of(row);
    if (values.empty()) {
        if (known_ == nullptr && rows_left_out_++ == 0) first_left_out_ = row.at;
        return;
    }
    if (known_ == nullptr) note_texts(row);
    if (known_ != nullptr) note_device(row);
    if (known_ != nullptr && known_->all_are_repetitions) row.others.clear();
    Pending& result = result_of(row);
    require_good(row, result);
    const auto shared = std::make_shared<const Row>(std::move(row));
    for (const std::size_t value : values) add_value(shared, value, result);
}

/// What 'unit' says in all rows, or for one value 'time_unit' or 'Time Unit' beside 'time': not the
/// unit of another factor than the suite states.
void Table::require_stated_units() const {
    for (const auto& [name, text] : texts_) {
        const std::string column = util::slug(name);
        std::string_view of = column;
        if (of.ends_with('s')) of.remove_suffix(1);
        if (!of.ends_with("unit")) continue;
        of.remove_suffix(std::string_view("unit").size());
        if (of.ends_with('-')) of.remove_suffix(1);
        const auto unit = model::reported_unit(text.first);
        if (!unit) continue;
        std::string other;
        bool stated = false;
        for (const Value& value : reading_.values) {
            if (!value.unit_from.empty() || value.definition.unit != unit->base) continue;
            if (!of.empty() && of != util::slug(value.from) &&
                of != util::slug(value.definition.name)) {
                continue;
            }
            stated = stated || value.factor == unit->factor;
            other = value.definition.name;
        }
        if (stated || other.empty()) continue;
        refuse(text.at, fmt::format("{} is '{}', and the suite states another unit of {}: correct "
                                    "it, or have it read there ('unit: {{from: …}}')",
                                    in_words(name), util::printable(text.first, 40), other));
    }
}

Results Table::take() {
    for (const auto& [name, text] : texts_) {
        if (text.other_at.empty()) continue;
        refuse(
            text.other_at,
            fmt::format(
                "{} is '{}', and '{}' at {}, and the suite does not say what that means: name it "
                "in 'axes', 'where' or 'unit', or in 'samples' if it is no part of a case's name",
                in_words(name), util::printable(text.other, 40), util::printable(text.first, 40),
                text.at));
    }
    require_stated_units();
    Results taken;
    taken.device = fmt::format("{}", fmt::join(devices_, "; "));
    for (const auto& [name, text] : texts_) taken.constants.emplace(name, text.first);
    if (rows_left_out_ > 0) {
        taken.notes.push_back(fmt::format("{} of the file match no 'where', the first at {}",
                                          util::counted(rows_left_out_, "row"), first_left_out_));
    }
    for (Pending& pending : results_) {
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const std::optional<Seen>& seen = pending.values[i];
            if (!seen || seen->first_with.empty() || seen->first_without.empty()) continue;
            // A result may lack a value, but not in some of its rows: the others may be the fast
            // ones.
            pending.builder.fail(
                "{}: no value in {}, which {} of the same case has: write it in each row, or tell "
                "the cases apart ('case', 'axes')",
                seen->first_without, columns_[i].words, seen->first_with);
        }
        taken.results.push_back(pending.builder.take());
    }
    return taken;
}

}  // namespace perfgate::benchmark
