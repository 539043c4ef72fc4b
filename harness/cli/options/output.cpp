// SPDX-License-Identifier: Apache-2.0
#include "cli/options/output.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "report/reporter.hpp"

namespace perfgate::cli {

void add_output_options(CLI::App& app, runner::OutputOptions& options) {
    auto* out =
        app.add_option("--out", options.out, "Write verdict.json and junit.xml into this folder")
            ->type_name("DIR");
    if (!options.out.empty()) out->capture_default_str();
    for (const report::Format& format : report::formats()) {
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
                   "Where the whole report can be seen: Markdown that leaves cases out links to it")
        ->type_name("URL");
    app.add_option("--color", options.color,
                   "Colours in the table; auto: on a terminal, without NO_COLOR and CI")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
    app.add_flag("--verbose", options.verbose, "List every case, not only what needs attention");
}

}  // namespace perfgate::cli
