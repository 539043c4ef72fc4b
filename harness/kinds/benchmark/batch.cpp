// SPDX-License-Identifier: Apache-2.0
#include "kinds/benchmark/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "kinds/benchmark/benchmark.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/results.hpp"
#include "kinds/command/program_runs.hpp"
#include "kinds/command/recorder.hpp"
#include "metrics/catalogue.hpp"
#include "model/command_words.hpp"
#include "program/capture.hpp"
#include "stats/quantiles.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

namespace fs = std::filesystem;
using command::Command;
using command::Failure;
using command::ProgramRuns;

/// Whether it is told which file to write.
bool writes_file(const Command& command) {
    const auto names_it = [](const std::string& text) {
        return text.find(model::out_word) != std::string::npos;
    };
    return std::ranges::any_of(command.words, names_it) ||
           std::ranges::any_of(command.environment,
                               [&](const auto& variable) { return names_it(variable.second); });
}

std::string read_output(const fs::path& file) {
    std::error_code error;
    if (!fs::exists(file, error)) {
        throw Failure{fmt::format("the benchmark wrote no results: {} does not exist",
                                  util::printable(file.native())),
                      ""};
    }
    return util::read_file(file, most_bytes, "results");
}

std::string read_stream(const fs::path& file, std::string_view what) {
    std::error_code error;
    if (fs::file_size(file, error) > program::Capture::head_bytes) {
        throw Failure{
            fmt::format("the benchmark wrote more than 1 MiB to its {}: let it write to '{{out}}'",
                        what),
            ""};
    }
    return read_output(file);
}

/// Runs one process of the benchmark and reads its results.
Results run_once(const ProgramRuns& programs, const Benchmark& benchmark, const std::string& name) {
    const Layout& reading = benchmark.layout();
    const Command& command = benchmark.command();
    const Format& format = *find_format(reading.format);
    fs::path file = programs.out_file(name);
    std::error_code error;
    if (!format.folder_suffix.empty()) {
        fs::remove_all(file.native() + std::string(format.folder_suffix), error);
    }
    const program::End end =
        programs.run({command.words, name, "benchmark", {}, command.exit_status, "the benchmark"});
    const auto read = [&] {
        if (writes_file(command)) {
            return read_results(read_output(file), file.filename().native(), reading,
                                file.parent_path());
        }
        std::string text = read_stream(programs.folder() / (name + ".stdout"), "standard output");
        if (format.is_printed) {
            // The last line may have no end.
            text += '\n' + read_stream(programs.folder() / (name + ".stderr"), "standard error");
        }
        return read_results(text, name + ".stdout", reading, programs.folder());
    };
    Results results = read();
    if (!format.of_gpu && format.is_recognised()) results.other_work = end.other_work;
    return results;
}

const model::MetricDefinition& definition_of(const Layout& reading, const std::string& metric) {
    static const std::map<std::string, model::MetricDefinition> known = [] {
        std::map<std::string, model::MetricDefinition> found;
        for (const metrics::Metric& row : metrics::catalogue()) {
            found.emplace(row.definition.name, row.definition);
        }
        return found;
    }();
    for (const Value& value : reading.values) {
        if (value.definition.name == metric) return value.definition;
    }
    return known.at(metric);
}

/// The values of one case from its result.
void take_values(const measure::ProgramRequest& request, const model::PlannedCase& planned,
                 const Results& all, const Result& found, model::CaseResult& result) {
    const Layout& reading = benchmark_of(*planned.subject).layout();
    if (!found.problem.empty()) return model::set_error(result, found.problem);
    if (!found.skipped.empty()) {
        return model::set_error(result, found.skipped + "; another process or the base did not");
    }
    std::size_t most = 0;
    for (const auto& [metric, samples] : found.metrics) {
        const auto& wanted = planned.metrics;
        if (std::ranges::find(wanted, metric) == wanted.end()) continue;
        most = std::max(most, samples.values.size());
        model::Batch batch{request.process, request.board, planned.seed,
                           command::thinned(samples.values)};
        batch.round = request.round;
        const model::MetricDefinition& definition = definition_of(reading, metric);
        if (definition.metric_class == model::MetricClass::timing) {
            batch.other_work = all.other_work;
            // A thread that waits takes no processor time.
            if (metric == "cpu_time" && batch.other_work) batch.other_work->waited = 0;
        }
        const double value = stats::median(batch.samples);
        result.metrics[metric] = {definition.unit, value, samples.method, {std::move(batch)}};
    }
    for (const model::GateRule& gate : planned.gates) {
        if (result.metrics.contains(gate.metric)) continue;
        return model::set_error(
            result, fmt::format("{} is gated, and the benchmark does not report it for this case: "
                                "gate it in overrides for the cases that have it",
                                gate.metric));
    }
    result.notes = all.notes;
    result.notes.insert(result.notes.end(), found.notes.begin(), found.notes.end());
    if (!request.first) return;
    const std::string_view more = find_format(reading.format)->more_samples;
    if (most == 1 && !more.empty()) {
        result.notes.push_back(
            fmt::format("each process gives one value; several, by {}, show more", more));
    }
}

