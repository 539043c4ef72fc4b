// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/baseline.hpp"
#include "cli/verbs/verb.hpp"
#include "document/baseline.hpp"
#include "model/quantity.hpp"
#include "report/columns.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

struct ShowOptions {
    runner::BaselineChoice choice;
    std::string json;
};

std::string provenance_text(const model::Provenance& provenance) {
    std::string text;
    const auto add = [&](std::string_view what, const std::string& value) {
        if (value.empty()) return;
        if (!text.empty()) text += ", ";
        text += fmt::format("{}{}", what, util::printable(value));
    };
    add("", provenance.recorded_at);
    add("revision ", provenance.git_revision);
    add("board ", provenance.board);
    add("driver ", provenance.driver);
    add("perfgate ", provenance.tool_version);
    add("accepted by ", provenance.accepted_by);
    add("reason: ", provenance.reason);
    return text;
}

std::string baseline_text(const gate::StoredBaseline& stored) {
    const model::Baseline& baseline = stored.baseline;
    std::string text = fmt::format(
        "{}\nsuite {} on {} ({}), {}\n", util::printable(stored.file),
        util::printable(baseline.suite), util::printable(baseline.device.name),
        util::printable(baseline.device.key), util::counted(baseline.cases.size(), "case"));
    for (const auto& [id, expected] : baseline.cases) {
        text += fmt::format("\n{}\n", util::printable(id));
        const std::string origin = provenance_text(expected.provenance);
        if (!origin.empty()) text += fmt::format("  {}\n", origin);
        std::vector<std::vector<std::string>> rows;
        for (const auto& [metric, series] : expected.metrics) {
            std::size_t samples = 0;
            for (const model::Batch& batch : series.batches) samples += batch.samples.size();
            rows.push_back(
                {util::printable(metric), model::quantity_text(series.value, series.unit),
                 util::counted(samples, "sample"), util::printable(to_text(series.method))});
        }
        text += report::table(rows);
    }
    return text;
}

int show(const ShowOptions& options) {
    const gate::StoredBaseline stored = runner::stored_baseline(options.choice);
    if (!options.json.empty()) {
        util::write_file_atomically(options.json, document::write_baseline(stored.baseline));
    }
    if (options.json != "-") util::write_file_atomically("-", baseline_text(stored));
    return 0;
}

}  // namespace

void add_baseline_show(CLI::App& baseline, Invocation& invocation) {
    CLI::App* verb =
        baseline.add_subcommand("show", "Prints the expected values and their provenance");
    const auto options = std::make_shared<ShowOptions>();
    add_baseline_choice_options(*verb, options->choice);
    verb->add_option("--json", options->json, "Write the baseline document (- is standard output)")
        ->type_name("FILE");
    verb->callback(
        [&invocation, options] { invocation.body = [options] { return show(*options); }; });
}

}  // namespace perfgate::cli
