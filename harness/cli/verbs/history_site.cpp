// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "history/site.hpp"
#include "history/store.hpp"
#include "report/html.hpp"
#include "runner/baselines.hpp"
#include "util/error.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

struct SiteOptions {
    std::string store, out, baselines{suite::usual_baselines};
};

int write_site(const SiteOptions& options) {
    if (report::history_page().empty()) throw util::InputError(report::no_html_page);
    const history::Store store(options.store, history::Store::Access::read);
    const auto origins = store.origins();
    history::Site site(origins, runner::all_ledgers(options.baselines));
    const util::Folder out(options.out), data = out.below("data");
    std::size_t cases = 0;
    store.each_case("", "", [&](const std::vector<history::Series>& of_case) {
        const history::Site::File file = site.add(of_case);
        std::string script = "perfgate_case(";
        report::append_fit_for_script(script, file.json);
        data.write(file.name + ".js", script + ");\n");
        ++cases;
    });
    const history::Site::Front front = site.finish();
    // Last: it names the files of the cases.
    out.write("badge.svg", front.badge.svg);
    out.write("badge.json", front.badge.json);
    out.write("index.html", report::fill_page(report::history_page(), front.index));
    fmt::print("{}: {} in {}\n", util::printable((out.path() / "index.html").string()),
               util::counted(cases, "case"), util::counted(origins.size(), "run"));
    return 0;
}

}  // namespace

Body add_history_site(CLI::App& verb) {
    const auto options = std::make_shared<SiteOptions>();
    verb.add_option("STORE", options->store, "The history")->type_name("FILE")->required();
    verb.add_option("OUT", options->out, "The site's folder")->type_name("DIR")->required();
    add_baselines_option(verb, options->baselines);
    verb.footer(
        "Opens from disk, without a network: OUT/index.html, a file for each case in OUT/data, "
        "OUT/badge.svg and OUT/badge.json (for shields.io). Ledgers of the baselines, if there are "
        "any, show what was accepted.");
    return [options] { return write_site(*options); };
}

}  // namespace perfgate::cli
