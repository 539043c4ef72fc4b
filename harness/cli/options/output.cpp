// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "cli/options/options.hpp"
#include "report/formats.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

std::vector<ReportFormat> report_formats() {
    std::vector<ReportFormat> formats;
    for (const report::Format& format : report::formats) {
        if (format.name == runner::table_format) continue;
        formats.push_back({std::string(format.name), std::string(format.ending)});
    }
    return formats;
}

/// The format and the file that a word of --report names. No format: it is not known.
std::pair<std::string, std::string> report_of(const std::string& word,
                                              const std::vector<ReportFormat>& formats) {
    const std::size_t colon = word.find(':');
    for (const ReportFormat& format : formats) {
        if (colon != std::string::npos && word.substr(0, colon) == format.name) {
            return {format.name, word.substr(colon + 1)};
        }
    }
    // A misspelt format is no part of a file's name: such a file is ./name:rest.
    const bool named = colon != std::string::npos && word.find('/') > colon;
    for (const ReportFormat& format : formats) {
        if (!named && !format.ending.empty() && word.ends_with(format.ending)) {
            return {format.name, word};
        }
    }
    return {"", word};
}

std::string listed(const std::vector<ReportFormat>& formats) {
    std::vector<std::string> each;
    for (const ReportFormat& format : formats) {
        each.push_back(format.ending.empty() ? format.name
                                             : fmt::format("{} ({})", format.name, format.ending));
    }
    return fmt::format("{}", fmt::join(each, ", "));
}

/// The values of all other options, as typed.
std::vector<std::string> inputs_of(const CLI::App& verb) {
    std::vector<std::string> inputs;
    for (const CLI::Option* option : verb.get_options()) {
        if (option->get_name() == "--out" || option->get_name() == "--report") continue;
        inputs.insert(inputs.end(), option->results().begin(), option->results().end());
    }
    return inputs;
}

runner::OutputOptions with_files_of(const CLI::App& verb, runner::OutputOptions options) {
    options.inputs = inputs_of(verb);
    if (options.runs.empty()) options.runs = runner::stored_runs(verb.get_name(), options.out);
    // `compare` stores a run that it makes of several files.
    const CLI::Option* files = verb.get_option_no_throw("FILE");
    if (options.runs.empty() && !options.out.empty() && files != nullptr && files->count() > 1) {
        options.runs = {"run.json"};
    }
    return options;
}

}  // namespace

CLI::Option* add_report_option(CLI::App& app, const std::vector<ReportFormat>& formats,
                               ReportFiles& files) {
    for (const ReportFormat& format : formats) files[format.name];
    const bool endings =
        std::ranges::any_of(formats, [](const auto& format) { return !format.ending.empty(); });
    const auto take = [formats, &files](const std::vector<std::string>& words) {
        for (const std::string& word : words) {
            const auto [format, file] = report_of(word, formats);
            if (format.empty() || file.empty()) {
                throw util::InputError("--report {}: expected FORMAT:FILE, with {}",
                                       util::printable(word), listed(formats));
            }
            if (!files[format].empty()) {
                throw util::InputError("--report {}: the format is given twice",
                                       util::printable(word));
            }
            files[format] = file;
        }
    };
    return app
        .add_option_function<std::vector<std::string>>(
            "--report", take,
            fmt::format("Write a report (repeatable): {}{}; json:- is standard output",
                        listed(formats),
                        endings ? ". FORMAT: is left out before a file with that ending" : ""))
        ->type_name("[FORMAT:]FILE")
        ->type_size(1)
        ->allow_extra_args(false)
        ->group(report_group);
}

CLI::Option* add_json_option(CLI::App& app, std::string& file) {
    const auto take = [&file](const std::vector<std::string>& words) {
        const std::vector<ReportFormat> formats{{"json", ".json"}};
        for (const std::string& word : words) {
            const auto [format, named] = report_of(word, formats);
            if (format.empty() || named.empty() || !file.empty()) {
                throw util::InputError("--report {}: expected one json:FILE",
                                       util::printable(word));
            }
            file = named;
        }
    };
    return app
        .add_option_function<std::vector<std::string>>(
            "--report", take, "Also write the result as JSON; json:- is standard output")
        ->type_name("[json:]FILE")
        ->type_size(1)
        ->allow_extra_args(false)
        ->group(report_group);
}

void add_output_options(CLI::App& app, runner::OutputOptions& options) {
    auto* out =
        app.add_option("--out", options.out, "Write verdict.json and junit.xml into this folder")
            ->type_name("DIR")
            ->group(report_group);
    if (!options.out.empty()) out->capture_default_str();
    add_report_option(app, report_formats(), options.files);
    app.add_flag("--verbose", options.verbose,
                 "List every case with all sentences, and the notes, not only what needs attention")
        ->group(report_group);
    app.add_option("--report-url", options.report_url,
                   "Address of the whole report; Markdown that leaves cases out links to it")
        ->type_name("URL")
        ->group(more_group);
    app.add_option("--color", options.color,
                   "Colours in the table; auto: on a terminal, without NO_COLOR and CI")
        ->check(one_of({"auto", "always", "never"}))
        ->capture_default_str()
        ->group(more_group);
}

void clear_outputs(const CLI::App& verb, runner::OutputOptions options) {
    runner::clear_outputs(with_files_of(verb, std::move(options)));
}

void clear_outputs(const CLI::App& verb) {
    const std::vector<const CLI::Option*> all = verb.get_options();
    if (std::ranges::none_of(all, [](const auto* option) { return option->count() > 0; })) {
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
    if (const CLI::Option* reports = verb.get_option_no_throw("--report")) {
        for (const std::string& word : reports->results()) {
            const auto [format, file] = report_of(word, report_formats());
            if (!format.empty()) options.files[format] = file;
        }
    }
    clear_outputs(verb, std::move(options));
}

void check_outputs(const CLI::App& verb, runner::OutputOptions options) {
    runner::check_outputs(with_files_of(verb, std::move(options)));
}

}  // namespace perfgate::cli
