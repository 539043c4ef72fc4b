// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/measurement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "activity/recording.hpp"
#include "inject/counter_request.hpp"
#include "inject/settings.hpp"
#include "kinds/command/counter_passes.hpp"
#include "kinds/command/device_watch.hpp"
#include "kinds/command/pieces.hpp"
#include "kinds/command/program_code.hpp"
#include "kinds/command/recorder.hpp"
#include "metrics/catalogue.hpp"
#include "model/host_time.hpp"
#include "stats/quantiles.hpp"
#include "traces/traces.hpp"
#include "util/error.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::command {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

const model::Method recorded_method{model::activity_source, "callbacks"};
const model::Method api_method{model::activity_source, "api"};

/// Values of another number of processes are not comparable: one may have vanished. How many a
/// benchmark starts may depend on its speed.
model::Method method_of(model::Method level, const Recorded& recorded, bool of_benchmark) {
    const bool captured = recorded.capture().is_stated();
    const std::size_t processes = captured ? recorded.counted() : recorded.working();
    if (captured || !of_benchmark) level.processes = std::max(static_cast<int>(processes), 1);
    return level;
}

/// Values that compare processes.
bool is_between_processes(std::string_view metric) {
    return metric == "communication_skew" || metric == "own_span" || metric == "bus_bandwidth";
}

/// One batch of one command.
class BatchTaker {
  public:
    BatchTaker(const kinds::Machine& machine, const measure::ProgramRequest& request,
               std::vector<model::CaseResult>& results,
               const std::function<void(std::string_view)>& observe)
        : machine_(machine),
          request_(request),
          command_(command_of(*request.cases.front()->subject)),
          results_(results),
          observe_(observe),
          recorded_(recorded_method),
          with_calls_(api_method) {
        programs_.emplace(machine, command_);
    }

    /// Takes the values from what another tool recorded; `method` names it.
    BatchTaker(const measure::ProgramRequest& request, std::vector<model::CaseResult>& results,
               const model::Method& method)
        : machine_(nowhere()),
          request_(request),
          command_(command_of(*request.cases.front()->subject)),
          results_(results),
          observe_(unobserved()),
          recorded_(method),
          with_calls_(method) {}

    void take_stored(const Recorded& recorded) {
        measure(std::nullopt, recorded, 0);
        conclude(true, results_);
    }

    void take() {
        if (samples_only()) return sample();
        if (request_.verify_only && command_.check.empty()) return conclude(correct_, results_);
        if (request_.first && !request_.verify_only) {
            for (int i = 0; i < command_.warm_up_runs; ++i) {
                observe_("warm-up");
                run("warm-up", {});
            }
        }
        std::optional<Bare> bare;
        if (needs_bare_run()) bare = run_bare();
        double recorded_ns = 0;
        std::unique_ptr<Recorded> recorded;
        if (!request_.verify_only) recorded = record(inject::Level::callbacks, recorded_ns);
        if (request_.first && !command_.check.empty()) {
            observe_("check");
            correct_ = programs_->check(request_.process, results_);
        }
        if (recorded != nullptr && correct_) measure(bare, *recorded, recorded_ns);
        conclude(correct_, results_);
    }

  private:
    static const kinds::Machine& nowhere() {
        static const kinds::Machine none;
        return none;
    }
    static const std::function<void(std::string_view)>& unobserved() {
        static const std::function<void(std::string_view)> none;
        return none;
    }

    /// Runs the program to its end and returns its time, ns.
    double run(const std::string& kind, const Variables& variables, DeviceWatch* watch = nullptr) {
        ProgramRun program{command_.words,
                           fmt::format("{}-{}", request_.process, kind),
                           kind,
                           variables,
                           command_.exit_status,
                           "the program"};
        if (watch != nullptr) {
            program.watch = [watch](const auto& processes) { watch->look(processes); };
        }
        const program::End end = programs_->run(program);
        return std::chrono::duration<double, std::nano>(end.time).count();
    }

    /// A run in which nothing is recorded but how long ranges take on the host.
    struct Bare {
        double wall_ns = 0;
        std::unique_ptr<Recorded> ranges;  ///< null: no range is measured
    };

