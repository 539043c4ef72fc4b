// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baseline/pooling.hpp"
#include "cli/fresh_seed.hpp"
#include "cli/options/gate.hpp"
#include "cli/run_file.hpp"
#include "cli/suspicions.hpp"
#include "cli/verbs/verb.hpp"
#include "cli/workers.hpp"
#include "document/json_writer.hpp"
#include "gate/base_run.hpp"
#include "gate/batch_rule.hpp"
#include "gate/rounds.hpp"
#include "gate/self_test.hpp"
#include "model/error.hpp"
#include "model/file.hpp"
#include "model/text.hpp"
#include "report/reporter.hpp"

namespace perfgate::cli {

namespace {

struct SelfTestOptions {
    std::vector<std::string> suites;
    MeasuringChoice measuring;
    GateOptions gate;
    std::vector<double> sizes{0, 0.5, 1, 2, 5, 10};  ///< %
    double tolerance = 0.5;                          ///< %
    std::size_t processes_of_base = baseline_processes;
    std::optional<std::uint64_t> seed;
    std::string out = "perfgate-selftest";
    std::string json;
};

constexpr double percent = 0.01;

/// The JUnit file must say what the verdicts say: a reader of CI sees nothing else.
std::string junit_problem(const model::VerdictDocument& verdict, const model::Run& run) {
    const auto counts = model::count_verdicts(verdict);
    const auto regressed = counts.find(model::Verdict::regressed);
    const std::int64_t expected = regressed == counts.end() ? 0 : regressed->second;
    const std::string junit = report::find_format("junit")->write(verdict, run, {});
    std::int64_t found = 0;
    for (std::size_t at = junit.find("<failure"); at != std::string::npos;
         at = junit.find("<failure", at + 1))
        ++found;
    if (found == expected) return {};
    return fmt::format("a trial has {} regressed cases and its JUnit file {} failures", expected,
                       found);
}

struct Outcome {
    gate::SelfTestReport report;
    double wall_s = 0;
    model::Environment environment;
    bool interrupted = false;
    int exit_code = 0;
};

class SelfTest {
  public:
    explicit SelfTest(const SelfTestOptions& options)
        : options_(options), policy_(policy_of(options.gate)), rule_(policy_) {
        for (const double size : options.sizes) sizes_.push_back(percent * size);
        std::sort(sizes_.begin(), sizes_.end());
        sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
    }

    Outcome carry_out(std::uint64_t seed) {
        const auto start = std::chrono::steady_clock::now();
        Outcome outcome;
        model::Run base = measure("base", options_.processes_of_base, [](model::Plan& plan) {
            for (model::PlannedSuite& suite : plan.suites)
                for (model::PlannedCase& planned : suite.cases) planned.added_work = 0;
        });
        outcome.environment = base.environment;
        outcome.interrupted = base.interrupted;
        gate::forget_code(base);
        baselines_ = gate::baselines_of(base, "base");

        std::vector<gate::Trial> trials;
        std::vector<std::string> problems;
        for (std::size_t number = 0; number < sizes_.size() && !outcome.interrupted; ++number) {
            gate::Trial trial;
            const model::Run run =
                measure(fmt::format("trial-{}", number + 1),
                        options_.measuring.processes.value_or(usual_processes),
                        [&](model::Plan& plan) { deal(plan, number, seed, trial); });
            outcome.interrupted = run.interrupted;
            if (run.interrupted) break;
            trial.verdict = gate::judge(run, baselines_, policy_, rule_);
            if (std::string problem = junit_problem(trial.verdict, run); !problem.empty())
                problems.push_back(std::move(problem));
            trials.push_back(std::move(trial));
        }
        outcome.report = gate::tally(trials);
        outcome.report.problems.insert(outcome.report.problems.end(), problems.begin(),
                                       problems.end());
        outcome.wall_s =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        outcome.exit_code = exit_code_of(outcome);
        return outcome;
    }

