// SPDX-License-Identifier: Apache-2.0
#include "measure/identity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "util/text.hpp"

namespace perfgate::measure {
namespace {

std::string rest_of(const model::Tolerance& tolerance) {
    return (tolerance.severity ? fmt::format(", {}", to_text(*tolerance.severity)) : "") +
           (tolerance.tail ? fmt::format(", tail {}", *tolerance.tail) : "");
}

std::string settings_text(const model::PlannedCase& planned) {
    std::string text =
        fmt::format("seed {}, precision {}, time budget {} s, metrics {}", planned.seed,
                    planned.precision, planned.time_budget_s, fmt::join(planned.metrics, " "));
    for (const model::GateRule& gate : planned.gates) {
        text += fmt::format(", {} within {}/{}/{}/{}{}", gate.metric, gate.tolerance.worse,
                            gate.tolerance.better.value_or(-1), gate.tolerance.abs,
                            gate.cross_board, rest_of(gate.tolerance));
    }
    text += planned.subject->identity();
    if (planned.deterministic) text += ", deterministic";
    return planned.skip_reason.empty() ? text : text + ", skipped: " + planned.skip_reason;
}

const std::string* find(const Identity& identity, const std::string& field) {
    const auto found = std::find_if(identity.begin(), identity.end(),
                                    [&](const auto& entry) { return entry.first == field; });
    return found == identity.end() ? nullptr : &found->second;
}

}  // namespace

Identity identity_of(const model::Plan& plan, const model::Environment& environment) {
    Identity identity{
        {"device", environment.device.key},
        {"board", environment.device.board},
        {"driver", environment.driver},
        {"CUDA driver", environment.cuda_driver},
        {"CUDA toolkit", environment.cuda_toolkit},
        {"CUPTI", environment.cupti},
        {"kernel", environment.kernel},
        {"cpu", environment.cpu},
    };
    for (const model::PlannedSuite& suite : plan.suites) {
        std::set<std::size_t> groups;
        for (const model::PlannedCase& planned : suite.cases) {
            if (!planned.group || !groups.insert(*planned.group).second) continue;
            identity.emplace_back(fmt::format("command {}: {}", suite.name, planned.spec.workload),
                                  planned.subject->group_identity());
        }
        for (const model::PlannedCase& planned : suite.cases) {
            identity.emplace_back(
                fmt::format("case {}: {}", suite.name, model::case_id(planned.spec)),
                settings_text(planned));
        }
    }
    return identity;
}

std::string difference(const Identity& before, const Identity& now) {
    // At the first difference, by field: names a case that was added, not the one that it
    // displaced.
    const auto quoted = [](const std::string* value) {
        return value ? fmt::format("'{}'", util::printable(*value)) : std::string("absent");
    };
    const auto say = [&](const std::string& field, const std::string* was, const std::string* is) {
        return fmt::format("{} was {}, is now {}", util::printable(field), quoted(was), quoted(is));
    };
    for (std::size_t i = 0; i < std::max(before.size(), now.size()); ++i) {
        if (i < before.size() && i < now.size() && before[i] == now[i]) continue;
        if (i < now.size()) {
            const std::string* was = find(before, now[i].first);
            if (!was || *was != now[i].second) return say(now[i].first, was, &now[i].second);
        }
        if (i < before.size()) {
            const std::string* is = find(now, before[i].first);
            if (!is || *is != before[i].second) return say(before[i].first, &before[i].second, is);
        }
        return "the cases are in another order";
    }
    return {};
}

}  // namespace perfgate::measure
