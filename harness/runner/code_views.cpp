// SPDX-License-Identifier: Apache-2.0
#include "runner/code_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.hpp"
#include "runner/code_file.hpp"
#include "sass/difference.hpp"
#include "sass/finding.hpp"
#include "sass/samples.hpp"
#include "sass/text.hpp"

namespace perfgate::runner {
namespace {

constexpr std::size_t most_lines = 40, most_stalls = 5, most_rows = 20000;

using Texts = std::map<model::SourcePlace, std::string>;

/// What a case's launch takes on both sides, in ns; 0: it was not measured.
struct Times {
    double before = 0, after = 0;
};

/// Samples of a launch of these kernels; 0 if they are not known of all.
double samples_of_launch(const std::vector<model::KernelCode>& kernels) {
    double all = 0;
    for (const model::KernelCode& kernel : kernels) {
        const auto samples = static_cast<double>(sass::samples_of(kernel).all());
        if (kernel.launches == 0) return 0;
        all += samples / static_cast<double>(kernel.launches);
    }
    return all;
}

/// How long a kernel takes of a side's time; without a time, in samples of a launch.
double length_of(const model::KernelCode* kernel, const model::CaseCode* code, double time) {
    if (kernel == nullptr || code == nullptr) return 0;
    const double own = samples_of_launch({*kernel}), all = samples_of_launch(code->kernels);
    return time > 0 && all > 0 ? time * own / all : own;
}

Times times_of(const model::VerdictDocument& verdict, const model::CaseCode& of) {
    for (const model::SuiteVerdict& suite : verdict.suites) {
        if (suite.name != of.suite) continue;
        for (const model::CaseVerdict& each : suite.cases) {
            if (each.id != of.id) continue;
            for (const model::MetricVerdict& metric : each.metrics) {
                if (metric.metric == "gpu_time" && metric.baseline && metric.measured)
                    return {*metric.baseline, *metric.measured};
            }
        }
    }
    return {};
}

/// What the samples of the line are, in the same % as the line.
std::vector<report::page::Stall> stalls_of(const sass::HotLine& hot) {
    const auto share = [](std::int64_t count, const model::Samples& of_line, double percent) {
        const std::int64_t all = of_line.all();
        return all == 0 ? 0 : percent * static_cast<double>(count) / static_cast<double>(all);
    };
    const model::Samples &before = hot.line->samples_before, &after = hot.line->samples_after;
    std::map<std::string, report::page::Stall> by_reason;
    for (const auto& [reason, count] : before.reasons) {
        by_reason[reason].before = share(count, before, hot.before);
    }
    for (const auto& [reason, count] : after.reasons) {
        by_reason[reason].after = share(count, after, hot.after);
    }
    std::vector<report::page::Stall> all;
    for (auto& [reason, stall] : by_reason) {
        stall.words = sass::reason_words(reason);
        all.push_back(std::move(stall));
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& one, const auto& other) {
        return std::max(one.before, one.after) > std::max(other.before, other.after);
    });
    if (all.size() > most_stalls) all.resize(most_stalls);
    return all;
}

report::page::CodeKernel kernel_view(const sass::KernelPair& pair, const Texts& texts) {
    const model::KernelCode& after = *pair.after;
    report::page::CodeKernel view;
    view.name = after.name;
    view.compared = pair.before != nullptr;
    const model::Listing none;
    const model::Listing& listing = view.compared ? pair.before->listing : none;
    const sass::Difference difference = sass::difference(listing, after.listing);
    const auto where = view.compared ? sass::where_time_went(*pair.before, after, difference.lines)
                                     : sass::where_time_goes(after);
    view.sentence = view.compared ? difference.sentence : "the base's code is not at hand";
    if (where) view.time = where->sentence;
    view.classes = sass::classes_text(difference);
    view.rows = sass::rows_text(listing, after.listing, difference, most_rows);
    for (const sass::HotLine& hot : sass::hot_lines(difference)) {
        if (view.lines.size() == most_lines) break;
        const sass::Line& line = *hot.line;
        report::page::CodeLine& shown = view.lines.emplace_back();
        const bool in_head = line.after.line > 0;
        const model::SourcePlace& place = in_head ? line.after : line.before;
        shown.place = fmt::format("{}:{}", place.file, place.line);
        if (in_head && line.before.line > 0 && line.before != line.after) {
            shown.was = fmt::format("{}:{}", line.before.file, line.before.line);
        }
        if (const auto text = texts.find(place); in_head && text != texts.end())
            shown.text = text->second;
        shown.instructions_before = line.instructions_before;
        shown.instructions_after = line.instructions_after;
        shown.before = hot.before;
        shown.after = hot.after;
        shown.stalls = stalls_of(hot);
    }
    return view;
}

}  // namespace

report::CodeViews code_views(const model::VerdictDocument& verdict, const model::KeptCode& kept) {
    report::CodeViews views;
    Texts texts;
    for (const model::SourceLine& line : kept.source) texts[line.place] = line.text;
    for (const model::CaseCode& head : kept.head) {
        std::vector<report::page::CodeKernel> kernels;
        const model::CaseCode* const base = code_in(kept.base, head.suite, head.id);
        const Times times = times_of(verdict, head);
        for (const sass::KernelPair& pair : sass::kernel_pairs(base, head)) {
            if (pair.before != nullptr && pair.before->code == pair.after->code) continue;
            report::page::CodeKernel& view = kernels.emplace_back(kernel_view(pair, texts));
            view.timed = times.after > 0;
            view.length_before = length_of(pair.before, base, times.before);
            view.length_after = length_of(pair.after, &head, times.after);
        }
        if (!kernels.empty()) views.cases.try_emplace({head.suite, head.id}, std::move(kernels));
    }
    return views;
}

}  // namespace perfgate::runner
