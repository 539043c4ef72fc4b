// SPDX-License-Identifier: Apache-2.0
#include "suite/problems.hpp"

#include <fmt/ranges.h>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

/// Suggestions cost an edit distance per candidate; in a file with more problems than this they do
/// not help.
constexpr std::size_t most_suggestions = 500;
/// Nobody reads a longer list of candidates.
constexpr std::size_t most_candidates = 20;

std::string listed(const std::vector<std::string>& candidates) {
    const std::size_t shown =
        candidates.size() > most_candidates ? most_candidates : candidates.size();
    std::vector<std::string> names;
    names.reserve(shown);
    for (std::size_t i = 0; i < shown; ++i) names.push_back(util::printable(candidates[i], 60));
    return fmt::format("{}{}", fmt::join(names, ", "), shown < candidates.size() ? ", …" : "");
}

}  // namespace

std::string in_quotes(std::string_view text) {
    return fmt::format("'{}'", util::printable(text, 80));
}

Problems::Problems(std::string_view file) : file_(util::printable(file, 300)) {}

void Problems::add(Position at, std::string message) {
    problems_.emplace(at, std::move(message));
    ++added_;
}

void Problems::add_unknown(Position at, std::string_view what, std::string_view name,
                           const std::vector<std::string>& candidates, std::string_view expected) {
    std::string message = fmt::format("unknown {} {}", what, in_quotes(name));
    if (!expected.empty()) {
        message += fmt::format("; expected {}", expected);
    } else if (candidates.size() == 1) {
        message += fmt::format("; expected {}", listed(candidates));
    } else if (!candidates.empty()) {
        message += fmt::format("; expected one of {}", listed(candidates));
    } else {
        message += "; expected none";
    }
    if (problems_.size() < most_suggestions) message += util::did_you_mean(name, candidates);
    add(at, std::move(message));
}

std::string Problems::text() const {
    std::string text;
    std::size_t reported = 0;
    for (const auto& [at, message] : problems_) {
        if (reported == most_reported) {
            text += fmt::format("\n{}: {} more problems", file_, problems_.size() - reported);
            break;
        }
        const std::string place = at.line == 0 ? "" : fmt::format("{}:{}:", at.line, at.column);
        text += fmt::format("{}{}:{} {}", reported == 0 ? "" : "\n", file_, place, message);
        ++reported;
    }
    return text;
}

void Problems::throw_if_any() const {
    if (!problems_.empty()) throw util::InputError(text());
}

void Problems::fail(Position at, std::string message) {
    add(at, std::move(message));
    throw util::InputError(text());
}

}  // namespace perfgate::suite