  private:
    int exit_code_of(const Outcome& outcome) const {
        if (outcome.interrupted) return 130;
        const int measured = outcome.report.unjudged > 0 ? 3 : stored_;
        return model::combine_exit_codes(outcome.report.problems.empty() ? 0 : 1, measured);
    }

    /// What each case of this trial gets, which the gate is not told.
    void deal(model::Plan& plan, std::size_t number, std::uint64_t seed, gate::Trial& trial) const {
        std::size_t cases = 0;
        for (const model::PlannedSuite& suite : plan.suites) cases += suite.cases.size();
        const auto dealt = gate::deal_sizes(cases, sizes_.size(), seed);
        std::size_t index = 0;
        for (model::PlannedSuite& suite : plan.suites) {
            for (model::PlannedCase& planned : suite.cases) {
                const double size = sizes_[dealt[index++][number]];
                planned.added_work = size;
                trial.added[{suite.name, model::case_id(planned.spec)}] = size;
            }
        }
    }

    model::Run measure(const std::string& name, std::size_t processes,
                       const std::function<void(model::Plan&)>& add_work) {
        fmt::print(stderr, "perfgate: self-test, {}\n", name);
        MeasuringChoice choice = options_.measuring;
        choice.out = (std::filesystem::path(options_.out) / name).string();
        choice.processes = processes;
        choice.ceilings = false;
        choice.change_plan = [&](model::Plan& plan) {
            gate::keep_times_alone(plan, percent * options_.tolerance);
            add_work(plan);
        };
        choice.round_size = gate::round_size;
        choice.again = [this](const model::Run& run) {
            return suspicions(run, baselines_, policy_, rule_);
        };
        if (baselines_.empty()) {
            choice.again = nullptr;
            choice.noisy = baseline::noisy;
        }
        model::Run run = measure_suites(options_.suites, choice);
        stored_ = model::combine_exit_codes(stored_, store_run(run, choice.out));
        return run;
    }

