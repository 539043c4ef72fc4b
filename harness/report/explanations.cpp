// SPDX-License-Identifier: Apache-2.0
#include "report/explanations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "model/roofline.hpp"
#include "report/console_text.hpp"
#include "report/joined.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

/// ", gpu_time 400.0 µs → 444.4 µs (+11.1 %)"; empty without a time on both sides.
std::string time_text(const model::CaseVerdict& verdict) {
    const std::optional<Value> time = find_time({&verdict, nullptr});
    if (!time || !time->baseline || !time->measured) return {};
    return ", " + log_line(values_text(*time, true));
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
    Options whole_lines = options;
    whole_lines.list_all = true;  // without a terminal nothing is wrapped
    ConsoleText out(whole_lines);
    if (!explained.empty() && !document.summary.empty()) {
        out.wrapped(log_line(document.summary));
        out.append("\n");
    }
    for (const model::CaseVerdict* verdict : explained) {
        out.append(fmt::format("{}: {}{}\n", log_line(verdict->id), to_text(verdict->verdict),
                               time_text(*verdict)));
        for (const std::string& line : why_lines(*verdict)) out.details({log_line(line)});
    }
    const std::string ceilings = model::in_words(document.environment.ceilings);
    if (!explained.empty() && !ceilings.empty()) out.wrapped("ceilings: " + ceilings);
    if (explained.empty()) {
        out.append(fmt::format("{}: {}\n",
                               has_moved
                                   ? "no other metric and no machine code explains it; 'perfgate "
                                     "profile', or 'measure' for a benchmark, shows more"
                                   : "nothing moved",
                               counts_text(document)));
    } else if (others > 0) {
        out.append(fmt::format("{} more {} nothing to explain: {}\n", others,
                               others == 1 ? "case has" : "cases have", counts_text(document)));
    }
    return out.take();
}

}  // namespace perfgate::report
