// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "baseline/acceptance.hpp"
#include "baseline/verify.hpp"
#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "model/date.hpp"
#include "runner/run_file.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

int verify(const std::string& folder) {
    const baseline::StoreCheck check =
        baseline::verify_store(folder, model::date_of(runner::utc_now()));
    baseline::refuse_if_any(fmt::format("{}: invalid:", util::printable(folder)), check.faults);
    std::string text = fmt::format("{}: valid: {}, {}\n", util::printable(folder),
                                   util::counted(check.baselines, "baseline"),
                                   util::counted(check.ledgers, "ledger"));
    for (const std::string& note : check.notes) text += fmt::format("note: {}\n", note);
    util::write_file_atomically("-", text);
    return 0;
}

}  // namespace

Body add_baseline_verify(CLI::App& verb) {
    const auto folder = std::make_shared<std::string>("baselines");
    add_baselines_option(verb, *folder);
    verb.footer(
        "For pull requests that change baselines: names what was edited by hand, merged wrongly or "
        "never accepted. Exit code: 0 valid; 2 not.");
    return [folder] { return verify(*folder); };
}

}  // namespace perfgate::cli
