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
#include "kinds/command/batch_results.hpp"
#include "kinds/command/counter_passes.hpp"
#include "kinds/command/device_watch.hpp"
#include "kinds/command/pieces.hpp"
#include "kinds/command/program_code.hpp"
#include "kinds/command/recorder.hpp"
#include "metrics/catalogue.hpp"
#include "model/host_time.hpp"
#include "traces/traces.hpp"
#include "util/error.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::command {
namespace {

namespace fs = std::filesystem;

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
          values_(request, results),
          observe_(observe),
          programs_(machine, command_) {}

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
        const std::optional<util::OtherWork> while_recorded = other_work_;
        if (request_.first && !command_.check.empty()) {
            observe_("check");
            correct_ = programs_.check(request_.process, results_);
        }
        if (recorded != nullptr && correct_) {
            measure(bare, *recorded, recorded_ns);
            values_.add_other_work(while_recorded, bare ? bare->other_work : std::nullopt);
        }
        conclude(correct_, results_);
    }

  private:
    /// Runs the program to its end and returns its time, ns. What others took from it goes to
    /// `other_work_`.
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
        const program::End end = programs_.run(program);
        other_work_ = end.other_work;
        return std::chrono::duration<double, std::nano>(end.time).count();
    }

    /// A run in which nothing is recorded but how long ranges take on the host.
    struct Bare {
        double wall_ns = 0;
        std::optional<util::OtherWork> other_work;
        std::unique_ptr<Recorded> ranges;  ///< null: no range is measured
    };

    /// For the overhead's interval, or because what only bare runs tell is gated.
    [[nodiscard]] bool needs_bare_run() const {
        if (request_.overhead || request_.verify_only) return true;
        return std::ranges::any_of(request_.cases, [](const model::PlannedCase* planned) {
            return std::ranges::any_of(planned->gates, [](const model::GateRule& gate) {
                const auto metric = metrics::find_metric(gate.metric);
                return metric && metric->from_bare_runs;
            });
        });
    }

    Bare run_bare() {
        observe_("bare");
        const bool any_range = std::ranges::any_of(request_.cases, [](const auto* planned) {
            return command::piece_of(*planned->subject).kind == Piece::Kind::range;
        });
        Bare bare;
        if (!any_range || request_.verify_only) {
            bare.wall_ns = run("bare", {});
            bare.other_work = other_work_;
            return bare;
        }
        const RecordingFolder folder("");
        bare.wall_ns = run("bare", environment_of(inject::Level::ranges, folder));
        bare.other_work = other_work_;
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
        values_.add_recording(recorded);
        if (bare) values_.add_bare(bare->wall_ns, bare->ranges.get(), recorded, recorded_ns);
        values_.add_unrecorded(unrecorded_, recorded_ns);
        if (request_.first) {
            values_.add_api_counts(recorded);
            collect_counters();
            collect_samples();
        }
        values_.note_missing();
    }

    [[nodiscard]] bool samples_only() const { return request_.round == measure::stacks_round; }

    void sample() {
        double recorded_ns = 0;
        const std::unique_ptr<Recorded> recorded = record(inject::Level::callbacks, recorded_ns);
        for (std::size_t i = 0; i < results_.size(); ++i) {
            const std::string host = host_of(*recorded, values_.piece_of(i));
            if (host.empty()) continue;
            for (const std::string_view metric : model::host_metrics) {
                results_[i].metrics[std::string(metric)].detail = model::with_host("", host);
            }
        }
        conclude(true, results_);
    }

    // --- counters of kernels: a run of the program for each pass

    void collect_counters() {
        inject::CounterRequest wanted;
        std::vector<std::size_t> counted;  // the case of each label
        std::vector<std::uint64_t> counts;
        std::vector<metrics::Metric> all;
        for (std::size_t i = 0; i < results_.size(); ++i) {
            std::vector<metrics::Metric> metrics = values_.counter_metrics(i);
            if (metrics.empty()) continue;
            all.insert(all.end(), metrics.begin(), metrics.end());
            const Piece& piece = values_.piece_of(i);
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
        values_.add_counters(std::move(counters), counted);
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

    // --- samples of the GPU over time: a run of the program

    void collect_samples() {
        if (values_.sampled_cases().empty()) return;
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
        values_.add_samples(recorded.get(), problem);
    }

    const kinds::Machine& machine_;
    const measure::ProgramRequest& request_;
    const Command& command_;
    std::vector<model::CaseResult>& results_;
    BatchResults values_;
    const std::function<void(std::string_view)>& observe_;
    ProgramRuns programs_;
    bool correct_ = true;
    std::optional<util::OtherWork> other_work_;
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
        throw util::InputError("{}: the recording is incomplete: {}",
                               util::printable(file.native()),
                               util::printable(recording.incomplete.front(), 300));
    }
    kinds::StoredResults stored;
    stored.content = fingerprint_of(recordings);
    const model::Method method = stored_method(recordings);
    const auto recorded =
        std::make_shared<const Recorded>(std::move(recordings), command_of(subject).capture);
    stored.device = devices_of(*recorded);
    stored.take = [recorded, method](const measure::ProgramRequest& request,
                                     std::vector<model::CaseResult>& results) {
        take_batch(results, [&] {
            BatchResults values(request, results, method);
            values.add_recording(*recorded);
            values.add_api_counts(*recorded);
            values.note_missing();
            conclude(true, results);
        });
    };
    return stored;
}

}  // namespace perfgate::command
