// SPDX-License-Identifier: Apache-2.0
#include "model/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::model {

namespace {

constexpr std::size_t most_choices = 100, longest_choice = 120, most_shown = 6;
constexpr std::string_view separator = ", ";

/// One word: no space, which ends a name, and no comma, which ends a choice.
std::string word_of(std::string_view text) {
    std::string word = util::printable(text, longest_choice);
    for (char& c : word) {
        if (c == ' ' || c == ',') c = '_';
    }
    return word.empty() ? "_" : word;
}

/// Adds to a list that is cut.
void append(const std::string& text, std::size_t number, std::string& list) {
    if (number < most_shown) list += (number == 0 ? "" : separator.data()) + text;
}

void close(std::size_t number, std::string& list) {
    if (number > most_shown) list += fmt::format(" and {} more", number - most_shown);
}

std::string value_in(const Choices& choices, const std::string& name) {
    const auto found = choices.find(name);
    return found == choices.end() ? "none" : found->second;
}

std::set<std::string> names_of(const std::vector<Choices>& all) {
    std::set<std::string> names;
    for (const Choices& each : all) {
        for (const auto& [name, value] : each) names.insert(name);
    }
    return names;
}

}  // namespace

MetricDefinition prepare_time_definition() {
    return {std::string(prepare_time),
            "time of compiling and autotuning, before a process measures",
            "ns",
            Direction::lower,
            MetricClass::timing,
            Fold::sum};
}

void add_choice(std::string_view name, std::string_view value, Choices& choices) {
    if (choices.size() < most_choices) choices.insert_or_assign(word_of(name), word_of(value));
}

std::string to_text(const Choices& choices) {
    std::string text;
    for (const auto& [name, value] : choices) {
        text += fmt::format("{}{} {}", text.empty() ? "" : separator, name, value);
    }
    return text;
}

Choices choices_in(std::string_view text) {
    Choices choices;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        const std::string_view one = text.substr(0, end);
        const std::size_t space = std::min(one.find(' '), one.size());
        add_choice(one.substr(0, space), one.substr(std::min(space + 1, one.size())), choices);
        text.remove_prefix(std::min(end + separator.size(), text.size()));
    }
    return choices;
}

std::string difference_of_choices(std::string_view before, std::string_view now) {
    const Choices was = choices_in(before), is = choices_in(now);
    std::string text;
    std::size_t differing = 0;
    for (const std::string& name : names_of({was, is})) {
        const std::string from = value_in(was, name), to = value_in(is, name);
        if (from == to) continue;
        append(fmt::format("{} {} → {}", name, from, to), differing++, text);
    }
    close(differing, text);
    return text;
}

std::string varying_choices(const MetricSeries& series) {
    std::vector<Choices> all;
    for (const Batch& batch : series.batches) {
        all.push_back(choices_in(batch.detail.empty() ? series.detail : batch.detail));
    }
    std::string text;
    std::size_t varying = 0;
    for (const std::string& name : names_of(all)) {
        std::map<std::string, std::size_t> processes;
        for (const Choices& each : all) ++processes[value_in(each, name)];
        if (processes.size() < 2) continue;
        std::vector<std::pair<std::size_t, std::string>> most;
        for (const auto& [value, count] : processes) most.emplace_back(count, value);
        std::ranges::stable_sort(most,
                                 [](const auto& a, const auto& b) { return a.first > b.first; });
        std::string values;
        for (std::size_t i = 0; i < most.size(); ++i) {
            append(i == 0 ? fmt::format("{} in {}", most[i].second,
                                        most[i].first == 1
                                            ? "1 process"
                                            : fmt::format("{} processes", most[i].first))
                          : fmt::format("{} in {}", most[i].second, most[i].first),
                   i, values);
        }
        close(most.size(), values);
        append(fmt::format("{} {}", name, values), varying++, text);
    }
    close(varying, text);
    return text;
}

std::string preparation_text(const MetricSeries& series) {
    double longest = series.value;
    for (const Batch& batch : series.batches) {
        for (const double sample : batch.samples) longest = std::max(longest, sample);
    }
    std::string text =
        fmt::format("compiled and tuned in {}{}", series.batches.size() > 1 ? "at most " : "",
                    quantity_text(longest, series.unit));
    std::string chosen = varying_choices(series);
    if (chosen.empty()) chosen = util::printable(series.detail, 300);
    return chosen.empty() ? text : text + ": " + chosen;
}

}  // namespace perfgate::model
