// SPDX-License-Identifier: Apache-2.0
#include "runner/sides.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>

#include "model/command_words.hpp"
#include "suite/command_reader.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

void add_variable(std::string_view option, const std::string& word, model::Variables& variables) {
    const std::size_t end = word.find('=');
    if (end == std::string::npos) {
        throw util::InputError("{} env:{}: expected env:NAME=VALUE", option, util::printable(word));
    }
    const std::string name = word.substr(0, end);
    const std::string value = word.substr(end + 1);
    std::string problem = suite::problem_of_variable(name);
    if (problem.empty() &&
        std::ranges::any_of(variables, [&](const auto& known) { return known.first == name; })) {
        problem = fmt::format("'{}' is given twice", name);
    }
    if (problem.empty() && value.find(model::out_word) != std::string::npos) {
        problem = fmt::format("'{}' in the value of '{}' is replaced only in a suite's 'env'",
                              model::out_word, name);
    }
    if (!problem.empty()) throw util::InputError("{} env: {}", option, problem);
    variables.emplace_back(name, value);
}

}  // namespace

Side side_of(std::string_view option, const std::vector<std::string>& words) {
    Side side;
    const auto refuse = [&](const std::string& word, std::string_view why) {
        throw util::InputError("{} {}: {}", option, util::printable(word), why);
    };
    for (const std::string& word : words) {
        const std::size_t colon = word.find(':');
        const std::string kind = word.substr(0, colon);
        const std::string value = colon == std::string::npos ? "" : word.substr(colon + 1);
        if (kind == "env" && colon != std::string::npos) {
            add_variable(option, value, side.variables);
            continue;
        }
        std::string* named = kind == "build" ? &side.build
                             : kind == "rev" ? &side.revision
                             : kind == "dir" ? &side.folder
                                             : nullptr;
        if (named == nullptr || colon == std::string::npos) {
            refuse(word,
                   "expected build:PATH (plugins), rev:REF (of git), dir:DIR (a checkout) or "
                   "env:NAME=VALUE; files of results are for 'perfgate compare'");
        }
        if (value.empty()) refuse(word, "expected a value behind the colon");
        if (!named->empty()) refuse(word, fmt::format("{}: is given twice", kind));
        std::error_code error;
        const bool found = kind == "build" ? std::filesystem::exists(value, error)
                                           : std::filesystem::is_directory(value, error);
        if (kind != "rev" && !found) {
            refuse(word, kind == "build" ? "no such file or folder" : "no such folder");
        }
        *named = value;
    }
    if (!side.revision.empty() && !side.folder.empty()) {
        refuse("rev:" + side.revision, "a revision is checked out: leave out dir:");
    }
    return side;
}

void require_files(std::string_view option, const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        std::error_code error;
        const bool side = word.starts_with("build:") || word.starts_with("rev:") ||
                          word.starts_with("dir:") || word.starts_with("env:");
        if (!side || std::filesystem::exists(word, error)) continue;
        throw util::InputError("{} {}: expected a file; 'perfgate ab' measures such", option,
                               util::printable(word));
    }
}

void require_different(std::string_view kind, const std::string& base, const std::string& head) {
    std::error_code error;
    if (base.empty() || head.empty() || !std::filesystem::equivalent(base, head, error)) return;
    throw util::InputError(
        "{0}:{1} and {0}:{2} are the same: it would be compared with itself; to measure how much "
        "equal builds differ, copy it",
        kind, util::printable(base), util::printable(head));
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
