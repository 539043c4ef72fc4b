// SPDX-License-Identifier: Apache-2.0
#include "measure/case_measurement.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <utility>

#include "measure/batches.hpp"
#include "measure/case_counters.hpp"
#include "measure/ceiling_shares.hpp"
#include "measure/clock_stability.hpp"
#include "measure/elapsed.hpp"
#include "measure/sampling.hpp"
#include "measure/sources.hpp"
#include "metrics/catalogue.hpp"
#include "stats/quantiles.hpp"
#include "util/error.hpp"
#include "util/other_work.hpp"

namespace perfgate::measure {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// An idle GPU needs this long under load to raise its clocks.
constexpr Seconds device_warm_up{0.3};
/// After a launch that loads the code: one long launch is as warm as several short ones.
constexpr Seconds case_warm_up{0.005};
constexpr int case_warm_up_launches = 1;

/// Added to every launch of a self-test, so that a slowdown changes only the length of the added
/// work, not whether there is any. A separate kernel cannot be much shorter.
constexpr double least_added_ns = 5000;
/// Launches that determine the time that the fractions of a self-test refer to.
constexpr int added_work_samples = 9;

struct KindOfMetric {
    const char* metric;
    metrics::Source source;
    TimeKind kind;
    model::Target target;
};

constexpr KindOfMetric times[] = {
    {"gpu_time", metrics::Source::activity, TimeKind::gpu_time, model::Target::cuda},
    {"gpu_span", metrics::Source::event, TimeKind::gpu_span, model::Target::cuda},
    {"host_time", metrics::Source::wall, TimeKind::host_time, model::Target::host},
    {"submit_time", metrics::Source::submission, TimeKind::submit_time, model::Target::cuda},
};

/// A named range of the backend for the lifetime of this object.
class Range {
  public:
    Range(Backend& backend, const std::string& name) : backend_(backend) {
        backend_.begin_range(name);
    }
    ~Range() { backend_.end_range(); }
    Range& operator=(Range&&) = delete;  // nor copied