void take_all(const measure::ProgramRequest& request, const Results& all,
              std::vector<model::CaseResult>& results) {
    std::map<std::string, const Result*> by_id;
    for (const Result& found : all.results) by_id.emplace(id_of(found), &found);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const model::PlannedCase& planned = *request.cases[i];
        const auto found = by_id.find(benchmark_of(*planned.subject).result());
        if (found == by_id.end()) {
            model::set_error(
                results[i], "the benchmark does not report it, as another process or the base did");
        } else {
            take_values(request, planned, all, *found->second, results[i]);
        }
    }
}

std::vector<model::DiscoveredCase> discovered_in(const Results& all) {
    std::vector<model::DiscoveredCase> cases;
    for (const Result& found : all.results) {
        cases.push_back({found.name, found.params, found.skipped});
    }
    return cases;
}

}  // namespace

kinds::StoredResults read_stored(const model::Subject& subject, const fs::path& file) {
    std::string text = util::read_file(file, most_bytes, "results");
    const auto all = std::make_shared<const Results>(
        read_results(text, util::printable(file.native()), benchmark_of(subject).layout(),
                     fs::absolute(file).parent_path()));
    return {discovered_in(*all),
            all->machine,
            all->device,
            all->constants,
            std::move(text),
            [all](const measure::ProgramRequest& request, std::vector<model::CaseResult>& results) {
                take_all(request, *all, results);
                command::conclude(true, results);
            }};
}

model::Discovered find_results(const kinds::Machine& machine, const model::Subject& subject) {
    command::require_no_other_tools();
    const Benchmark& benchmark = benchmark_of(subject);
    model::Discovered discovered;
    const ProgramRuns programs(machine, benchmark.command());
    machine.tell(benchmark.command().name + ": first run, which shows its cases");
    try {
        discovered.cases = discovered_in(run_once(programs, benchmark, "first"));
    } catch (const command::Stopped&) {
        discovered.stopped = true;
    } catch (const Failure& failure) {
        discovered.problem = failure.reason;
        discovered.log = failure.log;
    } catch (const util::Error& error) {
        discovered.problem = error.what();
    }
    return discovered;
}

Measurement::Measurement(kinds::Machine machine) : machine_(std::move(machine)) {
    command::require_no_other_tools();
}

bool Measurement::measure(const measure::ProgramRequest& request,
                          std::vector<model::CaseResult>& results,
                          const std::function<void(std::string_view phase)>& observe) {
    return command::take_batch(results, [&] { take(request, results, observe); });
}

void Measurement::take(const measure::ProgramRequest& request,
                       std::vector<model::CaseResult>& results,
                       const std::function<void(std::string_view phase)>& observe) const {
    const Benchmark& benchmark = benchmark_of(*request.cases.front()->subject);
    const Command& command = benchmark.command();
    if (request.verify_only && command.check.empty()) return command::conclude(true, results);
    const ProgramRuns programs(machine_, command);
    const std::string prefix = std::to_string(request.process);
    if (request.first && !request.verify_only) {
        for (int i = 0; i < command.warm_up_runs; ++i) {
            observe("warm-up");
            run_once(programs, benchmark, prefix + "-warm-up");
        }
    }
    observe("benchmark");
    const Results all = run_once(programs, benchmark, prefix + "-benchmark");
    bool correct = true;
    if (request.first && !command.check.empty()) {
        observe("check");
        correct = programs.check(request.process, results);
    }
    if (correct && !request.verify_only) take_all(request, all, results);
    command::conclude(correct, results);
}

}  // namespace perfgate::benchmark
