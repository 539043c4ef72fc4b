// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "document/run.hpp"
#include "history/night.hpp"
#include "history/show.hpp"
#include "history/site.hpp"
#include "history/store.hpp"
#include "model/date.hpp"
#include "report/html.hpp"
#include "runner/baselines.hpp"
#include "runner/git.hpp"
#include "runner/imported.hpp"
#include "runner/run_file.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

struct AddOptions {
    std::string store;
    std::vector<std::string> files;
    std::optional<std::int64_t> keep_days;
};

/// The verdict beside a run, if it is of the same run.
std::optional<model::VerdictDocument> verdict_beside(const std::filesystem::path& run,
                                                     const std::string& started) {
    std::string name = run.filename().string();
    const std::size_t at = name.rfind("run.json");
    if (at == std::string::npos) return std::nullopt;
    const std::filesystem::path file = run.parent_path() / name.replace(at, 8, "verdict.json");
    if (!std::filesystem::exists(file)) return std::nullopt;
    model::VerdictDocument verdict = document::parse_verdict(
        util::read_file(file, runner::run_limit_bytes, "verdict"), file.string());
    if (verdict.started_at != started) return std::nullopt;
    return verdict;
}

int add(const AddOptions& options) {
    std::vector<history::StoredRun> runs;
    std::vector<std::filesystem::path> stores;
    std::map<std::string, std::optional<std::int64_t>> commit_times;
    for (const std::string& file : options.files) {
        if (history::is_store(file)) {
            stores.emplace_back(file);
            continue;
        }
        const std::string content = util::read_file(file, runner::run_limit_bytes, "run");
        const bool is_document = !runner::schema_of_text(content, file).empty();
        std::vector<runner::DatedRun> found;
        if (is_document) {
            found.push_back({document::parse_run(content, file), util::fingerprint_of(content)});
        } else {
            found = runner::dated_results(content, file);
        }
        for (const auto& [run, fingerprint] : found) {
            const std::optional<model::VerdictDocument> verdict =
                is_document ? verdict_beside(file, run.started_at) : std::nullopt;
            try {
                runs.push_back(
                    history::stored_run(run, fingerprint, verdict ? &*verdict : nullptr));
            } catch (const util::InputError& error) {
                throw util::InputError("{}: {}", util::printable(file), error.what());
            }
            if (!model::names_a_commit(run.git_revision)) continue;
            auto [known, fresh] = commit_times.try_emplace(run.git_revision);
            if (fresh) known->second = runner::git_commit_time(".", run.git_revision);
            if (known->second) runs.back().origin.ordered = *known->second;
        }
    }
    const std::size_t empty =
        std::erase_if(runs, [](const history::StoredRun& run) { return run.series.empty(); });
    // A day for clocks and time zones.
    const std::string latest = model::utc_text(
        std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now()) +
        std::chrono::days(1));
    history::Store store(options.store, history::Store::Access::write);
    const history::Store::Change change = store.add(runs, stores, options.keep_days, latest);
    fmt::print("{}: {} added", util::printable(options.store), util::counted(change.added, "run"));
    if (change.removed > 0) fmt::print(", {} removed (--keep)", change.removed);
    if (change.future > 0) {
        fmt::print("; {} dated in the future left out", util::counted(change.future, "run"));
    }
    if (empty > 0) fmt::print("; {} without a value left out", util::counted(empty, "run"));
    fmt::print("\n");
    return 0;
}

}  // namespace

Body add_history_add(CLI::App& verb) {
    const auto options = std::make_shared<AddOptions>();
    verb.add_option("STORE", options->store, "The history, a file that is created if it is absent")
        ->type_name("FILE")
        ->required();
    verb.add_option("FILES", options->files,
                    "Runs, other histories, a data.js of github-action-benchmark, or dated results "
                    "of Google Benchmark and pytest-benchmark")
        ->type_name("FILE")
        ->required();
    verb.add_option("--keep", options->keep_days,
                    "Remove runs that began more than so many days before the newest of the device")
        ->type_name("DAYS")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}));
    verb.footer(
        "A run that is there already is not added again; several processes may add at once.");
    return [options] { return add(*options); };
}

namespace {

struct ViewOptions {
    std::string store, suite, id, baselines{suite::usual_baselines};
};

int show_changes(const ViewOptions& options) {
    const history::Store store(options.store, history::Store::Access::read);
    const auto origins = store.origins();
    history::Console console(origins, !options.id.empty());
    bool any = false;
    store.each_case(options.suite, options.id, [&](const std::vector<history::Series>& of_case) {
        console.add(of_case);
        any = true;
    });
    if (!any) {
        throw util::InputError("{} has no runs{}{}", util::printable(options.store),
                               options.suite.empty() ? "" : " of ",
                               util::printable(options.id.empty() ? options.suite : options.id));
    }
    fmt::print("{}", console.finish(runner::all_ledgers(options.baselines)));
    return 0;
}

}  // namespace

Body add_history_show(CLI::App& verb) {
    const auto options = std::make_shared<ViewOptions>();
    verb.add_option("STORE", options->store, "The history")->type_name("FILE")->required();
    verb.add_option("SUITE", options->suite, "Name of a suite; default: all");
    verb.add_option("CASE", options->id, "Id of a case; also without a change");
    add_baselines_option(verb, options->baselines);
    verb.footer("Exit code: 0, also where cases became slower: a history judges nothing.");
    return [options] { return show_changes(*options); };
}

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
