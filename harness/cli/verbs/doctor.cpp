// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "report/columns.hpp"
#include "runner/doctor.hpp"
#include "util/file.hpp"

namespace perfgate::cli {
namespace {

std::string diagnoses_text(const std::vector<measure::Diagnosis>& diagnoses) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& diagnosis : diagnoses) {
        rows.push_back({std::string(to_text(diagnosis.level)), diagnosis.topic, diagnosis.detail});
        if (!diagnosis.remedy.empty()) rows.push_back({"", "", "remedy: " + diagnosis.remedy});
    }
    return report::table(rows, {.indent = 0});
}

}  // namespace

Body add_doctor(CLI::App& verb) {
    struct Options {
        runner::BackendChoice backend;
        std::string json;
    };
    const auto options = std::make_shared<Options>();
    add_backend_options(verb, options->backend);
    add_json_option(verb, options->json);
    verb.footer("Exit code: 0 without problems (warnings are not problems), else 3.");
    return [options] {
        const auto diagnoses = runner::diagnose(options->backend);
        if (!options->json.empty()) {
            util::write_file_atomically(options->json, runner::write_json(diagnoses));
        }
        if (options->json != "-") util::write_file_atomically("-", diagnoses_text(diagnoses));
        return runner::has_problem(diagnoses) ? 3 : 0;
    };
}

}  // namespace perfgate::cli
