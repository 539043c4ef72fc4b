// SPDX-License-Identifier: Apache-2.0
#include "bisect/bisect.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "measure/workers.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

struct BisectOptions {
    bisect::Request request;
    std::array<std::string, 4> words;  ///< GOOD BAD SUITE CASE, for a step GOOD SUITE CASE
    bool step = false;
    GateOptions gate;
};

void take_words(BisectOptions& options) {
    const std::size_t revisions = options.step ? 1 : 2;
    const auto& words = options.words;
    if (words[revisions].empty() || (options.step && !words[3].empty())) {
        throw util::InputError(options.step ? "perfgate bisect --step needs GOOD SUITE [CASE]"
                                            : "perfgate bisect needs GOOD BAD SUITE [CASE]");
    }
    options.request.good = words[0];
    if (!options.step) options.request.bad = words[1];
    options.request.ab.suites = {words[revisions]};
    const std::string& chosen = words[revisions + 1];
    if (!chosen.empty()) options.gate.selection.filters.push_back(chosen);
}

void prepare(const CLI::App& verb, BisectOptions& options) {
    take_words(options);
    apply_comparing_options(verb, options.gate, options.request.ab);
}

int bisect_between(const CLI::App& verb, BisectOptions& options) {
    prepare(verb, options);
    return bisect::find_culprit(options.request);
}

/// Git takes 1 to 127, except 125, for a bad commit; a larger code ends the bisection.
int bisect_step(const CLI::App& verb, BisectOptions& options) {
    try {
        prepare(verb, options);
        return bisect::step(options.request);
    } catch (const measure::Interrupted&) {
        throw;
    } catch (const util::Error& error) {
        fmt::print(stderr, "perfgate: {}\n", util::printable(error.what(), 2000));
        return end_git_bisect;
    }
}

}  // namespace

Body add_bisect(CLI::App& verb) {
    const auto options = std::make_shared<BisectOptions>();
    const char* names[] = {"GOOD", "BAD", "SUITE", "CASE"};
    const char* help[] = {"A revision of git that is fast enough, an ancestor of BAD",
                          "A revision that is too slow", "Suite file",
                          "The case to follow: an id or a glob (default: what is slower by most)"};
    const char* types[] = {"REV", "REV", "FILE", "GLOB"};
    for (std::size_t i = 0; i < options->words.size(); ++i) {
        verb.add_option(names[i], options->words[i], help[i])->required(i < 2)->type_name(types[i]);
    }
    verb.add_flag("--step", options->step,
                  "A step for 'git bisect run', as GOOD SUITE [CASE]: builds the working tree and "
                  "exits with 0 if it is shown not to be slower than GOOD, 1 if it is slower, 125 "
                  "if neither is shown")
        ->group(measure_group);
    add_comparing_options(verb, options->request.ab, options->gate);
    verb.footer(
        "Each step checks out one commit, builds it (the config's 'build') and measures it and "
        "GOOD's build in turns. Commits that cannot be built, measured or decided are skipped. "
        "Ends with the report of the commit that it found. bisect.json in --out has every step; "
        "the same command goes on after an interruption. Exit code 1: found, or one of several; "
        "otherwise that of comparing BAD with GOOD.");
    return [options, &verb] {
        return options->step ? bisect_step(verb, *options) : bisect_between(verb, *options);
    };
}

}  // namespace perfgate::cli