    /// For the overhead's interval, or because what only bare runs tell is gated.
    [[nodiscard]] bool needs_bare_run() const {
        if (request_.overhead || request_.verify_only) return true;
        return std::any_of(
            request_.cases.begin(), request_.cases.end(), [](const model::PlannedCase* planned) {
                return std::any_of(planned->gates.begin(), planned->gates.end(),
                                   [](const model::GateRule& gate) {
                                       const auto metric = metrics::find_metric(gate.metric);
                                       return metric && metric->from_bare_runs;
                                   });
            });
    }

    Bare run_bare() {
        observe_("bare");
        const bool any_range =
            std::any_of(request_.cases.begin(), request_.cases.end(), [](const auto* planned) {
                return command::piece_of(*planned->subject).kind == Piece::Kind::range;
            });
        Bare bare;
        if (!any_range || request_.verify_only) {
            bare.wall_ns = run("bare", {});
            return bare;
        }
        const RecordingFolder folder("");
        bare.wall_ns = run("bare", environment_of(inject::Level::ranges, folder));
        std::vector<activity::Recording> recordings;
        std::error_code error;
        if (!fs::is_empty(folder.path(), error)) {
            for (const fs::path& file : activity::recordings_in(folder.path())) {
                activity::Recording recording = activity::read_recording(file);
                if (recording.incomplete.empty()) recordings.push_back(std::move(recording));
            }
        }
        bare.ranges = std::make_unique<Recorded>(std::move(recordings));
        return bare;
    }

    [[nodiscard]] Variables environment_of(inject::Level level, const RecordingFolder& folder,
                                           bool waits = false, bool stacks = false) const {
        inject::Settings settings;
        settings.folder = folder.path();
        settings.level = level;
        settings.waits = waits;
        if (stacks) settings.stacks_us = inject::usual_stacks_us;
        settings.code = command_.code;
        return inject::environment_for(settings, machine_.library);
    }

    /// The time that the program took while it was recorded goes to `wall_ns`. In the first batch
    /// the calls that are counted once are on record, too: few beside the launches.
    std::unique_ptr<Recorded> record(inject::Level level, double& wall_ns) {
        const std::string kind = inject::to_text(level);
        observe_(kind);
        const RecordingFolder folder("");
        DeviceWatch watch;
        const bool waits = samples_only() || (request_.first && level == inject::Level::callbacks);
        wall_ns = run(kind, environment_of(level, folder, waits, samples_only()), &watch);
        std::vector<activity::Recording> recordings = recordings_of(folder);
        for (const activity::Recording& recording : recordings) {
            const std::vector<std::string>& why = recording.incomplete;
            if (!why.empty()) {
                throw Failure{"the recording is incomplete: " + util::printable(why.front(), 300),
                              ""};
            }
        }
        if (level == inject::Level::callbacks) unrecorded_ = watch.unrecorded(recordings);
        return std::make_unique<Recorded>(std::move(recordings), command_.capture);
    }

    /// Complete or not.
    static std::vector<activity::Recording> recordings_of(const RecordingFolder& folder) {
        std::error_code error;
        if (fs::is_empty(folder.path(), error)) {
            throw Failure{
                "nothing was recorded: the program did not use CUDA, or does not pass its "
                "environment on to what it starts",
                ""};
        }
        std::vector<activity::Recording> recordings;
        for (const fs::path& file : activity::recordings_in(folder.path())) {
            recordings.push_back(activity::read_recording(file));
        }
        return recordings;
    }

