// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/gate.hpp"
#include "cli/options/measuring.hpp"
#include "cli/options/output.hpp"
#include "cli/verbs/verb.hpp"
#include "document/json_writer.hpp"
#include "model/file.hpp"
#include "model/text.hpp"
#include "runner/fresh_seed.hpp"
#include "runner/reports.hpp"
#include "runner/self_test.hpp"

namespace perfgate::cli {

namespace {

struct SelfTestOptions {
    runner::SelfTestRequest request;
    GateOptions gate;
    std::vector<double> sizes_percent{0, 0.5, 1, 2, 5, 10};
    double tolerance_percent = 0.5;
    std::optional<std::uint64_t> seed;
    std::string json;
};

constexpr double percent = 0.01;

std::string share(std::size_t part, std::size_t whole) {
    return whole == 0 ? "-"
                      : fmt::format("{:.1f} %",
                                    100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void print(const runner::SelfTestOutcome& outcome, const SelfTestOptions& options) {
    const gate::SelfTestReport& report = outcome.report;
    const runner::SelfTestRequest& request = options.request;
    std::string text = fmt::format(
        "self-test on {}, tolerance {:g} %, {} processes against {}, seed {}, {:.1f} s\n\n",
        model::printable(outcome.environment.device.name), options.tolerance_percent,
        request.measuring.processes.value_or(runner::usual_processes), request.processes_of_base,
        request.seed, outcome.wall_s);
    text += fmt::format("{:>8} {:>7} {:>11} {:>14} {:>10} {:>8} {:>10}\n", "slower", "cases",
                        "regressed", "inconclusive", "improved", "pass", "not judged");
    for (const gate::SizeTally& size : report.sizes) {
        text += fmt::format("{:>7.4g}% {:>7} {:>11} {:>14} {:>10} {:>8} {:>10}\n", 100 * size.size,
                            size.cases, share(size.regressed, size.cases),
                            share(size.inconclusive, size.cases), size.improved, size.passed,
                            size.unjudged);
    }
    text += "\n detects  found from  case\n";
    for (const gate::CaseTally& of_case : report.cases) {
        // The least size from which on every one was found.
        std::optional<double> from;
        for (auto size = of_case.by_size.rbegin(); size != of_case.by_size.rend(); ++size) {
            if (size->first == 0 || size->second != model::Verdict::regressed) break;
            from = size->first;
        }
        text += fmt::format("{:>8}  {:>10}  {}\n",
                            of_case.minimum_detectable_change
                                ? fmt::format("{:.2f} %", 100 * *of_case.minimum_detectable_change)
                                : "-",
                            from ? fmt::format("{:g} %", 100 * *from) : "-",
                            model::printable(of_case.name.second, 200));
    }
    text +=
        fmt::format("\nslowdowns at or above the minimum detectable change: {}, found: {} ({})\n",
                    report.promised, report.kept, share(report.kept, report.promised));
    for (const std::string& problem : report.problems) {
        text += fmt::format("problem: {}\n", model::printable(problem, 1000));
    }
    if (report.unjudged > 0) {
        text += fmt::format("not judged: {}; `perfgate report` of the runs in {} says why\n",
                            report.unjudged, model::printable(request.measuring.out));
    }
    if (outcome.exit_code == 0) text += "the gate detects what it claims\n";
    model::write_file_atomically("-", text);
}

void write_json(const runner::SelfTestOutcome& outcome, const SelfTestOptions& options) {
    using document::JsonLayout;
    document::JsonWriter json(JsonLayout::lines);
    json.begin_object(JsonLayout::lines);
    write_field(json, "schema", "perfgate.selftest");
    write_field(json, "version", std::int64_t{2});
    write_field(json, "device", outcome.environment.device.name);
    write_field(json, "seed", options.request.seed);
    write_field(json, "tolerance", options.request.tolerance);
    write_field(json, "wall_s", outcome.wall_s);
    write_field(json, "interrupted", outcome.interrupted);
    write_field(json, "promised", static_cast<std::int64_t>(outcome.report.promised));
    write_field(json, "kept", static_cast<std::int64_t>(outcome.report.kept));
    write_field(json, "problems", outcome.report.problems);
    json.key("sizes");
    json.begin_array(JsonLayout::lines);
    for (const gate::SizeTally& size : outcome.report.sizes) {
        json.begin_object(JsonLayout::compact);
        write_field(json, "size", size.size);
        write_field(json, "cases", static_cast<std::int64_t>(size.cases));
        write_field(json, "regressed", static_cast<std::int64_t>(size.regressed));
        write_field(json, "inconclusive", static_cast<std::int64_t>(size.inconclusive));
        write_field(json, "improved", static_cast<std::int64_t>(size.improved));
        write_field(json, "pass", static_cast<std::int64_t>(size.passed));
        write_field(json, "not_judged", static_cast<std::int64_t>(size.unjudged));
        json.end_object();
    }
    json.end_array();
    json.key("cases");
    json.begin_array(JsonLayout::lines);
    for (const gate::CaseTally& of_case : outcome.report.cases) {
        json.begin_object(JsonLayout::compact);
        write_field(json, "suite", of_case.name.first);
        write_field(json, "id", of_case.name.second);
        if (of_case.minimum_detectable_change) {
            write_field(json, "minimum_detectable_change", *of_case.minimum_detectable_change);
        }
        json.key("verdicts");
        json.begin_object(JsonLayout::compact);
        for (const auto& [size, verdict] : of_case.by_size) {
            write_field(json, model::number_text(size), model::to_text(verdict));
        }
        json.end_object();
        json.end_object();
    }
    json.end_array();
    json.end_object();
    model::write_file_atomically(options.json, json.finish() + "\n");
}

int self_test(const CLI::App& verb, SelfTestOptions& options) {
    runner::SelfTestRequest& request = options.request;
    runner::OutputOptions output;
    apply_measuring_profile(verb, apply_profile(verb, options.gate, output), request.measuring);
    output.out = request.measuring.out;
    output.files["json"] = options.json;
    clear_outputs(verb, output);
    request.measuring.filters = options.gate.selection.filters;
    request.measuring.tags = options.gate.selection.tags;
    request.policy = policy_of(options.gate);
    for (const double size : options.sizes_percent) request.sizes.push_back(percent * size);
    request.tolerance = percent * options.tolerance_percent;
    request.seed = options.seed.value_or(runner::fresh_seed());
    const runner::SelfTestOutcome outcome = runner::self_test(request);
    if (!options.json.empty()) write_json(outcome, options);
    if (options.json != "-") print(outcome, options);
    return outcome.exit_code;
}

}  // namespace

void add_selftest(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "selftest", "Makes cases slower by known sizes and shows what the gate finds");
    const auto options = std::make_shared<SelfTestOptions>();
    runner::SelfTestRequest& request = options->request;
    request.measuring.out = "perfgate-selftest";
    verb->add_option("SUITE", request.suites, "Suite files")->required()->type_name("FILE");
    add_measuring_options(*verb, request.measuring);
    add_profile_option(*verb, options->gate.profile);
    add_selection_options(*verb, options->gate.selection);
    verb->add_option("--sizes", options->sizes_percent,
                     "Slowdowns in per cent of a launch's time, including 0 for false alarms")
        ->delimiter(',')
        ->check(CLI::Range(0.0, 1000.0))
        ->type_name("LIST")
        ->capture_default_str();
    verb->add_option("--tolerance", options->tolerance_percent, "Of every time, in per cent")
        ->check(CLI::Range(0.0, 100.0))
        ->capture_default_str();
    verb->add_option("--baseline-processes", request.processes_of_base,
                     "Processes of the baseline, which the self-test measures itself")
        ->check(CLI::Range(2, 1000))
        ->capture_default_str();
    verb->add_option("--seed", options->seed, "Who gets which size when (default: a fresh one)");
    verb->add_option("--out", request.measuring.out, "Folder of the runs: base, trial-1, …")
        ->type_name("DIR")
        ->capture_default_str();
    verb->add_option("--json", options->json, "The result as JSON (- is standard output)")
        ->type_name("FILE");
    verb->footer(
        "Every case gets every size once, in an order that the gate does not know, as work on the "
        "same device after\neach launch; only times are measured. Stored baselines are neither "
        "used nor changed.\nExit codes: 0 the gate detects what it claims; 1 it does not; 2 usage "
        "or invalid input; 3 something could\nnot be measured; 130 interrupted.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] { return self_test(*verb, *options); };
    });
}

}  // namespace perfgate::cli
