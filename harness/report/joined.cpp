// SPDX-License-Identifier: Apache-2.0
#include "report/joined.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "model/case.hpp"
#include "model/choices.hpp"
#include "model/kernel_name.hpp"
#include "model/quantity.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

const model::SuiteResult* find_suite(const model::Run& run, const std::string& name,
                                     std::size_t position) {
    // By position first: hand-written documents may repeat a name.
    if (position < run.suites.size() && run.suites[position].name == name) {
        return &run.suites[position];
    }
    for (const model::SuiteResult& suite : run.suites) {
        if (suite.name == name) return &suite;
    }
    return nullptr;
}

std::vector<JoinedCase> join_cases(const model::SuiteVerdict& verdict,
                                   const model::SuiteResult& result) {
    std::vector<std::string> ids;
    std::unordered_map<std::string_view, std::size_t> by_id;
    ids.reserve(result.cases.size());
    by_id.reserve(result.cases.size());
    for (const model::CaseResult& c : result.cases) ids.push_back(model::case_id(c.spec));
    for (std::size_t i = 0; i < ids.size(); ++i) by_id.emplace(ids[i], i);

    std::vector<JoinedCase> cases;
    cases.reserve(verdict.cases.size());
    for (std::size_t i = 0; i < verdict.cases.size(); ++i) {
        JoinedCase joined{&verdict.cases[i], nullptr};
        if (i < ids.size() && ids[i] == joined.verdict->id) {
            joined.result = &result.cases[i];
        } else if (const auto found = by_id.find(joined.verdict->id); found != by_id.end()) {
            joined.result = &result.cases[found->second];
        }
        cases.push_back(joined);
    }
    return cases;
}

/// Merges another row of the same metric into a row.
void add(MetricRow& row, const MetricRow& more) {
    if (row.unit.empty()) row.unit = more.unit;
    if (more.verdict != nullptr) row.verdict = more.verdict;
    if (more.not_collected != nullptr) row.not_collected = more.not_collected;
}

/// What is known about metrics without values, by name.
std::vector<MetricRow> rows_without_values(const JoinedCase& joined) {
    std::vector<MetricRow> rows;
    if (joined.result != nullptr) {
        for (const model::NotCollected& missing : joined.result->not_collected) {
            rows.push_back({missing.metric, "", nullptr, nullptr, &missing});
        }
    }
    for (const model::MetricVerdict& verdict : joined.verdict->metrics) {
        rows.push_back({verdict.metric, verdict.unit, nullptr, &verdict, nullptr});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const MetricRow& left, const MetricRow& right) {
        return left.metric < right.metric;
    });
    // Hand-written documents may name a metric twice: the last verdict is used.
    std::size_t count = 0;
    for (const MetricRow& row : rows) {
        if (count > 0 && rows[count - 1].metric == row.metric) {
            add(rows[count - 1], row);
        } else {
            rows[count++] = row;
        }
    }
    rows.resize(count);
    return rows;
}

/// Those with other machine code than the baseline's, new ones first, whose source is known and
/// lies in the folder in which the run worked.
std::vector<const model::Kernel*> changed_kernels_with_source(const JoinedCase& joined) {
    std::vector<const model::Kernel*> found;
    if (joined.result == nullptr) return found;
    for (const std::string& name : joined.verdict->changed_kernels) {
        const auto kernel =
            std::ranges::find_if(joined.result->kernels, [&](const model::Kernel& each) {
                return lies_inside(each.source) && model::short_kernel_name(each.name) == name;
            });
        if (kernel != joined.result->kernels.end()) found.push_back(&*kernel);
    }
    return found;
}

}  // namespace

std::vector<JoinedSuite> join(const model::VerdictDocument& document, const model::Run& run) {
    static const model::SuiteResult none;
    std::vector<JoinedSuite> suites;
    suites.reserve(document.suites.size());
    for (const model::SuiteVerdict& verdict : document.suites) {
        const model::SuiteResult* result = find_suite(run, verdict.name, suites.size());
        suites.push_back({&verdict, join_cases(verdict, result != nullptr ? *result : none)});
    }
    return suites;
}

std::vector<JoinedGroup> groups_of(const JoinedSuite& suite, const model::Policy& policy) {
    std::vector<JoinedGroup> groups;
    std::vector<bool> taken(suite.cases.size(), false);
    for (const model::CaseGroup& group : suite.verdict->groups) {
        JoinedGroup& made = groups.emplace_back(JoinedGroup{group.effect, group.sentence, {}});
        for (const std::int64_t position : group.cases) {
            const auto index = static_cast<std::size_t>(position);
            if (position < 0 || index >= taken.size() || taken[index]) continue;
            // An edited document: the case speaks, not the group.
            if (effect_of(*suite.cases[index].verdict) != group.effect) continue;
            taken[index] = true;
            made.cases.push_back(suite.cases[index]);
        }
        if (made.cases.empty()) groups.pop_back();
    }
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
        const model::CaseVerdict& verdict = *suite.cases[i].verdict;
        if (taken[i] || is_only_counted(verdict, policy)) continue;
        groups.push_back({effect_of(verdict), verdict.reason, {suite.cases[i]}});
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const JoinedGroup& left, const JoinedGroup& right) {
                         return left.effect < right.effect;
                     });
    return groups;
}

std::optional<double> MetricRow::measured() const {
    if (verdict != nullptr && verdict->measured) return verdict->measured;
    return series != nullptr ? std::optional(series->value) : std::nullopt;
}

