// SPDX-License-Identifier: Apache-2.0
#include "report/explanations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "report/columns.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

/// ", gpu_time 400.0 µs → 444.4 µs (+11.1 %)"; empty without a time on both sides.
std::string time_text(const model::CaseVerdict& verdict) {
    for (const std::string_view name : model::time_metrics) {
        for (const model::MetricVerdict& metric : verdict.metrics) {
            if (metric.metric != name || !metric.baseline || !metric.measured) continue;
            const model::QuantityTexts texts =
                model::quantity_texts(*metric.baseline, *metric.measured, metric.unit);
            const std::string moved =
                model::moved_text(*metric.baseline, *metric.measured, metric.unit);
            return fmt::format(", {} {} → {}{}", name, texts.before, texts.after,
                               moved.empty() ? "" : fmt::format(" ({})", moved));
        }
    }
    return {};
}

void append_wrapped(std::string& out, std::string_view line, std::size_t width) {
    constexpr std::size_t indent = 4;
    for (const std::string& piece : wrap(line, width > 2 * indent ? width - indent : 0)) {
        out.append(indent, ' ');
        out += piece + '\n';
    }
}

}  // namespace

std::string write_explanations(const model::VerdictDocument& document, const Options& options) {
    std::vector<const model::CaseVerdict*> explained;
    std::size_t others = 0;
    bool has_moved = false;
    for (const model::SuiteVerdict& suite : document.suites) {
        for (const model::CaseVerdict& verdict : suite.cases) {
            has_moved = has_moved || verdict.verdict == model::Verdict::regressed ||
                        verdict.verdict == model::Verdict::improved;
            if (verdict.why.empty()) {
                ++others;
            } else {
                explained.push_back(&verdict);
            }
        }
    }
    std::stable_sort(explained.begin(), explained.end(), [](const auto* left, const auto* right) {
        return effect_of(*left) < effect_of(*right);
    });
    std::string out;
    if (!explained.empty() && !document.summary.empty()) {
        for (const std::string& line : wrap(log_line(document.summary), options.width)) {
            out += log_line(line) + '\n';
        }
        out += '\n';
    }
    for (const model::CaseVerdict* verdict : explained) {
        out += fmt::format("{}: {}{}\n", log_line(verdict->id), to_text(verdict->verdict),
                           time_text(*verdict));
        for (const std::string& line : why_lines(*verdict)) {
            append_wrapped(out, log_line(line), options.width);
        }
    }
    const std::string ceilings = model::in_words(document.environment.ceilings);
    if (!explained.empty() && !ceilings.empty()) {
        for (const std::string& line : wrap("ceilings: " + ceilings, options.width)) {
            out += line + '\n';
        }
    }
    if (explained.empty()) {
        out += fmt::format("{}: {}\n",
                           has_moved ? "no other metric and no machine code explains it; 'perfgate "
                                       "profile', or 'measure' for a benchmark, shows more"
                                     : "nothing moved",
                           counts_text(document));
    } else if (others > 0) {
        out += fmt::format("{} more {} nothing to explain: {}\n", others,
                           others == 1 ? "case has" : "cases have", counts_text(document));
    }
    return out;
}

}  // namespace perfgate::report