  private:
    Backend& backend_;
};

bool applies(const metrics::Metric& metric, model::Target target) {
    if (metric.source == metrics::Source::preparation) return true;
    return metric.source != metrics::Source::program &&
           metric.source != metrics::Source::benchmark &&
           (target == model::Target::host) == (metric.source == metrics::Source::wall);
}

bool states_no_check(const CaseSettings& settings) {
    return settings.kernel && settings.kernel->check.kind == model::SourceCheck::Kind::none;
}

bool requests(const CaseSettings& settings, std::string_view metric) {
    return std::find(settings.metrics.begin(), settings.metrics.end(), metric) !=
           settings.metrics.end();
}

void verify(Case& opened, model::CaseResult& result, const CaseSettings& settings) {
    const Checks checks{!states_no_check(settings), settings.deterministic};
    if (!checks.reference && !checks.repeats) {
        opened.fill(settings.verify_seed);
        opened.warm_up(1, Seconds(0));  // at least it must run
        return;
    }
    Verified verified = opened.verify(settings.verify_seed, checks);
    if (!verified.note.empty()) result.notes.push_back(std::move(verified.note));
    if (checks.reference || !verified.verification.passed) {
        result.verification = std::move(verified.verification);
        return;
    }
    // Without a reference nothing says that the result is right.
    result.notes.push_back("deterministic: " + verified.verification.detail);
}

/// Slows down the case by the fraction.
void add_work(Case& opened, TimeKind kind, model::Cache cache, double fraction) {
    opened.add_work(least_added_ns);
    const double launch_ns = stats::median(opened.time(kind, cache, added_work_samples).values_ns);
    opened.add_work(least_added_ns + fraction * launch_ns);
}

/// Each process has its own: what it compiles may be another program.
void add_preparation(const std::optional<Prepared>& prepared, const std::string& board,
                     const CaseSettings& settings, model::CaseResult& result) {
    const std::string name(model::prepare_time);
    if (!prepared) {
        if (!requests(settings, name) || settings.times_only) return;
        result.not_collected.push_back(
            {name, "the plugin compiles nothing (pg_variant.prepare): leave it out of 'metrics'"});
        return;
    }
    model::Batch batch{settings.process, board, settings.seed, {}};
    batch.round = settings.round;
    model::MetricSeries& series = result.metrics[name];
    series = series_of_one(model::prepare_time_definition(), prepared->time_ns,
                           {model::wall_source, ""}, std::move(batch));
    series.detail = model::to_text(prepared->choices);
}

/// State that changes during a run.
model::BoardState what_moves(model::BoardState state) {
    state.max_sm_clock_mhz = state.max_memory_clock_mhz = state.power_limit_w = std::nullopt;
    state.persistence_mode = state.ecc = std::nullopt;
    return state;
}

/// The watch does not see the work of children as this process's own.
bool has_children() {
    siginfo_t info{};
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/// Processor time of those that have ended, s.
double time_of_children() {
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

CaseFacts facts_of(const model::SourceKernel& kernel) {
    CaseFacts facts;
    facts.memory_bytes = model::memory_bytes_of(kernel);
    facts.work = kernel.work;
    facts.needs_reset = model::needs_reset(kernel);
    return facts;
}

CaseMeasurement::CaseMeasurement(Backend& backend)
    : backend_(backend), capabilities_(backend.capabilities()) {}

const model::VariantInfo& CaseMeasurement::variant(const model::CaseResult& result,
                                                   const CaseSettings& settings) const {
    static const model::VariantInfo of_source;  // for CUDA, asynchronous
    if (settings.kernel) return of_source;
    const model::CaseSpec& spec = result.spec;
    const model::WorkloadInfo* workload =
        model::find_workload(capabilities_.workloads, spec.workload);
    const model::VariantInfo* variant =
        workload ? model::find_variant(*workload, spec.variant) : nullptr;
    if (!variant) {
        throw util::InputError(fmt::format("no plugin offers {}/{}", spec.workload, spec.variant));
    }
    return *variant;
}

CaseFacts CaseMeasurement::facts(const model::CaseResult& result,
                                 const CaseSettings& settings) const {
    return settings.kernel ? facts_of(*settings.kernel) : backend_.facts(result.spec);
}

std::unique_ptr<Case> CaseMeasurement::open(const model::CaseResult& result,
                                            const CaseSettings& settings) const {
    return settings.kernel ? backend_.open_source(*settings.kernel) : backend_.open(result.spec);
}

void CaseMeasurement::measure(model::CaseResult& result, const CaseSettings& settings,
                              const PhaseObserver& observe) {
    const auto start = Clock::now();
    observe("set-up");
    const auto fail = [&](const std::string& why) {
        model::set_error(result, why);
        result.wall_s += seconds_since(start);
    };
    try {
        const Range range(backend_, model::case_id(result.spec));
        const model::VariantInfo& info = variant(result, settings);
        for (const std::string& name : settings.metrics) {
            const auto metric = metrics::find_metric(name);
            if (metric && !applies(*metric, info.target) && !settings.times_only) {
                result.not_applicable.push_back(name);
            }
        }

        const CaseFacts facts = this->facts(result, settings);
        if (!facts.unsupported.empty()) {
            throw util::Error(fmt::format("variant '{}' cannot run these parameters: {}",
                                          result.spec.variant, facts.unsupported));
        }
        if (const std::uint64_t free = backend_.free_memory(); facts.memory_bytes > free) {
            throw util::Error(fmt::format(
                "does not fit the device: it needs {:.0f} MiB, {:.0f} MiB are free; use smaller "
                "parameters or free the device",
                static_cast<double>(facts.memory_bytes) / 1048576,
                static_cast<double>(free) / 1048576));
        }
        if (facts.work.flops > 0 || facts.work.bytes > 0) result.work = facts.work;

        if (!settings.times_only && !settings.verify_only) backend_.keep_code();
        std::unique_ptr<Case> opened = open(result, settings);
        if (settings.code_only) {
            observe("code");
            opened->fill(settings.seed);
            opened->warm_up(1, Seconds(0));
            record_code(*opened, result, settings);
            result.status = model::CaseStatus::measured;
            result.wall_s += seconds_since(start);
            return;
        }
        if (!settings.times_only) {
            observe("verify");
            const Range phase(backend_, "verify");
            verify(*opened, result, settings);
            if (result.verification && !result.verification->passed) {
                result.status = model::CaseStatus::incorrect;
                result.reason = fmt::format("wrong result (inputs of seed {}): {}",
                                            result.verification->seed, result.verification->detail);
                result.wall_s += seconds_since(start);
                return;
            }
        }
        if (!settings.verify_only) {
            observe("fill");
            opened->fill(settings.seed);
            observe("compile");
            const std::optional<Prepared> prepared = opened->prepared();
            if (!settings.untraced) {
                add_preparation(prepared, capabilities_.environment.device.board, settings, result);
            }
            const model::Work work = opened->work();
            if (!result.work && (work.flops > 0 || work.bytes > 0)) result.work = work;
            {
                observe("warm-up");
                const Range phase(backend_, "warm-up");
                opened->warm_up(case_warm_up_launches,
                                device_warm_ || info.target == model::Target::host
                                    ? case_warm_up
                                    : device_warm_up);
                device_warm_ = true;
            }
            if (!settings.times_only) {
                observe("record");
                record_code(*opened, result, settings);
            }
            observe("time");
            const Range phase(backend_, "time");
            time_case(*opened, result, settings);
        }
        observe("tear-down");
        opened.reset();
        if (info.target == model::Target::cuda && !settings.times_only && !settings.verify_only) {
            add_readings(When::case_closed, backend_, nullptr,
                         capabilities_.environment.device.board, settings, result);
        }
        result.status = model::CaseStatus::measured;
        result.wall_s += seconds_since(start);
    } catch (const DeviceLost& lost) {
        fail(lost.what());
        throw;
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

model::CaseCode CaseMeasurement::machine_code(const model::CaseResult& result,
                                              const CaseSettings& settings,
                                              const PhaseObserver& observe) {
    model::CaseCode code;
    if (variant(result, settings).target != model::Target::cuda || !capabilities_.kernel_records) {
        code.problem = capabilities_.kernel_records ? "it runs on the host"
                                                    : capabilities_.kernel_records_problem;
        return code;
    }
    observe("set-up");
    backend_.keep_code();
    const std::unique_ptr<Case> opened = open(result, settings);
    opened->fill(settings.seed);
    opened->warm_up(1, Seconds(0));
    opened->record_launch();
    observe("machine code");
    const auto begin = std::chrono::steady_clock::now();
    code = backend_.machine_code(*opened, result.spec.cache);
    code.seconds = seconds_since(begin);
    return code;
}

void CaseMeasurement::record_code(Case& opened, model::CaseResult& result,
                                  const CaseSettings& settings) const {
    if (variant(result, settings).target == model::Target::cuda && capabilities_.kernel_records) {
        LaunchRecord launch = opened.record_launch();
        result.kernels = std::move(launch.kernels);
        result.memory_operations = std::move(launch.memory_operations);
        result.notes.insert(result.notes.end(), launch.notes.begin(), launch.notes.end());
    }
    if (settings.kernel) {
        result.host_code = model::set_up_fingerprint(*settings.kernel);
        result.libraries.emplace();  // it links none
        return;
    }
    HostCode code = backend_.host_code(result.spec);
    result.host_code = std::move(code.modules);
    result.libraries = std::move(code.libraries);
}

void CaseMeasurement::time_case(Case& opened, model::CaseResult& result,
                                const CaseSettings& settings) {
    const std::string& board = capabilities_.environment.device.board;
    const model::Target target = variant(result, settings).target;

    if (settings.arguments_too && capabilities_.kernel_records) {
        result.kernels = opened.record_launch().kernels;
    }

    std::array<model::BoardState, 2> around{backend_.board_state(), {}};
    for (const KindOfMetric& time : times) {
        if (time.target != target || !requests(settings, time.metric)) continue;
        const bool submission = time.kind == TimeKind::submit_time;
        if (submission != settings.untraced) continue;
        if (time.kind == TimeKind::gpu_time && !capabilities_.kernel_records) {
            if (!settings.times_only) {
                result.not_collected.push_back({time.metric, capabilities_.kernel_records_problem});
            }
            continue;
        }
        if (settings.added_work) {
            add_work(opened, time.kind, result.spec.cache, *settings.added_work);
        }
        const SamplingGoal goal{.precision = settings.precision,
                                .time_budget_s = settings.time_budget_s};
        model::Batch batch{settings.process, board, settings.seed, {}};
        model::MetricSeries series{"ns", 0, {}, {}};
        std::string note;
        const std::vector<pid_t> ours{getpid()};
        std::optional<util::OtherWorkWatch> others;  // not cheap: of the host's times alone
        if (submission || time.kind == TimeKind::host_time) others.emplace(ours);
        const double of_children = time_of_children();
        const std::clock_t used = std::clock();
        const auto start = Clock::now();
        while (const int count = next_samples(batch.samples, seconds_since(start), goal)) {
            TimeSamples samples = opened.time(time.kind, result.spec.cache, count);
            if (samples.values_ns.empty()) {
                throw util::Error(fmt::format("{}: no sample arrived", time.metric));
            }
            batch.samples.insert(batch.samples.end(), samples.values_ns.begin(),
                                 samples.values_ns.end());
            series.method = std::move(samples.method);
            // One per metric, however often it is sampled.
            if (!samples.note.empty()) note = std::move(samples.note);
        }
        if (!note.empty()) result.notes.push_back(std::move(note));
        if (others && !has_children() && time_of_children() == of_children) {
            const auto own = static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC;
            others->look(ours);
            batch.other_work = others->result(Seconds(own));
        }
        around[1] = backend_.board_state();
        batch.round = settings.round;
        if (!submission) batch.sm_clock_mhz = clock_of(around);
        batch.excluded = disturbance(around);
        around[0] = around[1];
        series.value = stats::median(batch.samples);
        series.batches.push_back(std::move(batch));
        result.metrics[time.metric] = std::move(series);
    }
    if (settings.untraced) return;
    const auto read = [&](When when) {
        if (target == model::Target::cuda) {
            add_readings(when, backend_, &opened, board, settings, result);
        }
    };
    read(When::each_process);
    if (const model::BoardState state = what_moves(around[0]); state != model::BoardState{}) {
        result.readings.push_back({settings.process, board, state});
    }
    if (settings.times_only) return;
    if (target == model::Target::cuda && requests(settings, metrics::ceiling_share)) {
        ask_for_ceiling_share(result);
    }
    read(When::first_process);

    for (const std::string& name : settings.metrics) {
        const auto metric = metrics::find_metric(name);
        if (!metric || metric->source != metrics::Source::kernel_record ||
            target != model::Target::cuda) {
            continue;
        }
        if (!capabilities_.kernel_records) {
            result.not_collected.push_back({name, capabilities_.kernel_records_problem});
            continue;
        }
        if (const auto value = metrics::fold_records(*metric, result.kernels)) {
            result.metrics[name] = series_of_one(metric->definition, *value, {"kernel-record", ""},
                                                 {settings.process, board, settings.seed, {}});
        } else {
            result.not_collected.push_back({name, metrics::why_no_fact(*metric, result.kernels)});
        }
    }
}

void CaseMeasurement::collect_counters(const std::vector<CounterJob>& jobs,
                                       const PhaseObserver& observe) {
    const auto start = Clock::now();
    observe("counters");
    const Range range(backend_, "counters");

    if (const std::string problem = backend_.counters_problem(); !problem.empty()) {
        for (const CounterJob& job : jobs) {
            note_no_counters(*job.result, job.settings.metrics, problem);
        }
        return;
    }
    std::vector<std::unique_ptr<Case>> opened;
    std::vector<CounterCase> cases;
    std::vector<metrics::Metric> wanted;
    for (const CounterJob& job : jobs) {
        const model::CaseResult& result = *job.result;
        opened.push_back(open(result, job.settings));
        opened.back()->fill(job.settings.seed);
        opened.back()->warm_up(1, Seconds(0));
        CounterCase entry;
        entry.opened = opened.back().get();
        entry.cache = result.spec.cache;
        for (const model::Kernel& kernel : result.kernels) {
            entry.expected_kernels.push_back(kernel.name);
        }
        entry.graph = variant(result, job.settings).submission == model::Submission::graph;
        entry.own_session = facts(result, job.settings).needs_reset;
        cases.push_back(std::move(entry));
        for (const std::string& name : counter_metrics(job.settings.metrics)) {
            if (std::none_of(wanted.begin(), wanted.end(),
                             [&](const auto& have) { return have.definition.name == name; })) {
                wanted.push_back(*metrics::find_metric(name));
            }
        }
    }

    const metrics::Selection selection = metrics::select_counters(
        wanted, [this](const std::string& counter) { return backend_.has_counter(counter); },
        capabilities_.environment.device.chip);
    const std::vector<std::string> counters(selection.counters.begin(), selection.counters.end());
    const std::vector<CounterValues> collected = backend_.collect(cases, counters);

    for (std::size_t i = 0; i < jobs.size(); ++i) {
        model::CaseResult& result = *jobs[i].result;
        store_counters(selection, collected.at(i), cases[i].graph,
                       capabilities_.environment.device.board, jobs[i].settings, result);
        result.wall_s += seconds_since(start) / static_cast<double>(jobs.size());
    }
}

}  // namespace perfgate::measure