    void measure(const std::optional<Bare>& bare, const Recorded& recorded, double recorded_ns) {
        const model::Method method = method_of(recorded_, recorded, of_benchmark());
        const std::vector<std::string> notes = recorded.notes();
        for (std::size_t i = 0; i < results_.size(); ++i) {
            results_[i].notes.insert(results_[i].notes.end(), notes.begin(), notes.end());
            PieceValues values = values_of(recorded, piece_of(i));
            if (!values.problem.empty()) {
                model::set_error(results_[i], values.problem);
                continue;
            }
            if (!values.idle.empty()) {
                if (!may_be_idle(i)) {
                    model::set_error(results_[i], values.idle);
                    continue;
                }
                results_[i].notes.push_back(values.idle);
            }
            if (!values.note.empty()) results_[i].notes.push_back(values.note);
            for (auto& [metric, samples] : values.samples) {
                // Between another number of processes it is not comparable.
                model::Method of_metric = method;
                if (is_between_processes(metric)) {
                    of_metric.communicating = static_cast<int>(values.communicating);
                }
                add(i, metric, of_metric, thinned(std::move(samples)));
            }
            for (const auto& [metric, why] : values.not_known) note_unknown(i, metric, why);
            for (const auto& [metric, count] : values.counts) {
                add(i, metric, method, {count});
            }
            for (const auto& [metric, detail] : values.details) {
                const auto series = results_[i].metrics.find(metric);
                if (series != results_[i].metrics.end()) series->second.detail = detail;
            }
            if (request_.first || !programs_) {
                results_[i].kernels = kernels_of(recorded, piece_of(i));
                results_[i].memory_operations = memory_operations_of(recorded, piece_of(i));
                add_launch_facts(i, recorded);
            }
            if (!bare) continue;
            add(i, "wall_time", {model::wall_source, ""}, {bare->wall_ns});
            add_overhead(i, *bare, recorded, recorded_ns);
        }
        if (programs_) judge_unrecorded(recorded_ns);
        if (request_.first || !programs_) count_once(recorded);
        if (request_.first && programs_) {
            collect_counters();
            collect_samples();
        }
        for (std::size_t i = 0; i < results_.size(); ++i) note_missing(i);
    }

    /// Whether only the host's time in the range is gated, or nothing of it. Of what should work on
    /// the device no count is right if it does nothing.
    [[nodiscard]] bool may_be_idle(std::size_t index) const {
        const std::vector<model::GateRule>& gates = request_.cases[index]->gates;
        if (gates.empty()) return !request_.gated.empty() && !request_.gated[index];
        return std::all_of(gates.begin(), gates.end(), [](const model::GateRule& gate) {
            return model::contains_host_time(gate.metric);
        });
    }

