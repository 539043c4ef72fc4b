// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/options/measuring.hpp"
#include "cli/verbs/verb.hpp"
#include "document/json_writer.hpp"
#include "model/file.hpp"
#include "runner/devices.hpp"

namespace perfgate::cli {
namespace {

using Level = measure::Diagnosis::Level;

std::vector<measure::Diagnosis> diagnose(const runner::BackendChoice& choice) {
    measure::Workers workers(
        runner::worker_command(choice, choice.backend == "host" ? "host" : "cuda", choice.devices),
        {});
    try {
        const measure::Reply reply = workers.must_ask(measure::DiagnoseRequest{}, 60);
        return std::get<measure::DiagnoseReply>(reply).diagnoses;
    } catch (const model::InputError&) {
        throw;
    } catch (const std::exception& error) {
        return {{Level::problem, "backend", error.what(),
                 "mend what the message names; perfgate run --backend host needs no GPU"}};
    }
}

std::string as_json(const std::vector<measure::Diagnosis>& diagnoses) {
    document::JsonWriter json;
    json.begin_object(document::JsonLayout::lines);
    document::write_field(json, "schema", "perfgate.doctor");
    document::write_field(json, "version", std::int64_t{1});
    json.key("checks");
    json.begin_array(document::JsonLayout::lines);
    for (const measure::Diagnosis& diagnosis : diagnoses) {
        json.begin_object(document::JsonLayout::compact);
        document::write_field(json, "level", to_text(diagnosis.level));
        document::write_field(json, "topic", diagnosis.topic);
        document::write_field(json, "detail", diagnosis.detail);
        document::write_field(json, "remedy", diagnosis.remedy);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.finish();
}

std::string as_text(const std::vector<measure::Diagnosis>& diagnoses) {
    std::size_t width = 0;
    for (const auto& diagnosis : diagnoses) width = std::max(width, diagnosis.topic.size());
    std::string text;
    for (const auto& diagnosis : diagnoses) {
        text += fmt::format("{:<8} {:<{}}  {}\n", to_text(diagnosis.level), diagnosis.topic, width,
                            diagnosis.detail);
        if (!diagnosis.remedy.empty()) {
            text += fmt::format("{:<8} {:<{}}  remedy: {}\n", "", "", width, diagnosis.remedy);
        }
    }
    return text;
}

}  // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "doctor",
        "Says whether this machine can measure: driver, CUDA, CUPTI, counter permission, "
        "other users of the device, clocks; each with its remedy");
    struct Options {
        runner::BackendChoice backend;
        std::string json;
    };
    const auto options = std::make_shared<Options>();
    add_backend_options(*verb, options->backend);
    verb->add_option("--json", options->json, "Also write the checks as JSON to FILE (- is stdout)")
        ->type_name("FILE");
    verb->footer("Exit code: 0 where nothing is a problem (warnings are none), else 3.");
    verb->callback([&invocation, options] {
        invocation.body = [options] {
            const auto diagnoses = diagnose(options->backend);
            if (!options->json.empty()) {
                model::write_file_atomically(options->json, as_json(diagnoses));
            }
            if (options->json != "-") model::write_file_atomically("-", as_text(diagnoses));
            const bool problem = std::any_of(
                diagnoses.begin(), diagnoses.end(),
                [](const auto& diagnosis) { return diagnosis.level == Level::problem; });
            return problem ? 3 : 0;
        };
    });
}

}  // namespace perfgate::cli
