// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/batch_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "inject/settings.hpp"
#include "kinds/command/program_runs.hpp"
#include "metrics/catalogue.hpp"
#include "model/host_time.hpp"
#include "stats/quantiles.hpp"
#include "util/text.hpp"

namespace perfgate::command {
namespace {

const model::Method recorded_method{model::activity_source, "callbacks"};
const model::Method api_method{model::activity_source, "api"};

/// Values that compare processes.
bool is_between_processes(std::string_view metric) {
    return metric == "communication_skew" || metric == "own_span" || metric == "bus_bandwidth";
}

/// Since 0.2.0 the window of a range or of a captured part begins behind what its work waited for:
/// before, it contained as much of that as the host was ahead.
model::Method of_window(model::Method method) {
    method.way += "/behind-backlog";
    return method;
}

/// Why a recording does not have the fact; empty: it has.
std::string why_untold(const Recorded& recorded, const std::string& metric) {
    for (const RecordedProcess& process : recorded.processes()) {
        const std::string& untold = process.timeline.recording().field("untold");
        if ((' ' + untold + ' ').find(' ' + metric + ' ') == std::string::npos) continue;
        return fmt::format("what {} wrote does not tell it",
                           util::printable(process.timeline.recording().field("tool")));
    }
    return {};
}

/// What was counted must be what was recorded: another run may have launched something else.
void require_recorded(const model::CaseResult& result, LabelCounters& counters) {
    if (!counters.problem.empty()) return;
    for (const CountedKernel& counted : counters.kernels) {
        const bool recorded = std::ranges::any_of(result.kernels, [&](const model::Kernel& kernel) {
            return kernel.name == counted.name && kernel.grid == counted.grid;
        });
        if (recorded) continue;
        counters.problem = fmt::format(
            "the counted kernel {} with grid {}x{}x{} is not among those that were recorded: "
            "the program launches other kernels in each run",
            util::printable(counted.name, 120), counted.grid[0], counted.grid[1], counted.grid[2]);
        return;
    }
}

}  // namespace

BatchResults::BatchResults(const measure::ProgramRequest& request,
                           std::vector<model::CaseResult>& results)
    : request_(request),
      command_(command_of(*request.cases.front()->subject)),
      results_(results),
      recorded_(recorded_method),
      with_calls_(api_method),
      with_kernels_(request.first) {}

BatchResults::BatchResults(const measure::ProgramRequest& request,
                           std::vector<model::CaseResult>& results, const model::Method& method)
    : request_(request),
      command_(command_of(*request.cases.front()->subject)),
      results_(results),
      recorded_(method),
      with_calls_(method),
      with_kernels_(true) {}

const Piece& BatchResults::piece_of(std::size_t index) const {
    return command::piece_of(*request_.cases[index]->subject);
}

model::Method BatchResults::method_of(model::Method level, const Recorded& recorded) const {
    const bool captured = recorded.capture().is_stated();
    const bool of_benchmark = !command_.out_extension.empty();
    const std::size_t processes = captured ? recorded.counted() : recorded.working();
    if (captured || !of_benchmark) level.processes = std::max(static_cast<int>(processes), 1);
    return level;
}

void BatchResults::add(std::size_t index, const std::string& metric, const model::Method& method,
                       std::vector<double> samples) {
    const model::PlannedCase& planned = *request_.cases[index];
    model::CaseResult& result = results_[index];
    const auto& wanted = planned.metrics;
    if (result.status == model::CaseStatus::error || samples.empty()) return;
    if (std::ranges::find(wanted, metric) == wanted.end()) return;
    model::Batch batch{request_.process, request_.board, planned.seed, std::move(samples)};
    batch.round = request_.round;
    const double value = stats::median(batch.samples);
    result.metrics[metric] = {
        metrics::find_metric(metric)->definition.unit, value, method, {std::move(batch)}};
}

void BatchResults::add_details(std::size_t index,
                               const std::map<std::string, std::string>& details) {
    for (const auto& [metric, detail] : details) {
        const auto series = results_[index].metrics.find(metric);
        if (series != results_[index].metrics.end()) series->second.detail = detail;
    }
}

void BatchResults::add_recording(const Recorded& recorded) {
    const model::Method method = method_of(recorded_, recorded);
    const std::vector<std::string> notes = recorded.notes();
    for (std::size_t i = 0; i < results_.size(); ++i) {
        results_[i].notes.insert(results_[i].notes.end(), notes.begin(), notes.end());
        add_values(i, recorded, method);
    }
}

void BatchResults::add_values(std::size_t index, const Recorded& recorded,
                              const model::Method& method) {
    model::CaseResult& result = results_[index];
    PieceValues values = values_of(recorded, piece_of(index));
    if (!values.problem.empty()) return model::set_error(result, values.problem);
    if (!values.idle.empty()) {
        if (!may_be_idle(index)) return model::set_error(result, values.idle);
        result.notes.push_back(values.idle);
    }
    if (!values.note.empty()) result.notes.push_back(values.note);
    const bool windows =
        piece_of(index).kind == Piece::Kind::range || recorded.capture().is_stated();
    for (auto& [metric, samples] : values.samples) {
        // Between another number of processes it is not comparable.
        model::Method of_metric =
            windows && metric != "communication_skew" && model::contains_host_time(metric)
                ? of_window(method)
                : method;
        if (is_between_processes(metric)) {
            of_metric.communicating = static_cast<int>(values.communicating);
        }
        add(index, metric, of_metric, thinned(std::move(samples)));
    }
    for (const auto& [metric, why] : values.not_known) note_unknown(index, metric, why);
    for (const auto& [metric, count] : values.counts) add(index, metric, method, {count});
    add_details(index, values.details);
    if (!with_kernels_) return;
    result.kernels = kernels_of(recorded, piece_of(index));
    result.memory_operations = memory_operations_of(recorded, piece_of(index));
    add_launch_facts(index, recorded);
}

void BatchResults::add_bare(double wall_ns, const Recorded* ranges, const Recorded& recorded,
                            double recorded_ns) {
    for (std::size_t i = 0; i < results_.size(); ++i) {
        if (results_[i].status == model::CaseStatus::error) continue;
        add(i, "wall_time", {model::wall_source, ""}, {wall_ns});
        const std::optional<double> own =
            ranges == nullptr ? std::nullopt : recording_overhead(*ranges, recorded, piece_of(i));
        double length = wall_ns;
        const auto span = results_[i].metrics.find("span");
        if (recorded.capture().is_stated() && span != results_[i].metrics.end() &&
            piece_of(i).kind == Piece::Kind::program) {
            length = span->second.value;  // all that recording added may be in this part
        }
        const double whole = (recorded_ns - wall_ns) / length;
        add(i, "tracing_overhead", own ? model::Method(model::ranges_source, "") : recorded_method,
            {100 * own.value_or(whole)});
    }
}

void BatchResults::add_other_work(const std::optional<util::OtherWork>& recorded,
                                  const std::optional<util::OtherWork>& bare) {
    for (model::CaseResult& result : results_) {
        for (auto& [metric, series] : result.metrics) {
            const bool of_bare_run = series.method.source == model::wall_source;
            if (series.unit != "ns" || !(of_bare_run || model::contains_host_time(metric))) {
                continue;
            }
            for (model::Batch& batch : series.batches) {
                batch.other_work = of_bare_run ? bare : recorded;
            }
        }
    }
}

bool BatchResults::may_be_idle(std::size_t index) const {
    const std::vector<model::GateRule>& gates = request_.cases[index]->gates;
    if (gates.empty()) return !request_.gated.empty() && !request_.gated[index];
    return std::ranges::all_of(
        gates, [](const model::GateRule& gate) { return model::contains_host_time(gate.metric); });
}

void BatchResults::add_unrecorded(const DeviceWatch::Unrecorded& unrecorded, double recorded_ns) {
    std::vector<std::string> notes = unrecorded_notes(unrecorded);
    const double share = 1e9 * unrecorded.seconds / recorded_ns;
    const std::vector<std::string>& commands = unrecorded.commands;
    const bool too_long = !commands.empty() && share >= least_time_tolerance();
    for (model::CaseResult& result : results_) {
        result.notes.insert(result.notes.end(), notes.begin(), notes.end());
        if (!too_long || result.status == model::CaseStatus::error) continue;
        result.status = model::CaseStatus::invalid;
        result.reason = fmt::format(
            "'{}'{} had the GPU open for {:.3g} % of the program's time and left no recording: "
            "pass {} on to what the program starts",
            commands.front(),
            commands.size() > 1
                ? fmt::format(" and {}", util::counted(commands.size() - 1, "other command"))
                : "",
            100 * std::min(share, 1.0), inject::driver_variable);
    }
}

double BatchResults::least_time_tolerance() const {
    std::optional<double> least;
    for (std::size_t i = 0; i < results_.size(); ++i) {
        for (const model::GateRule& gate : request_.cases[i]->gates) {
            const auto metric = metrics::find_metric(gate.metric);
            if (!metric || metric->definition.unit != "ns" || metric->from_bare_runs) continue;
            const auto measured = results_[i].metrics.find(gate.metric);
            const double value = measured != results_[i].metrics.end() ? measured->second.value : 0;
            const double leeway = value > 0 ? gate.tolerance.abs / value : 0;
            const double tolerance = std::max(gate.tolerance.worse, leeway);
            least = std::min(least.value_or(tolerance), tolerance);
        }
    }
    return least.value_or(0);
}

void BatchResults::add_launch_facts(std::size_t index, const Recorded& recorded) {
    model::CaseResult& result = results_[index];
    for (const std::string& name : request_.cases[index]->metrics) {
        const auto metric = metrics::find_metric(name);
        if (!metric || metric->source != metrics::Source::kernel_record) continue;
        if (std::string why = why_untold(recorded, name); !why.empty()) {
            if (is_gated(index, name)) result.not_collected.push_back({name, std::move(why)});
            continue;
        }
        if (const auto value = metrics::fold_records(*metric, result.kernels)) {
            add(index, name, recorded_, {*value});
            continue;
        }
        // What the suite does not name itself is simply not there.
        if (metric->by_name_only || is_gated(index, name)) {
            result.not_collected.push_back(
                {name,
                 result.kernels.empty()
                     ? fmt::format("the case has more than {} different kernels", most_kernels)
                     : metrics::why_no_fact(*metric, result.kernels)});
        }
    }
}

void BatchResults::note_unknown(std::size_t index, const std::string& metric,
                                const std::string& why) {
    if (!is_gated(index, metric)) return;
    if (request_.first) {
        results_[index].not_collected.push_back({metric, why});
    } else {
        results_[index].notes.push_back(fmt::format("a batch without {}: {}", metric, why));
    }
}

bool BatchResults::is_gated(std::size_t index, const std::string& metric) const {
    const std::vector<model::GateRule>& gates = request_.cases[index]->gates;
    return std::ranges::any_of(gates,
                               [&](const model::GateRule& gate) { return gate.metric == metric; });
}

void BatchResults::add_api_counts(const Recorded& recorded) {
    const model::Method method = method_of(with_calls_, recorded);
    for (std::size_t i = 0; i < results_.size(); ++i) {
        for (auto& [metric, counted] : api_counts_of(recorded, piece_of(i))) {
            if (counted.count) add(i, metric, method, {*counted.count});
            if (!counted.problem.empty() && is_gated(i, metric) &&
                results_[i].status != model::CaseStatus::error) {
                results_[i].not_collected.push_back({metric, counted.problem});
            }
            const auto series = results_[i].metrics.find(metric);
            if (series != results_[i].metrics.end()) series->second.detail = counted.detail;
        }
    }
}

std::vector<metrics::Metric> BatchResults::counter_metrics(std::size_t index) const {
    std::vector<metrics::Metric> found;
    if (results_[index].status == model::CaseStatus::error ||
        piece_of(index).kind != Piece::Kind::kernels) {
        return found;
    }
    for (const std::string& name : request_.cases[index]->metrics) {
        auto metric = metrics::find_metric(name);
        if (metric && metric->source == metrics::Source::counter) {
            found.push_back(std::move(*metric));
        }
    }
    return found;
}

void BatchResults::add_counters(ProgramCounters counters, const std::vector<std::size_t>& cases) {
    for (std::size_t label = 0; label < cases.size(); ++label) {
        require_recorded(results_[cases[label]], counters.labels[label]);
        for (const metrics::Metric& metric : counter_metrics(cases[label])) {
            add_counter(cases[label], metric, metric_of(counters, label, metric));
        }
    }
}

void BatchResults::add_counter(std::size_t index, const metrics::Metric& metric,
                               CounterMetric found) {
    const std::string& name = metric.definition.name;
    model::CaseResult& result = results_[index];
    if (found.not_applicable) {
        result.not_applicable.push_back(name);
    } else if (!found.problem.empty()) {
        result.not_collected.push_back({name, found.problem});
    } else {
        // Means over another number of processes are not comparable.
        model::Method method{model::counter_source, "auto-range/application-replay"};
        method.processes = std::max(static_cast<int>(found.processes), 1);
        add(index, name, method, std::move(found.samples));
        const auto series = result.metrics.find(name);
        if (found.processes > 1 && series != result.metrics.end()) {
            series->second.detail = fmt::format("mean of {} processes", found.processes);
        }
    }
}

std::vector<std::string> BatchResults::sampled_metrics(std::size_t index) const {
    std::vector<std::string> found;
    if (results_[index].status == model::CaseStatus::error ||
        piece_of(index).kind == Piece::Kind::kernels) {
        return found;
    }
    for (const std::string& name : request_.cases[index]->metrics) {
        const auto metric = metrics::find_metric(name);
        if (metric && metric->sampled) found.push_back(name);
    }
    return found;
}

std::vector<std::size_t> BatchResults::sampled_cases() const {
    std::vector<std::size_t> sampled;
    for (std::size_t i = 0; i < results_.size(); ++i) {
        if (!sampled_metrics(i).empty()) sampled.push_back(i);
    }
    return sampled;
}

void BatchResults::add_samples(const Recorded* recorded, const std::string& problem) {
    for (const std::size_t i : sampled_cases()) {
        SampledValues values;
        if (recorded != nullptr) {
            values = sampled_values_of(*recorded, piece_of(i));
        } else {
            values.problem = problem;
        }
        for (const std::string& name : sampled_metrics(i)) {
            const auto found = values.samples.find(name);
            if (recorded == nullptr || found == values.samples.end()) {
                results_[i].not_collected.push_back(
                    {name, values.problem.empty() ? values.absent : values.problem});
                continue;
            }
            model::Method method{model::counter_source, "samples"};
            if (piece_of(i).kind == Piece::Kind::range) method = of_window(method);
            method.processes = std::max(static_cast<int>(recorded->working()), 1);
            add(i, name, method, found->second);
        }
        add_details(i, values.details);
    }
}

void BatchResults::note_missing() {
    if (!request_.first) return;
    for (std::size_t index = 0; index < results_.size(); ++index) {
        model::CaseResult& result = results_[index];
        if (result.status == model::CaseStatus::error) continue;
        for (const model::GateRule& gate : request_.cases[index]->gates) {
            const auto named = [&](const auto& entry) { return entry.metric == gate.metric; };
            if (result.metrics.contains(gate.metric) ||
                std::ranges::any_of(result.not_collected, named) ||
                std::ranges::find(result.not_applicable, gate.metric) !=
                    result.not_applicable.end()) {
                continue;
            }
            result.not_collected.push_back({gate.metric, "the recording does not contain it"});
        }
    }
}

}  // namespace perfgate::command
