// SPDX-License-Identifier: Apache-2.0
#include "gate/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "model/case.hpp"
#include "model/error.hpp"
#include "model/text.hpp"

namespace perfgate::gate {

namespace {

bool selects(const Selection& selection, const model::CaseResult& result) {
    const std::string id = model::case_id(result.spec);
    const auto matches = [&](const std::string& glob) { return model::glob_match(glob, id); };
    const auto tagged = [&](const std::string& tag) {
        return std::find(result.tags.begin(), result.tags.end(), tag) != result.tags.end();
    };
    return (selection.filters.empty() ||
            std::any_of(selection.filters.begin(), selection.filters.end(), matches)) &&
           (selection.tags.empty() ||
            std::any_of(selection.tags.begin(), selection.tags.end(), tagged));
}

std::string quoted_list(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) {
        list += fmt::format("{}'{}'", list.empty() ? "" : ", ", model::printable(text, 200));
    }
    return list;
}

}  // namespace

model::Run select_cases(model::Run run, const Selection& selection) {
    if (selection.filters.empty() && selection.tags.empty()) return run;
    std::size_t before = 0;
    std::string example;
    for (model::SuiteResult& suite : run.suites) {
        before += suite.cases.size();
        if (example.empty() && !suite.cases.empty()) {
            example = model::case_id(suite.cases.front().spec);
        }
        suite.partial = true;
        std::erase_if(suite.cases,
                      [&](const model::CaseResult& result) { return !selects(selection, result); });
    }
    std::erase_if(run.suites, [](const model::SuiteResult& suite) { return suite.cases.empty(); });
    if (!run.suites.empty()) return run;

    std::string asked;
    if (!selection.filters.empty()) asked += " --filter " + quoted_list(selection.filters);
    if (!selection.tags.empty()) asked += " --tag " + quoted_list(selection.tags);
    throw model::InputError(fmt::format(
        "none of the run's {} cases is selected by{}{}", before, asked,
        example.empty() ? ""
                        : fmt::format("; an id looks like '{}'", model::printable(example, 200))));
}

}  // namespace perfgate::gate
