// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "history/show.hpp"
#include "history/store.hpp"
#include "runner/baselines.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

struct ShowOptions {
    std::string store, suite, id, baselines{suite::usual_baselines};
};

int show(const ShowOptions& options) {
    const history::Store store(options.store, history::Store::Access::read);
    const auto origins = store.origins();
    history::Console console(origins, !options.id.empty());
    bool any = false;
    store.each_case(options.suite, options.id, [&](const std::vector<history::Series>& of_case) {
        console.add(of_case);
        any = true;
    });
    if (!any) {
        throw util::InputError(
            fmt::format("{} has no runs{}{}", util::printable(options.store),
                        options.suite.empty() ? "" : " of ",
                        util::printable(options.id.empty() ? options.suite : options.id)));
    }
    fmt::print("{}", console.finish(runner::all_ledgers(options.baselines)));
    return 0;
}

}  // namespace

Body add_history_show(CLI::App& verb) {
    const auto options = std::make_shared<ShowOptions>();
    verb.add_option("STORE", options->store, "The history")->type_name("FILE")->required();
    verb.add_option("SUITE", options->suite, "Name of a suite; default: all");
    verb.add_option("CASE", options->id, "Id of a case; also without a change");
    add_baselines_option(verb, options->baselines);
    verb.footer("Exit code: 0, also where cases became slower: a history judges nothing.");
    return [options] { return show(*options); };
}

}  // namespace perfgate::cli
