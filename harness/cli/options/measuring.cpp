// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/options/options.hpp"
#include "cli/terminal/progress.hpp"
#include "runner/installation.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

std::string meant_word(const std::string& text, const std::vector<std::string>& words,
                       const std::map<std::string, std::string>& synonyms) {
    std::string nearest = util::did_you_mean(text, words);
    if (!nearest.empty()) return nearest;
    const auto synonym = synonyms.find(text);
    if (synonym != synonyms.end()) return "; did you mean '" + synonym->second + "'?";
    const auto part = std::ranges::find_if(words, [&](const std::string& word) {
        return word.size() > 2 && text.find(word) != std::string::npos;
    });
    return part == words.end() ? "" : "; did you mean '" + *part + "'?";
}

}  // namespace

CLI::Validator one_of(const std::vector<std::string>& words,
                      const std::map<std::string, std::string>& synonyms) {
    return {[words, synonyms](std::string& text) {
                if (std::ranges::find(words, text) != words.end()) return std::string();
                return fmt::format("expected {}, found '{}'{}", fmt::join(words, ", "),
                                   util::printable(text), meant_word(text, words, synonyms));
            },
            fmt::format("{{{}}}", fmt::join(words, ","))};
}

CLI::Validator in_range(double least, double most) {
    return CLI::Validator(
        [least, most](std::string& text) {
            double number = 0;
            const bool inside =
                CLI::detail::lexical_cast(text, number) && number >= least && number <= most;
            return inside ? std::string()
                          : fmt::format("expected a number from {} to {}, found '{}'", least, most,
                                        util::printable(text));
        },
        "");
}

CLI::Option* add_repeatable(CLI::App& app, const std::string& name,
                            std::vector<std::string>& values, const std::string& help,
                            const std::string& type) {
    return app.add_option(name, values, help)
        ->type_name(type)
        ->type_size(1)
        ->allow_extra_args(false);
}

CLI::Option* add_plugin_option(CLI::App& app, std::vector<std::string>& plugins) {
    return add_repeatable(app, "--plugin", plugins,
                          "A plugin with workloads, in addition to the bundled ones (repeatable)",
                          "FILE")
        ->check([](const std::string& named) {
            std::error_code ignored;
            if (named.empty() || std::filesystem::exists(runner::plugin_file(named), ignored)) {
                return std::string();
            }
            return fmt::format("{}: No such file or directory", util::printable(named));
        })
        ->group(measure_group);
}

void add_backend_options(CLI::App& app, runner::BackendChoice& choice) {
    app.add_option("--backend", choice.backend,
                   "What measures: cuda, host (CPU, host variants only), or auto: cuda, or host if "
                   "there is no NVIDIA GPU")
        ->check(one_of({"auto", "cuda", "host"}, {{"gpu", "cuda"}, {"cpu", "host"}}))
        ->capture_default_str()
        ->group(measure_group);
    app.add_option("--devices", choice.devices,
                   "GPUs of one kind: all, or a list such as 0,1 of index, UUID or PCI bus id "
                   "(default: the first)")
        ->type_name("LIST")
        ->group(measure_group);
    add_plugin_option(app, choice.plugins);
    app.add_flag("--no-cupti", choice.no_cupti,
                 "Events only: no kernel records, no counters; lets nsys, ncu and "
                 "compute-sanitizer attach")
        ->group(more_group);
}

void add_measuring_options(CLI::App& app, runner::MeasuringChoice& choice) {
    add_backend_options(app, choice.backend);
    app.add_flag("--verify-only", choice.verify_only,
                 "Check the results of every case and measure nothing (for compute-sanitizer)")
        ->group(more_group);
    app.add_option(
           "--seed", choice.verify_seed,
           "Seed of the inputs that verification uses (default: a fresh one; a failure names it)")
        ->type_name("N")
        ->group(more_group);
    app.add_option("--time-limit", choice.case_limit_s,
                   "After this time a case is an error and its worker is ended")
        ->check(in_range(0.001, most_seconds))
        ->type_name("SECONDS")
        ->capture_default_str()
        ->group(more_group);
    app.add_option("--processes", choice.processes,
                   "Fresh processes that measure each case (default: 5, and for `run` 3 if it "
                   "passes with them; for `ab` 6 of each side, for a step of `bisect` at least 13; "
                   "for a baseline 20, and as many again for a case that is too noisy for its "
                   "tolerance; of programs and Python files 9 to 12)")
        ->check(in_range(1, 1000))
        ->type_name("N")
        ->group(measure_group);
    app.add_option("--lock-wait", choice.lock_wait_s,
                   "How long to wait for a device that another run uses; 0: not at all")
        ->check(in_range(0, most_seconds))
        ->type_name("SECONDS")
        ->capture_default_str()
        ->group(more_group);
    choice.progress = std::make_shared<ProgressLine>();
    app.add_flag_callback(
           "--quiet", [&choice] { choice.progress = nullptr; }, "No progress on standard error")
        ->group(report_group);
}

void add_config_plugins(const suite::Profile& profile, runner::BackendChoice& choice) {
    for (const std::string& named : profile.plugins) {
        std::error_code ignored;
        if (!std::filesystem::exists(runner::plugin_file(named), ignored)) {
            throw util::InputError("the config's plugin {}: No such file or directory",
                                   util::printable(named));
        }
        choice.plugins.push_back(named);
    }
}

void apply_measuring_profile(const CLI::App& verb, const suite::Profile& profile,
                             runner::MeasuringChoice& choice) {
    add_config_plugins(profile, choice.backend);
    if (profile.backend && verb.count("--backend") == 0) choice.backend.backend = *profile.backend;
    choice.build = profile.build.value_or("");
    choice.builds = profile.builds.value_or("");
    if (profile.processes && !choice.processes) {
        choice.processes = static_cast<std::size_t>(*profile.processes);
    }
}

}  // namespace perfgate::cli
