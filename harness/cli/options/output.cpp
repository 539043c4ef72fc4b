// SPDX-License-Identifier: Apache-2.0
#include "cli/options/output.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "report/formats.hpp"

namespace perfgate::cli {

namespace {

bool is_output_option(const std::string& name) {
    return name == "--out" || (name.starts_with("--") && report::find_format(name.substr(2)));
}

/// The values of all other options, as typed.
std::vector<std::string> inputs_of(const CLI::App& verb) {
    std::vector<std::string> inputs;
    for (const CLI::Option* option : verb.get_options()) {
        if (is_output_option(option->get_name())) continue;
        inputs.insert(inputs.end(), option->results().begin(), option->results().end());
    }
    return inputs;
}

runner::OutputOptions with_files_of(const CLI::App& verb, runner::OutputOptions options) {
    options.inputs = inputs_of(verb);
    options.runs = runner::stored_runs(verb.get_name(), options.out);
    return options;
}

}  // namespace

void add_output_options(CLI::App& app, runner::OutputOptions& options) {
    auto* out =
        app.add_option("--out", options.out, "Write verdict.json and junit.xml into this folder")
            ->type_name("DIR");
    if (!options.out.empty()) out->capture_default_str();
    for (const report::Format& format : report::formats) {
        if (format.name == runner::table_format) continue;
        const std::string name(format.name);
        app.add_option("--" + name, options.files[name],
                       fmt::format("{} (- is standard output)", format.help))
            ->type_name("FILE");
    }
    app.add_option("--junit-profile", options.junit_profile,
                   "github: with file, line and properties; strict: what the XML schemas allow")
        ->check(CLI::IsMember({"github", "strict"}))
        ->capture_default_str();
    app.add_option("--report-url", options.report_url,
                   "Address of the whole report; Markdown that leaves cases out links to it")
        ->type_name("URL");
    app.add_option("--color", options.color,
                   "Colours in the table; auto: on a terminal, without NO_COLOR and CI")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
    app.add_flag(
        "--verbose", options.verbose,
        "List every case with all sentences, and the notes, not only what needs attention");
}

void clear_outputs(const CLI::App& verb, runner::OutputOptions options) {
    runner::clear_outputs(with_files_of(verb, std::move(options)));
}

void clear_outputs(const CLI::App& verb) {
    const std::vector<const CLI::Option*> all = verb.get_options();
    if (std::none_of(all.begin(), all.end(),
                     [](const auto* option) { return option->count() > 0; })) {
        return;
    }
    const auto typed = [&](const std::string& name) {
        const CLI::Option* option = verb.get_option_no_throw(name);
        if (option == nullptr) return std::string();
        return option->results().empty() ? option->get_default_str() : option->results().back();
    };
    runner::OutputOptions options;
    options.out = typed("--out");
    if (const std::string resumed = typed("--resume"); !resumed.empty()) options.out = resumed;
    for (const report::Format& format : report::formats) {
        const std::string name(format.name);
        options.files[name] = typed("--" + name);
    }
    clear_outputs(verb, std::move(options));
}

void check_outputs(const CLI::App& verb, runner::OutputOptions options) {
    runner::check_outputs(with_files_of(verb, std::move(options)));
}

}  // namespace perfgate::cli
