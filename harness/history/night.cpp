// SPDX-License-Identifier: Apache-2.0
#include "history/night.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "gate/series.hpp"
#include "model/case.hpp"
#include "model/date.hpp"
#include "util/error.hpp"
#include "util/sha256.hpp"

namespace perfgate::history {

namespace {

void add_text(util::Sha256& sum, std::string_view text) {
    sum.add_number(text.size());
    sum.add(text);
}

/// The code of all kernels; where none is known, of the host.
std::string code_of(const model::CaseResult& result) {
    util::Sha256 sum;
    for (const model::Kernel& kernel : result.kernels) {
        if (kernel.code.empty()) return {};
        add_text(sum, kernel.name);
        add_text(sum, kernel.code);
    }
    return result.kernels.empty() ? result.host_code : sum.fingerprint();
}

std::string inputs_of(const model::CaseResult& result) {
    util::Sha256 sum;
    for (const model::Kernel& kernel : result.kernels) {
        for (const std::int64_t size : kernel.grid) {
            sum.add_number(static_cast<std::uint64_t>(size));
        }
        for (const std::int64_t size : kernel.block) {
            sum.add_number(static_cast<std::uint64_t>(size));
        }
        sum.add_number(static_cast<std::uint64_t>(kernel.dynamic_smem));
    }
    for (const std::string& word : result.command) add_text(sum, word);
    return sum.fingerprint();
}

std::optional<double> clock_of(const model::MetricSeries& series) {
    double total = 0;
    const std::vector<const model::Batch*> batches = gate::batches_in_use(series);
    for (const model::Batch* batch : batches) {
        if (!batch->sm_clock_mhz) return std::nullopt;
        total += *batch->sm_clock_mhz;
    }
    if (batches.empty()) return std::nullopt;
    return total / static_cast<double>(batches.size());
}

void add_case(const model::Run& run, const std::string& suite, const model::CaseResult& result,
              const std::map<std::pair<std::string, std::string>, std::string>& verdicts,
              StoredRun& stored) {
    if (result.status != model::CaseStatus::measured) return;
    const std::string id = model::case_id(result.spec);
    const std::string code = code_of(result);
    const std::string inputs = inputs_of(result);
    const auto verdict = verdicts.find({suite, id});
    for (const auto& [metric, measured] : result.metrics) {
        const auto rule = std::ranges::find(result.gates, metric, &model::GateRule::metric);
        const bool is_time = std::ranges::count(model::time_metrics, metric) > 0;
        const auto definition = run.metric_definitions.find(metric);
        if ((rule == result.gates.end() && !is_time) ||
            definition == run.metric_definitions.end()) {
            continue;
        }
        Series series{.device = run.environment.device.key,
                      .suite = suite,
                      .id = id,
                      .metric = metric,
                      .unit = measured.unit,
                      .direction = definition->second.direction,
                      .metric_class = definition->second.metric_class,
                      .tolerance = rule == result.gates.end() ? 0 : rule->tolerance.worse,
                      .nights = {}};
        Night night{.run = 0,
                    .code = code,
                    .inputs = inputs,
                    .method = model::to_text(measured.method),
                    .verdict = verdict == verdicts.end() ? "" : verdict->second,
                    .clock_mhz = clock_of(measured),
                    .values = gate::batch_values(measured)};
        if (night.values.empty() || !gate::all_finite(night.values)) continue;
        series.nights.push_back(std::move(night));
        stored.series.push_back(std::move(series));
    }
}

}  // namespace

Origin origin_of(const std::map<std::int64_t, Origin>& origins, std::int64_t run) {
    const auto found = origins.find(run);
    return found == origins.end() ? Origin() : found->second;
}

std::optional<std::int64_t> seconds_of(std::string_view utc) {
    const std::optional<std::chrono::sys_seconds> at = model::time_of(utc);
    if (!at || model::utc_text(*at) != utc) return std::nullopt;
    return at->time_since_epoch().count();
}

StoredRun stored_run(const model::Run& run, std::string fingerprint,
                     const model::VerdictDocument* verdict) {
    const std::optional<std::int64_t> started = seconds_of(run.started_at);
    if (!started) {
        throw util::InputError("started_at: expected a time like 2026-11-21T10:00:00Z");
    }
    if (run.interrupted) {
        throw util::InputError(
            "the run was interrupted: finish it with 'perfgate run --resume DIR'");
    }
    const model::Environment& environment = run.environment;
    StoredRun stored{.fingerprint = std::move(fingerprint),
                     .origin = {.device = environment.device.key,
                                .board = environment.device.board,
                                .driver = environment.driver,
                                .toolkit = environment.cuda_toolkit,
                                .tool = run.tool_version,
                                .revision = run.git_revision,
                                .started = run.started_at,
                                .ordered = *started},
                     .series = {}};
    std::map<std::pair<std::string, std::string>, std::string> verdicts;
    if (verdict != nullptr) {
        for (const model::SuiteVerdict& suite : verdict->suites) {
            for (const model::CaseVerdict& judged : suite.cases) {
                verdicts[{suite.name, judged.id}] = to_text(judged.verdict);
            }
        }
    }
    for (const model::SuiteResult& suite : run.suites) {
        for (const model::CaseResult& result : suite.cases) {
            add_case(run, suite.name, result, verdicts, stored);
        }
    }
    return stored;
}

}  // namespace perfgate::history