    /// What a process without a recording did on the GPU is in no value.
    void judge_unrecorded(double recorded_ns) {
        std::vector<std::string> notes = unrecorded_notes(unrecorded_);
        const double share = 1e9 * unrecorded_.seconds / recorded_ns;
        const std::vector<std::string>& commands = unrecorded_.commands;
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

    /// The smallest tolerance of a gated time that recordings give; 0 if none is gated.
    [[nodiscard]] double least_time_tolerance() const {
        std::optional<double> least;
        for (std::size_t i = 0; i < results_.size(); ++i) {
            for (const model::GateRule& gate : request_.cases[i]->gates) {
                const auto metric = metrics::find_metric(gate.metric);
                if (!metric || metric->definition.unit != "ns" || metric->from_bare_runs) continue;
                const auto measured = results_[i].metrics.find(gate.metric);
                const double value =
                    measured != results_[i].metrics.end() ? measured->second.value : 0;
                const double leeway = value > 0 ? gate.tolerance.abs / value : 0;
                const double tolerance = std::max(gate.tolerance.worse, leeway);
                least = std::min(least.value_or(tolerance), tolerance);
            }
        }
        return least.value_or(0);
    }

    /// Why a recording does not have the fact; empty: it has.
    static std::string why_untold(const Recorded& recorded, const std::string& metric) {
        for (const RecordedProcess& process : recorded.processes()) {
            const std::string& untold = process.timeline.recording().field("untold");
            if ((' ' + untold + ' ').find(' ' + metric + ' ') == std::string::npos) continue;
            return fmt::format("what {} wrote does not tell it",
                               util::printable(process.timeline.recording().field("tool")));
        }
        return {};
    }

    void add_launch_facts(std::size_t index, const Recorded& recorded) {
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

    /// What the first batch gave is not taken back by a later one that is without.
    void note_unknown(std::size_t index, const std::string& metric, const std::string& why) {
        if (!is_gated(index, metric)) return;
        if (request_.first) {
            results_[index].not_collected.push_back({metric, why});
        } else {
            results_[index].notes.push_back(fmt::format("a batch without {}: {}", metric, why));
        }
    }

    [[nodiscard]] const Piece& piece_of(std::size_t index) const {
        return command::piece_of(*request_.cases[index]->subject);
    }

    [[nodiscard]] bool of_benchmark() const { return !command_.out_extension.empty(); }

    [[nodiscard]] bool is_gated(std::size_t index, const std::string& metric) const {
        const std::vector<model::GateRule>& gates = request_.cases[index]->gates;
        return std::any_of(gates.begin(), gates.end(),
                           [&](const model::GateRule& gate) { return gate.metric == metric; });
    }

    /// Of a range its own; else, and where the bare run shows no such range, of the whole process.
    void add_overhead(std::size_t index, const Bare& bare, const Recorded& recorded,
                      double recorded_ns) {
        std::optional<double> own;
        if (bare.ranges != nullptr) {
            own = recording_overhead(*bare.ranges, recorded, piece_of(index));
        }
        double length = bare.wall_ns;
        const auto span = results_[index].metrics.find("span");
        if (recorded.capture().is_stated() && span != results_[index].metrics.end() &&
            piece_of(index).kind == Piece::Kind::program) {
            length = span->second.value;  // all that recording added may be in this part
        }
        const double whole = (recorded_ns - bare.wall_ns) / length;
        add(index, "tracing_overhead",
            own ? model::Method(model::ranges_source, "") : recorded_method,
            {100 * own.value_or(whole)});
    }

    [[nodiscard]] bool samples_only() const { return request_.round == measure::stacks_round; }

    void sample() {
        double recorded_ns = 0;
        const std::unique_ptr<Recorded> recorded = record(inject::Level::callbacks, recorded_ns);
        for (std::size_t i = 0; i < results_.size(); ++i) {
            const std::string host = host_of(*recorded, piece_of(i));
            if (host.empty()) continue;
            for (const std::string_view metric : model::host_metrics) {
                results_[i].metrics[std::string(metric)].detail = model::with_host("", host);
            }
        }
        conclude(true, results_);
    }

    void count_once(const Recorded& recorded) {
        const model::Method method = method_of(with_calls_, recorded, of_benchmark());
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

    // --- counters of kernels: a run of the program for each pass

    /// The counter metrics of a case that was measured.
    [[nodiscard]] std::vector<metrics::Metric> counter_metrics(std::size_t index) const {
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

    void collect_counters() {
        inject::CounterRequest wanted;
        std::vector<std::size_t> counted;  // the case of each label
        std::vector<std::uint64_t> counts;
        std::vector<metrics::Metric> all;
        for (std::size_t i = 0; i < results_.size(); ++i) {
            std::vector<metrics::Metric> metrics = counter_metrics(i);
            if (metrics.empty()) continue;
            all.insert(all.end(), metrics.begin(), metrics.end());
            const Piece& piece = piece_of(i);
            wanted.labels.push_back({piece.pattern, piece.within, piece.own_thread,
                                     static_cast<std::uint64_t>(piece.skip),
                                     static_cast<std::uint64_t>(piece.counted), piece.size});
            counts.push_back(wanted.labels.back().count);
            counted.push_back(i);
        }
        if (counted.empty()) return;
        wanted.counters = counters_for(all);
        ProgramCounters counters;
        counters.labels.resize(counted.size());
        try {
            CounterPasses passes(counts);
            Recordings first = collect_pass(wanted, 1);
            const std::size_t needed = passes_needed(first);
            passes.add(std::move(first));
            for (wanted.pass = 1; wanted.pass < needed; ++wanted.pass) {
                passes.add(collect_pass(wanted, needed));
            }
            counters = passes.take();
        } catch (const Failure& failure) {
            // What was measured before is good.
            counters.problem = failure.reason;
        } catch (const util::Error& error) {
            counters.problem = error.what();
        }
        for (std::size_t label = 0; label < counted.size(); ++label) {
            require_recorded(results_[counted[label]], counters.labels[label]);
            for (const metrics::Metric& metric : counter_metrics(counted[label])) {
                add_counter(counted[label], metric, metric_of(counters, label, metric));
            }
        }
    }

    Recordings collect_pass(const inject::CounterRequest& wanted, std::size_t passes) {
        observe_(fmt::format("counters {}/{}", wanted.pass + 1, passes));
        const RecordingFolder folder("");
        inject::Settings settings;
        settings.folder = folder.path();
        settings.level = inject::Level::counters;
        settings.counters = inject::to_text(wanted);
        run(fmt::format("counters-{}", wanted.pass + 1),
            inject::environment_for(settings, machine_.library));
        return recordings_of(folder);
    }

    /// What was counted must be what was recorded: another run may have launched something else.
    static void require_recorded(const model::CaseResult& result, LabelCounters& counters) {
        if (!counters.problem.empty()) return;
        for (const CountedKernel& counted : counters.kernels) {
            const bool recorded = std::any_of(
                result.kernels.begin(), result.kernels.end(), [&](const model::Kernel& kernel) {
                    return kernel.name == counted.name && kernel.grid == counted.grid;
                });
            if (recorded) continue;
            counters.problem = fmt::format(
                "the counted kernel {} with grid {}x{}x{} is not among those that were recorded: "
                "the program launches other kernels in each run",
                util::printable(counted.name, 120), counted.grid[0], counted.grid[1],
                counted.grid[2]);
            return;
        }
    }

    void add_counter(std::size_t index, const metrics::Metric& metric, CounterMetric found) {
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

    // --- samples of the GPU over time: a run of the program

    /// The sampled metrics of a range or program that was measured.
    [[nodiscard]] std::vector<std::string> sampled_metrics(std::size_t index) const {
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

    void collect_samples() {
        std::vector<std::size_t> sampled;
        for (std::size_t i = 0; i < results_.size(); ++i) {
            if (!sampled_metrics(i).empty()) sampled.push_back(i);
        }
        if (sampled.empty()) return;
        std::unique_ptr<Recorded> recorded;
        std::string problem;
        try {
            double wall_ns = 0;
            recorded = record(inject::Level::samples, wall_ns);
        } catch (const Failure& failure) {
            problem = failure.reason;  // what was measured before is good
        } catch (const util::Error& error) {
            problem = error.what();
        }
        for (const std::size_t i : sampled) {
            SampledValues values;
            if (recorded != nullptr) {
                values = sampled_values_of(*recorded, piece_of(i));
            } else {
                values.problem = problem;
            }
            for (const std::string& name : sampled_metrics(i)) {
                const auto found = values.samples.find(name);
                if (found == values.samples.end()) {
                    results_[i].not_collected.push_back(
                        {name, values.problem.empty() ? values.absent : values.problem});
                    continue;
                }
                model::Method method{model::counter_source, "samples"};
                method.processes = std::max(static_cast<int>(recorded->working()), 1);
                add(i, name, method, found->second);
                const auto series = results_[i].metrics.find(name);
                const auto detail = values.details.find(name);
                if (series != results_[i].metrics.end() && detail != values.details.end()) {
                    series->second.detail = detail->second;
                }
            }
        }
    }

    void add(std::size_t index, const std::string& metric, const model::Method& method,
             std::vector<double> samples) {
        const model::PlannedCase& planned = *request_.cases[index];
        model::CaseResult& result = results_[index];
        const auto& wanted = planned.metrics;
        if (result.status == model::CaseStatus::error || samples.empty()) return;
        if (std::find(wanted.begin(), wanted.end(), metric) == wanted.end()) return;
        model::Batch batch{request_.process, request_.board, planned.seed, std::move(samples)};
        batch.round = request_.round;
        const double value = stats::median(batch.samples);
        result.metrics[metric] = {
            metrics::find_metric(metric)->definition.unit, value, method, {std::move(batch)}};
    }

    /// A gated metric without a value; others are simply not there.
    void note_missing(std::size_t index) {
        model::CaseResult& result = results_[index];
        if (!request_.first || result.status == model::CaseStatus::error) return;
        for (const model::GateRule& gate : request_.cases[index]->gates) {
            const auto named = [&](const auto& entry) { return entry.metric == gate.metric; };
            if (result.metrics.contains(gate.metric) ||
                std::any_of(result.not_collected.begin(), result.not_collected.end(), named) ||
                std::find(result.not_applicable.begin(), result.not_applicable.end(),
                          gate.metric) != result.not_applicable.end()) {
                continue;
            }
            result.not_collected.push_back({gate.metric, "the recording does not contain it"});
        }
    }

    const kinds::Machine& machine_;
    const measure::ProgramRequest& request_;
    const Command& command_;
    std::vector<model::CaseResult>& results_;
    const std::function<void(std::string_view)>& observe_;
    model::Method recorded_, with_calls_;
    std::optional<ProgramRuns> programs_;  ///< nothing: the batch was recorded elsewhere
    bool correct_ = true;
    DeviceWatch::Unrecorded unrecorded_;
};

/// Recordings of perfgate by what was on record, others by their tool: versions of it may measure
/// alike.
model::Method stored_method(const std::vector<activity::Recording>& recordings) {
    const std::string& tool = recordings.front().field("tool");
    const std::string name = tool.substr(0, tool.find(' '));
    return {model::activity_source, name.empty() ? recordings.front().field("level") : name};
}

/// The names of the devices that worked.
std::string devices_of(const Recorded& recorded) {
    std::set<std::string> names;
    for (const RecordedProcess& process : recorded.processes()) {
        const activity::Recording& recording = process.timeline.recording();
        std::set<std::uint32_t> worked;
        for (const activity::Work& work : process.timeline.work()) {
            worked.insert(process.timeline.place(work).device);
        }
        for (const activity::Device& device : recording.records.devices) {
            if (worked.contains(device.id)) names.insert(recording.text(device.name));
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string fingerprint_of(const std::vector<activity::Recording>& recordings) {
    util::Sha256 sum;
    for (const activity::Recording& recording : recordings) {
        const activity::Records& records = recording.records;
        sum.add(std::as_bytes(std::span(records.kernels)));
        sum.add(std::as_bytes(std::span(records.copies)));
        sum.add(std::as_bytes(std::span(records.api_calls)));
    }
    return sum.fingerprint();
}

}  // namespace

Measurement::Measurement(kinds::Machine machine) : machine_(std::move(machine)) {
    require_recorder(machine_.library);
}

bool Measurement::measure(const measure::ProgramRequest& request,
                          std::vector<model::CaseResult>& results,
                          const std::function<void(std::string_view phase)>& observe) {
    return take_batch(results, [&] { BatchTaker(machine_, request, results, observe).take(); });
}

std::vector<model::CaseCode> Measurement::machine_code(
    const measure::ProgramRequest& request, const std::vector<model::CaseResult>& results,
    const std::function<void(std::string_view phase)>& observe) {
    return code_of_program(machine_, command_of(*request.cases.front()->subject), results, observe);
}

kinds::StoredResults read_stored(const model::Subject& subject, const fs::path& file) {
    std::vector<activity::Recording> recordings = traces::read_recordings(file);
    for (const activity::Recording& recording : recordings) {
        if (recording.incomplete.empty()) continue;
        throw util::InputError(fmt::format("{}: the recording is incomplete: {}",
                                           util::printable(file.native()),
                                           util::printable(recording.incomplete.front(), 300)));
    }
    kinds::StoredResults stored;
    stored.content = fingerprint_of(recordings);
    const model::Method method = stored_method(recordings);
    const auto recorded =
        std::make_shared<const Recorded>(std::move(recordings), command_of(subject).capture);
    stored.device = devices_of(*recorded);
    stored.take = [recorded, method](const measure::ProgramRequest& request,
                                     std::vector<model::CaseResult>& results) {
        take_batch(results, [&] { BatchTaker(request, results, method).take_stored(*recorded); });
    };
    return stored;
}

}  // namespace perfgate::command