    const SelfTestOptions& options_;
    model::Policy policy_;
    gate::BatchRule rule_;
    std::vector<double> sizes_;
    gate::BaselineSet baselines_;
    int stored_ = 0;  ///< 3 where a run is not in its place
};

std::string share(std::size_t part, std::size_t whole) {
    return whole == 0 ? "-"
                      : fmt::format("{:.1f} %",
                                    100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void print(const Outcome& outcome, const SelfTestOptions& options, std::uint64_t seed) {
    const gate::SelfTestReport& report = outcome.report;
    std::string text = fmt::format(
        "self-test on {}, tolerance {:g} %, {} processes against {}, seed {}, {:.1f} s\n\n",
        model::printable(outcome.environment.device.name), options.tolerance,
        options.measuring.processes.value_or(usual_processes), options.processes_of_base, seed,
        outcome.wall_s);
    text += fmt::format("{:>8} {:>7} {:>11} {:>14} {:>10} {:>8} {:>10}\n", "slower", "cases",
                        "regressed", "inconclusive", "improved", "pass", "not judged");
    for (const gate::SizeTally& size : report.sizes)
        text += fmt::format("{:>7.4g}% {:>7} {:>11} {:>14} {:>10} {:>8} {:>10}\n", 100 * size.size,
                            size.cases, share(size.regressed, size.cases),
                            share(size.inconclusive, size.cases), size.improved, size.passed,
                            size.unjudged);
    text += "\n    sees  found from  case\n";
    for (const gate::CaseTally& of_case : report.cases) {
        // The least size from which on every one was found.
        std::optional<double> from;
        for (auto size = of_case.by_size.rbegin(); size != of_case.by_size.rend(); ++size) {
            if (size->first == 0 || size->second != model::Verdict::regressed) break;
            from = size->first;
        }
        text += fmt::format("{:>8}  {:>10}  {}\n",
                            of_case.sees ? fmt::format("{:.2f} %", 100 * *of_case.sees) : "-",
                            from ? fmt::format("{:g} %", 100 * *from) : "-",
                            model::printable(of_case.name.second, 200));
    }
    text += fmt::format("\nslowdowns as large as claimed to be seen: {}, found: {} ({})\n",
                        report.promised, report.kept, share(report.kept, report.promised));
    for (const std::string& problem : report.problems)
        text += fmt::format("problem: {}\n", model::printable(problem, 1000));
    if (report.unjudged > 0)
        text += fmt::format("not judged: {}; `perfgate report` of the runs in {} says why\n",
                            report.unjudged, model::printable(options.out));
    if (outcome.exit_code == 0) text += "the gate is as good as it says\n";
    model::write_file_atomically("-", text);
}

void write_json(const Outcome& outcome, const SelfTestOptions& options, std::uint64_t seed) {
    using document::JsonLayout;
    document::JsonWriter json(JsonLayout::lines);
    json.begin_object(JsonLayout::lines);
    write_field(json, "schema", "perfgate.selftest");
    write_field(json, "version", std::int64_t{1});
    write_field(json, "device", outcome.environment.device.name);
    write_field(json, "seed", seed);
    write_field(json, "tolerance", percent * options.tolerance);
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
        if (of_case.sees) write_field(json, "sees", *of_case.sees);
        json.key("verdicts");
        json.begin_object(JsonLayout::compact);
        for (const auto& [size, verdict] : of_case.by_size)
            write_field(json, model::number_text(size), model::to_text(verdict));
        json.end_object();
        json.end_object();
    }
    json.end_array();
    json.end_object();
    model::write_file_atomically(options.json, json.finish() + "\n");
}

}  // namespace

void add_selftest(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "selftest", "Makes cases slower by known sizes and shows what the gate finds");
    const auto options = std::make_shared<SelfTestOptions>();
    verb->add_option("SUITE", options->suites, "Suite files")->required()->type_name("FILE");
    add_measuring_options(*verb, options->measuring);
    add_profile_option(*verb, options->gate.profile);
    add_selection_options(*verb, options->gate.selection);
    verb->add_option("--sizes", options->sizes,
                     "Slowdowns in per cent of a launch's time, 0 among them for false alarms")
        ->delimiter(',')
        ->check(CLI::Range(0.0, 1000.0))
        ->type_name("LIST")
        ->capture_default_str();
    verb->add_option("--tolerance", options->tolerance, "Of every time, in per cent")
        ->check(CLI::Range(0.0, 100.0))
        ->capture_default_str();
    verb->add_option("--baseline-processes", options->processes_of_base,
                     "Processes of the baseline, which the self-test measures itself")
        ->check(CLI::Range(2, 1000))
        ->capture_default_str();
    verb->add_option("--seed", options->seed, "Who gets which size when (default: a fresh one)");
    verb->add_option("--out", options->out, "Folder of the runs: base, trial-1, …")
        ->type_name("DIR")
        ->capture_default_str();
    verb->add_option("--json", options->json, "The result as JSON (- is standard output)")
        ->type_name("FILE");
    verb->footer(
        "Every case gets every size once, in an order that the gate does not know, as work on the "
        "same device after\neach launch; times alone are measured. No stored baseline takes part "
        "and none is changed.\nExit codes: 0 the gate is as good as it says; 1 it is not; 2 usage "
        "or invalid input; 3 something could\nnot be measured; 130 interrupted.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] {
            OutputOptions output;
            apply_measuring_profile(*verb, apply_profile(*verb, options->gate, output),
                                    options->measuring);
            output.out = options->out;
            output.files["json"] = options->json;
            clear_outputs(*verb, output);
            options->measuring.filters = options->gate.selection.filters;
            options->measuring.tags = options->gate.selection.tags;
            const std::uint64_t seed = options->seed.value_or(fresh_seed());
            const Outcome outcome = SelfTest(*options).carry_out(seed);
            if (!options->json.empty()) write_json(outcome, *options, seed);
            if (options->json != "-") print(outcome, *options, seed);
            return outcome.exit_code;
        };
    });
}

}  // namespace perfgate::cli