std::vector<MetricRow> metric_rows(const JoinedCase& joined) {
    static const std::map<std::string, model::MetricSeries> nothing;
    const auto& measured = joined.result != nullptr ? joined.result->metrics : nothing;
    const std::vector<MetricRow> without_values = rows_without_values(joined);
    std::vector<MetricRow> rows;
    rows.reserve(measured.size() + without_values.size());
    // Both are sorted by name.
    auto next = without_values.begin();
    for (const auto& [name, series] : measured) {
        while (next != without_values.end() && next->metric < name) rows.push_back(*next++);
        rows.push_back({name, series.unit, &series});
        if (next != without_values.end() && next->metric == name) add(rows.back(), *next++);
    }
    rows.insert(rows.end(), next, without_values.end());
    return rows;
}

std::optional<Value> find_value(const JoinedCase& joined, std::string_view metric) {
    Value value;
    for (const model::MetricVerdict& verdict : joined.verdict->metrics) {
        if (verdict.metric != metric) continue;
        value = {verdict.metric,
                 verdict.unit,
                 verdict.baseline,
                 verdict.measured,
                 verdict.change,
                 verdict.interval,
                 verdict.minimum_detectable_change};
        break;
    }
    if (!value.measured && joined.result != nullptr) {
        const auto series = joined.result->metrics.find(std::string(metric));
        if (series != joined.result->metrics.end()) {
            value.metric = series->first;
            value.unit = series->second.unit;
            value.measured = series->second.value;
        }
    }
    if (!value.baseline && !value.measured) return std::nullopt;
    return value;
}

std::optional<Value> find_deciding(const JoinedCase& joined) {
    // The time says most about what passed or was not measured.
    const model::MetricVerdict* metric = deciding_metric(*joined.verdict);
    if (metric == nullptr || !metric->measured ||
        effect_of(*joined.verdict) == model::Effect::none) {
        return find_time(joined);
    }
    return find_value(joined, metric->metric);
}

ValueTexts texts_of(const std::optional<double>& before, const std::optional<double>& after,
                    std::string_view unit) {
    if (before && after) {
        model::QuantityTexts both = model::quantity_texts(*before, *after, unit);
        return {std::move(both.before), std::move(both.after),
                model::moved_text(*before, *after, unit)};
    }
    return {before ? model::quantity_text(*before, unit) : "",
            after ? model::quantity_text(*after, unit) : "", ""};
}

std::string moved_text(const Value& value) {
    if (!value.baseline || !value.measured) return {};
    return model::moved_text(*value.baseline, *value.measured, value.unit);
}

std::string values_text(const Value& value, bool with_change) {
    if (!value.measured) return {};
    if (!value.baseline) {
        return fmt::format("{} {}", value.metric,
                           model::quantity_text(*value.measured, value.unit));
    }
    const model::QuantityTexts texts =
        model::quantity_texts(*value.baseline, *value.measured, value.unit);
    const std::string moved = with_change ? moved_text(value) : "";
    return fmt::format("{} {} → {}{}", value.metric, texts.before, texts.after,
                       moved.empty() ? "" : " (" + moved + ")");
}

bool is_compared(const JoinedCase& joined) {
    using model::Effect;
    const Effect effect = effect_of(*joined.verdict);
    return effect == Effect::slower || effect == Effect::counter || effect == Effect::unclear ||
           effect == Effect::warned || effect == Effect::acknowledged || effect == Effect::better;
}

bool is_explained(const JoinedCase& joined) {
    return is_compared(joined) && !joined.verdict->why.empty();
}

std::string short_reason(const JoinedCase& joined, bool with_change) {
    const model::CaseVerdict& verdict = *joined.verdict;
    const Value value = find_deciding(joined).value_or(Value{});
    std::string reason = values_text(value, with_change);
    // The verdict already says that there is no baseline.
    if (effect_of(verdict) == model::Effect::no_baseline) return reason;
    if (!is_compared(joined) || reason.empty()) return first_reason(verdict);
    if (!verdict.why.empty()) reason += "; " + first_reason(verdict);
    return reason + in_kernel(verdict);
}

std::string in_kernel(const model::CaseVerdict& verdict) {
    if (verdict.changed_kernels.empty()) return {};
    return ", in " + model::brief_kernel_name(verdict.changed_kernels.front());
}

model::SourcePlace line_to_look_at(const JoinedCase& joined) {
    for (const model::Cause& cause : joined.verdict->why) {
        if (cause.place.line > 0 && lies_inside(cause.place)) return cause.place;
    }
    const auto kernels = changed_kernels_with_source(joined);
    return kernels.empty() ? model::SourcePlace{} : kernels.front()->source;
}

std::string changed_source(const JoinedCase& joined) {
    constexpr std::size_t most = 3;
    std::string text;
    std::size_t count = 0;
    for (const model::Kernel* kernel : changed_kernels_with_source(joined)) {
        if (++count > most) continue;
        text += fmt::format("{}{}, {}:{}", text.empty() ? "changed: " : "; ",
                            model::brief_kernel_name(kernel->name), kernel->source.file,
                            kernel->source.line);
    }
    if (count > most) text += fmt::format("; and {} more", count - most);
    return text;
}

std::string preparation_of(const JoinedCase& joined) {
    if (joined.result == nullptr) return {};
    const auto prepared = joined.result->metrics.find(std::string(model::prepare_time));
    return prepared == joined.result->metrics.end() ? ""
                                                    : model::preparation_text(prepared->second);
}

std::optional<Value> find_time(const JoinedCase& joined) {
    for (const std::string_view metric : model::time_metrics) {
        if (std::optional<Value> value = find_value(joined, metric)) return value;
    }
    for (const model::MetricVerdict& gated : joined.verdict->metrics) {
        if (gated.measured) return find_value(joined, gated.metric);
    }
    return std::nullopt;
}

}  // namespace perfgate::report
