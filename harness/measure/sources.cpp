// SPDX-License-Identifier: Apache-2.0
#include "measure/sources.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "measure/batches.hpp"
#include "measure/clock_stability.hpp"
#include "metrics/catalogue.hpp"
#include "model/roofline.hpp"

namespace perfgate::measure {
namespace {

/// Also what the workload states per joule.
void add_work_per_joule(const model::Work& stated, Reading& reading) {
    const double joules = reading.values["energy"].value;
    if (!(joules > 0) || !std::isfinite(joules)) {
        reading.problem = "the device's energy counter did not advance";
        return;
    }
    const auto add = [&](const char* metric, double work, const char* what) {
        Reading::Value& value = reading.values[metric];
        value.value = work / joules;
        if (work > 0) return;
        value.problem =
            fmt::format("the workload states no {}: {}, or leave the metric out for this case",
                        what, model::where_to_state_work);
    };
    add("efficiency", stated.flops, "operations");
    add("bytes_per_joule", stated.bytes, "bytes");
}

struct Source {
    const char* name;  ///< of Metric::reading and ReadingRequest
    When when;
    const char* subject;  ///< of its notes
    /// Completes a reading that was taken; may be null.
    void (*derive)(const model::Work& stated, Reading& reading) = nullptr;
};

constexpr Source sources[] = {
    {"energy", When::each_process, "energy", &add_work_per_joule},
    {"api", When::first_process, "API calls"},
    {"disassembly", When::first_process, "machine code"},
    {"memory", When::case_closed, "device memory"},
};

std::vector<metrics::Metric> requested(const CaseSettings& settings, const Source& source) {
    std::vector<metrics::Metric> found;
    for (const std::string& name : settings.metrics) {
        auto metric = metrics::find_metric(name);
        if (metric && metric->reading == source.name) found.push_back(std::move(*metric));
    }
    return found;
}

}  // namespace

void add_readings(When when, Backend& backend, Case* opened, const std::string& board,
                  const CaseSettings& settings, model::CaseResult& result) {
    for (const Source& source : sources) {
        if (source.when != when) continue;
        const std::vector<metrics::Metric> wanted = requested(settings, source);
        if (wanted.empty()) continue;
        Reading reading =
            backend.read({source.name, opened, result.spec,
                          settings.kernel ? &*settings.kernel : nullptr, settings.seed});
        if (reading.problem.empty() && source.derive != nullptr) {
            source.derive(result.work.value_or(model::Work{}), reading);
        }
        const std::array around{reading.board};
        for (const metrics::Metric& metric : wanted) {
            const std::string& name = metric.definition.name;
            const auto [place, missing] = reading.values.try_emplace(name);
            Reading::Value& value = place->second;
            if (missing) value.problem = "the backend's reading lacks it";
            std::string why = reading.problem.empty() ? value.problem : reading.problem;
            if (!why.empty()) {
                if (!settings.times_only) result.not_collected.push_back({name, std::move(why)});
                continue;
            }
            model::Batch batch{settings.process, board, settings.seed, {}};
            batch.round = settings.round;
            batch.sm_clock_mhz = clock_of(around);
            batch.excluded = disturbance(around);
            result.metrics[name] =
                series_of_one(metric.definition, value.value, reading.method, std::move(batch));
            result.metrics[name].detail = std::move(value.detail);
        }
        if (!settings.times_only && reading.problem.empty() && !reading.note.empty()) {
            result.notes.push_back(fmt::format("{}: {}", source.subject, reading.note));
        }
    }
}

}  // namespace perfgate::measure
