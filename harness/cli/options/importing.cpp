// SPDX-License-Identifier: Apache-2.0
#include "cli/options/importing.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "kinds/benchmark/formats/formats.hpp"
#include "suite/amount.hpp"
#include "util/error.hpp"

namespace perfgate::cli {

void add_result_options(CLI::App& app, runner::ImportChoice& choice) {
    std::vector<std::string> formats;
    for (const benchmark::Format& format : benchmark::formats()) {
        if (!format.metrics.empty()) formats.emplace_back(format.name);
    }
    app.add_option("--format", choice.format, "Format of the results (default: recognised)")
        ->check(CLI::IsMember(formats));
    app.add_option_function<std::string>(
           "--tolerance",
           [&choice](const std::string& text) {
               const auto fraction = suite::fraction_of(text);
               if (!fraction) {
                   throw util::InputError("--tolerance: expected a percentage such as 5%");
               }
               choice.tolerance = *fraction;
           },
           "How much longer the time of a case may take")
        ->type_name("PERCENT")
        ->default_str("5%");
}

}  // namespace perfgate::cli
