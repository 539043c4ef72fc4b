// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "runner/devices.hpp"
#include "runner/plan.hpp"
#include "suite/plan.hpp"
#include "suite/source_entry.hpp"
#include "suite/suite.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {
namespace {

std::string summary(const suite::Suite& suite) {
    const auto count = [&](const auto& holds) { return std::ranges::count_if(suite.cases, holds); };
    const auto of = [&](model::Target target) {
        return count(
            [&](const suite::SuiteCase& suite_case) { return suite_case.target == target; });
    };
    std::string text = fmt::format("{}: ok, {} ({} cuda, {} host", util::printable(suite.file),
                                   util::counted(suite.cases.size(), "case"),
                                   of(model::Target::cuda), of(model::Target::host));
    if (const auto programs = of(model::Target::program); programs > 0) {
        text += fmt::format(", {} of programs", programs);
    }
    text += ')';
    const std::size_t relations = suite.relations.size() + suite.open_relations.size();
    if (relations > 0) text += ", " + util::counted(relations, "relation");
    return text + '\n';
}

}  // namespace

Body add_validate(CLI::App& verb) {
    struct Options {
        std::vector<std::string> suites;
        std::vector<std::string> plugins;
        std::vector<std::string> architectures;
    };
    const auto options = std::make_shared<Options>();
    verb.add_option("SUITE", options->suites, "Suite files")->required()->type_name("FILE");
    add_plugin_option(verb, options->plugins);
    verb.add_option("--architecture", options->architectures,
                    "Compiles sources for it, such as 90 or 90a, in place of those that entries "
                    "name (repeatable)")
        ->type_name("ARCH")
        ->type_size(1)
        ->allow_extra_args(false)
        ->check(CLI::Validator(
            [](const std::string& text) {
                return std::string(suite::is_architecture(text) ? "" : "expected 90 or 90a");
            },
            ""));
    verb.footer(
        "Exit code: 0 if all suites are valid, else 2. suites/README.md describes the format.");
    return [options] {
        std::string text;
        const std::vector<suite::Suite> suites =
            runner::read_suites(options->suites, options->plugins);
        const auto warn = [](const std::string& line) {
            fmt::print(stderr, "perfgate: warning: {}\n", line);
        };
        for (const suite::Suite& suite : suites) {
            text += summary(suite);
            for (const std::string& line : suite::not_built(suite)) warn(line);
        }
        const kinds::Findings found = runner::check_cases(suites, options->architectures);
        for (const std::string& line : found.warnings) warn(line);
        if (!found.problems.empty()) {
            throw util::InputError("{}", fmt::join(found.problems, "\n"));
        }
        for (const std::string& line : found.done) text += line + '\n';
        util::write_file_atomically("-", text);
        return 0;
    };
}

}  // namespace perfgate::cli
