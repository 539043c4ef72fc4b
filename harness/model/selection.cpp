// SPDX-License-Identifier: Apache-2.0
#include "model/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "model/case.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::model {

namespace {

bool matches_any(const std::vector<std::string>& globs, const std::string& id) {
    return std::ranges::any_of(globs,
                               [&](const std::string& glob) { return util::glob_match(glob, id); });
}

bool shares_any(const std::vector<std::string>& wanted, const std::vector<std::string>& tags) {
    return std::find_first_of(tags.begin(), tags.end(), wanted.begin(), wanted.end()) != tags.end();
}

bool selects(const Selection& selection, const CaseResult& result) {
    return (selection.filters.empty() || matches_any(selection.filters, case_id(result.spec))) &&
           (selection.tags.empty() || shares_any(selection.tags, result.tags));
}

bool selects_any(const Run& run, const Selection& selection) {
    return std::ranges::any_of(run.suites, [&](const SuiteResult& suite) {
        return std::ranges::any_of(
            suite.cases, [&](const CaseResult& result) { return selects(selection, result); });
    });
}

/// The first filter or tag that selects nothing: a typo, even if others select something. Empty:
/// each selects a case.
std::string unused(const Run& run, const Selection& selection) {
    for (const std::string& glob : selection.filters) {
        if (!selects_any(run, {{glob}, {}})) return fmt::format("--filter '{}'", glob);
    }
    for (const std::string& tag : selection.tags) {
        if (!selects_any(run, {{}, {tag}})) return fmt::format("--tag '{}'", tag);
    }
    return {};
}

std::string quoted_list(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) {
        list += fmt::format("{}'{}'", list.empty() ? "" : ", ", util::printable(text));
    }
    return list;
}

}  // namespace

Run select_cases(Run run, const Selection& selection) {
    if (selection.filters.empty() && selection.tags.empty()) return run;
    const std::string typo = unused(run, selection);
    run.selections.push_back(selection);
    std::size_t before = 0;
    std::string example;
    for (SuiteResult& suite : run.suites) {
        before += suite.cases.size();
        if (example.empty() && !suite.cases.empty()) {
            example = case_id(suite.cases.front().spec);
        }
        suite.partial = true;
        std::erase_if(suite.cases,
                      [&](const CaseResult& result) { return !selects(selection, result); });
    }
    const bool any = std::ranges::any_of(
        run.suites, [](const SuiteResult& suite) { return !suite.cases.empty(); });
    if (any && typo.empty()) return run;
    if (any) {
        throw util::InputError("{} selects no case of the run", util::printable(typo));
    }

    std::string asked;
    if (!selection.filters.empty()) asked += " --filter " + quoted_list(selection.filters);
    if (!selection.tags.empty()) asked += " --tag " + quoted_list(selection.tags);
    throw util::InputError(
        "{} of the run: none is selected by{}{}", util::counted(before, "case"), asked,
        example.empty() ? "" : fmt::format("; an id looks like '{}'", util::printable(example)));
}

std::optional<bool> covers(const std::vector<Selection>& selections, const std::string& id,
                           const std::optional<std::vector<std::string>>& tags) {
    bool known = true;
    for (const Selection& selection : selections) {
        if (!selection.filters.empty() && !matches_any(selection.filters, id)) return false;
        if (selection.tags.empty()) continue;
        if (tags && !shares_any(selection.tags, *tags)) return false;
        known = known && tags.has_value();
    }
    return known ? std::optional(true) : std::nullopt;
}

}  // namespace perfgate::model
