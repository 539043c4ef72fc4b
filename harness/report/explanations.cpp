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
#include "util/text.hpp"

namespace perfgate::report {

namespace {

/// ", gpu_time 400.0 µs → 444.4 µs (+11.1 %)"; empty without a time on both sides.
std::string time_text(const model::CaseVerdict& verdict) {
    const std::optional<Value> time = find_time({&verdict, nullptr});
    if (!time || !time->baseline || !time->measured) return {};
    return ", " + log_line(values_text(*time, true));
}

/// What may show more of a case without a known cause: a benchmark's own counts, or its kernels.
std::string_view advice(const model::VerdictDocument& document) {
    if (document.backend == "cuda") {
        return "'measure' records what a benchmark does on the GPU, 'perfgate profile' what a "
               "program does";
    }
    return "for a benchmark, 'values' in the suite reads what it counts itself";
}

}  // namespace

std::string write_explanations(const model::VerdictDocument& document, const Options& options) {
    std::vector<const model::CaseVerdict*> explained;
    std::size_t unexplained = 0, unmoved = 0;
    for (const model::SuiteVerdict& suite : document.suites) {
        for (const model::CaseVerdict& verdict : suite.cases) {
            if (!verdict.why.empty()) {
                explained.push_back(&verdict);
            } else if (is_worse(verdict.verdict) || verdict.verdict == model::Verdict::improved) {
                ++unexplained;
            } else {
                ++unmoved;
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
    if (unexplained > 0) {
        out.append(fmt::format("no other metric explains {}: {}\n",
                               util::counted(unexplained, "case"), advice(document)));
    }
    if (unmoved > 0 || explained.empty()) {
        out.append(fmt::format(
            "{}: {}\n",
            explained.empty() && unexplained == 0
                ? "nothing moved"
                : fmt::format("{} nothing to explain",
                              unmoved == 1 ? "1 more case has"
                                           : fmt::format("{} more cases have", unmoved)),
            counts_text(document)));
    }
    return out.take();
}

}  // namespace perfgate::report
