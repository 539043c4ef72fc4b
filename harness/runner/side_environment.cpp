// SPDX-License-Identifier: Apache-2.0
#include "runner/side_environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "model/command_words.hpp"
#include "suite/command_reader.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

model::Variables variables_of(std::string_view option, const std::vector<std::string>& words) {
    model::Variables variables;
    for (const std::string& word : words) {
        const std::size_t end = word.find('=');
        if (end == std::string::npos) {
            throw util::InputError(
                fmt::format("{} {}: expected NAME=VALUE", option, util::printable(word)));
        }
        const std::string name = word.substr(0, end);
        const std::string value = word.substr(end + 1);
        std::string problem = suite::problem_of_variable(name);
        if (problem.empty() &&
            std::any_of(variables.begin(), variables.end(),
                        [&](const auto& known) { return known.first == name; })) {
            problem = fmt::format("'{}' is given twice", name);
        }
        if (problem.empty() && value.find(model::out_word) != std::string::npos) {
            problem = fmt::format("'{}' in the value of '{}' is replaced only in a suite's 'env'",
                                  model::out_word, name);
        }
        if (!problem.empty()) throw util::InputError(fmt::format("{}: {}", option, problem));
        variables.emplace_back(name, value);
    }
    return variables;
}

std::string differing_names(const model::Variables& base, const model::Variables& head) {
    const std::set<model::Variables::value_type> of_base(base.begin(), base.end());
    const std::set<model::Variables::value_type> of_head(head.begin(), head.end());
    model::Variables different;
    std::set_symmetric_difference(of_base.begin(), of_base.end(), of_head.begin(), of_head.end(),
                                  std::back_inserter(different));
    std::set<std::string> names;
    for (const auto& [name, value] : different) names.insert(name);
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace perfgate::runner
