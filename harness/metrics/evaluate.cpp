// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "metrics/catalogue.hpp"
#include "model/kernel_name.hpp"
#include "util/text.hpp"

namespace perfgate::metrics {

namespace {

using Counters = std::map<std::string, double>;

/// Σ weight · counter. Nothing if a required counter is absent.
std::optional<double> sum_terms(const std::vector<Term>& terms, const Counters& counters) {
    double sum = 0;
    for (const Term& term : terms) {
        const auto present = std::ranges::find_if(
            term.names, [&](const std::string& name) { return counters.contains(name); });
        if (present != term.names.end()) {
            sum += term.weight * counters.at(*present);
        } else if (!term.optional) {
            return std::nullopt;
        }
    }
    return sum;
}

struct Weighted {
    double value = 0, weight = 0;
};

/// The weighted mean. Values that are all equal are returned unchanged, so that rounding cannot
/// change an exact metric. If all weights are 0, values count equally.
double weighted_mean(const std::vector<Weighted>& values) {
    double sum = 0;
    double weights = 0;
    double plain_sum = 0;
    bool same = true;
    for (const Weighted& entry : values) {
        sum += entry.value * entry.weight;
        weights += entry.weight;
        plain_sum += entry.value;
        same = same && entry.value == values.front().value;
    }
    if (same) return values.front().value;
    return weights > 0 ? sum / weights : plain_sum / static_cast<double>(values.size());
}

double largest(const std::vector<Weighted>& values) {
    double most = values.front().value;
    for (const Weighted& entry : values) most = std::max(most, entry.value);
    return most;
}

double total(const std::vector<Weighted>& values) {
    double sum = 0;
    for (const Weighted& entry : values) sum += entry.value;
    return sum;
}

/// `values` is not empty. A ratio gets here only if it has no denominator to fold.
double fold(model::Fold how, const std::vector<Weighted>& values) {
    switch (how) {
        case model::Fold::sum:
            return total(values);
        case model::Fold::max:
            return largest(values);
        case model::Fold::ratio:
        case model::Fold::weighted_mean:
            break;
    }
    return weighted_mean(values);
}

std::optional<double> fold_ratio(const Metric& metric, std::span<const Counters> kernels) {
    double numerator = 0;
    double denominator = 0;
    for (const Counters& counters : kernels) {
        const auto above = sum_terms(metric.numerator, counters);
        const auto below = sum_terms(metric.denominator, counters);
        if (!above || !below) return std::nullopt;
        numerator += *above;
        denominator += *below;
    }
    return denominator == 0 ? 0 : metric.scale * (numerator / denominator);
}

std::optional<std::vector<Term>> terms_on_chip(const std::vector<Term>& terms,
                                               const CounterExists& exists) {
    std::vector<Term> found;
    for (const Term& term : terms) {
        const auto name = std::ranges::find_if(term.names, exists);
        if (name != term.names.end()) {
            found.push_back({term.weight, {*name}, false});
        } else if (!term.optional) {
            return std::nullopt;
        }
    }
    return found;
}

/// The alternatives of the first term that the chip lacks.
std::string missing_counters(const Metric& metric, const CounterExists& exists) {
    for (const auto* terms : {&metric.numerator, &metric.denominator}) {
        for (const Term& term : *terms) {
            const bool there = std::ranges::any_of(term.names, exists);
            if (!there && !term.optional) return fmt::format("{}", fmt::join(term.names, " or "));
        }
    }
    return "for any of its terms";
}

}  // namespace

std::optional<Metric> on_chip(const Metric& metric, const CounterExists& exists) {
    auto numerator = terms_on_chip(metric.numerator, exists);
    auto denominator = terms_on_chip(metric.denominator, exists);
    if (!numerator || !denominator) return std::nullopt;
    // If all terms are optional, one must exist: without any counter there is no measurement.
    if (numerator->empty() && !metric.numerator.empty()) return std::nullopt;
    Metric found = metric;
    found.numerator = std::move(*numerator);
    found.denominator = std::move(*denominator);
    return found;
}

bool absent_on(const Metric& metric, std::string_view chip) {
    return std::ranges::any_of(
        metric.absent_on, [&](const std::string& glob) { return util::glob_match(glob, chip); });
}

std::set<std::string> counters_of(const Metric& metric) {
    std::set<std::string> counters;
    if (metric.source != Source::counter) return counters;
    for (const auto* terms : {&metric.numerator, &metric.denominator}) {
        for (const Term& term : *terms) {
            if (!term.names.empty()) counters.insert(term.names.front());
        }
    }
    if (metric.definition.fold == model::Fold::weighted_mean) counters.insert(weight_counter);
    return counters;
}

Selection select_counters(std::span<const Metric> metrics, const CounterExists& exists,
                          std::string_view chip) {
    Selection selection;
    for (const Metric& metric : metrics) {
        if (metric.source != Source::counter) continue;
        const std::string& name = metric.definition.name;
        if (std::optional<Metric> found = on_chip(metric, exists)) {
            selection.counters.merge(counters_of(*found));
            selection.metrics.push_back(std::move(*found));
        } else if (!chip.empty() && absent_on(metric, chip)) {
            selection.not_applicable.push_back(name);
        } else {
            selection.unavailable.push_back(
                {name,
                 fmt::format("{} has no counter {}, or this machine does not offer it; leave the "
                             "metric out for this device",
                             chip.empty() ? "the chip" : chip,
                             util::printable(missing_counters(metric, exists)))});
        }
    }
    return selection;
}

std::optional<double> evaluate(const Metric& metric, const Counters& counters) {
    const std::optional<double> numerator = sum_terms(metric.numerator, counters);
    if (!numerator || metric.numerator.empty()) return std::nullopt;
    if (metric.denominator.empty()) return metric.scale * *numerator;
    const std::optional<double> denominator = sum_terms(metric.denominator, counters);
    if (!denominator || *denominator == 0) return std::nullopt;
    return metric.scale * (*numerator / *denominator);
}

std::optional<double> fold_counters(const Metric& metric, std::span<const Counters> kernels) {
    if (kernels.empty() || metric.numerator.empty()) return std::nullopt;
    const model::Fold how = metric.definition.fold;
    if (how == model::Fold::ratio && !metric.denominator.empty()) {
        return fold_ratio(metric, kernels);
    }
    std::vector<Weighted> values;
    for (const Counters& counters : kernels) {
        const std::optional<double> value = evaluate(metric, counters);
        if (!value) return std::nullopt;
        double weight = 1;
        if (how == model::Fold::weighted_mean) {
            const auto duration = counters.find(weight_counter);
            if (duration == counters.end()) return std::nullopt;
            weight = duration->second;
        }
        values.push_back({*value, weight});
    }
    return fold(how, values);
}

std::optional<double> fold_records(const Metric& metric, std::span<const model::Kernel> kernels) {
    if (kernels.empty() || metric.record == nullptr) return std::nullopt;
    std::vector<Weighted> values;
    values.reserve(kernels.size());
    for (const model::Kernel& kernel : kernels) {
        const double value = metric.record(kernel);
        if (std::isnan(value)) return std::nullopt;
        values.push_back({value, kernel.duration_ns});
    }
    return fold(metric.definition.fold, values);
}

std::string why_no_fact(const Metric& metric, std::span<const model::Kernel> kernels) {
    const auto unknown = std::ranges::find_if(
        kernels, [&](const model::Kernel& kernel) { return std::isnan(metric.record(kernel)); });
    if (unknown == kernels.end()) return "the launch left no kernel record";
    const std::string name = model::short_kernel_name(unknown->name);
    if (!unknown->code.empty()) {
        return fmt::format(
            "the machine code of kernel {} does not contain this value; leave the metric out",
            name);
    }
    return fmt::format(
        "the machine code of kernel {} is not known: no module that perfgate saw loading has it, "
        "or two have different code of that name; leave the metric out for this case",
        name);
}

}  // namespace perfgate::metrics
