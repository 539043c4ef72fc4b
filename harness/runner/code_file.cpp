// SPDX-License-Identifier: Apache-2.0
#include "runner/code_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "document/kernel_code.hpp"
#include "measure/elapsed.hpp"
#include "measure/workers.hpp"
#include "model/case.hpp"
#include "model/run.hpp"
#include "runner/interruption.hpp"
#include "sass/difference.hpp"
#include "sass/samples.hpp"
#include "sass/text.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_cases = 16;
constexpr std::size_t most_bytes = std::size_t{64} << 20;

void warn(const std::string& what) {
    fmt::print(stderr, "perfgate: warning: {}\n", util::printable(what, 500));
}

/// About what it takes in the file.
std::size_t size_of(const model::CaseCode& code) {
    std::size_t bytes = 0;
    for (const model::KernelCode& kernel : code.kernels) {
        for (const model::Instruction& each : kernel.listing.instructions) {
            bytes += 60 + each.text.size() + each.place.file.size();
            for (const auto& [reason, count] : each.samples.reasons) bytes += 24 + reason.size();
        }
    }
    return bytes;
}

/// Leaves out what is beyond the limit.
void limit(std::vector<model::CaseCode>& all) {
    std::size_t bytes = 0;
    for (model::CaseCode& code : all) {
        bytes += size_of(code);
        if (bytes <= most_bytes) continue;
        code.kernels.clear();
        code.problem = fmt::format(
            "the machine code of the run's cases is larger than {} MiB: run this case by itself "
            "(--filter)",
            most_bytes >> 20);
    }
}

}  // namespace

std::vector<model::CaseIndex> slower_by_code(const model::VerdictDocument& verdict) {
    using model::Verdict;
    std::vector<model::CaseIndex> found;
    for (std::size_t s = 0; s < verdict.suites.size(); ++s) {
        const std::vector<model::CaseVerdict>& cases = verdict.suites[s].cases;
        for (std::size_t c = 0; c < cases.size(); ++c) {
            const model::CaseVerdict& of = cases[c];
            const bool unclear =
                of.verdict == Verdict::inconclusive && of.doubt != model::Doubt::not_shown;
            const bool worse =
                model::is_worse(of.verdict) || of.verdict == Verdict::invalid || unclear;
            if (worse && !of.changed_kernels.empty()) found.push_back({s, c});
        }
    }
    return found;
}

model::KeptCode code_of_slower(
    measure::Session& session, const std::vector<model::CaseIndex>& slower,
    const std::function<std::vector<model::CaseCode>(const std::vector<model::CaseIndex>&)>& base,
    const MeasuringChoice& choice) {
    model::KeptCode kept;
    if (slower.empty() || session.interrupted()) return kept;
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<model::CaseIndex> first(
        slower.begin(),
        slower.begin() + static_cast<std::ptrdiff_t>(std::min(slower.size(), most_cases)));
    try {
        kept.head = session.machine_code(first);
        if (!kept.head.empty() && !interrupted()) kept.base = base(first);
    } catch (const measure::Interrupted&) {  // is said below
    } catch (const util::Error& error) {
        warn(fmt::format("the machine code of slower cases is not complete: {}", error.what()));
    }
    limit(kept.head);
    limit(kept.base);
    if (interrupted()) {
        warn(
            "interrupted: machine code and samples of slower cases are missing; the verdicts are "
            "those of all that was to be measured");
    }
    for (std::size_t i = first.size(); i < slower.size(); ++i) {
        const model::SuiteResult& suite = session.run().suites.at(slower[i].suite);
        model::CaseCode& code = kept.head.emplace_back();
        code.suite = suite.name;
        code.id = model::case_id(suite.cases.at(slower[i].index).spec);
        code.problem =
            fmt::format("the machine code of {} others is kept: run this case by itself (--filter)",
                        most_cases);
    }
    if (choice.progress && !kept.head.empty()) {
        choice.progress->say(fmt::format("machine code and samples of {}: {:.1f} s",
                                         util::counted(first.size(), "slower case"),
                                         measure::seconds_since(begin)));
    }
    return kept;
}

void keep_code(model::KeptCode kept, const fs::path& out, const RevisionOf& of_head,
               const RevisionOf& of_base, model::Run& run) {
    if (kept.head.empty()) return;
    kept.source = source_lines(kept.head, of_head);
    kept.base_source = source_lines(kept.base, [&](const model::CaseCode& code) {
        std::string revision = of_base(code);
        return model::names_a_commit(revision) ? revision : std::string();
    });
    for (model::SuiteResult& suite : run.suites) {
        for (model::CaseResult& result : suite.cases) {
            const std::string id = model::case_id(result.spec);
            const model::CaseCode* const head = code_in(kept.head, suite.name, id);
            if (head == nullptr) continue;
            result.code = sass::finding_of(code_in(kept.base, suite.name, id), *head);
        }
    }
    try {
        util::Folder(out).write(code_file, document::write_code(kept));
    } catch (const util::Error& error) {
        warn(fmt::format("no machine code is kept: {}", error.what()));
    }
}

model::KeptCode read_code(const fs::path& folder) {
    const fs::path file = folder / code_file;
    std::error_code absent;
    if (fs::symlink_status(file, absent).type() != fs::file_type::regular) return {};
    try {
        return document::parse_code(util::read_file(file, 4 * most_bytes, "machine code"),
                                    file.string());
    } catch (const util::Error& error) {
        warn(error.what());
    }
    return {};
}

const model::CaseCode* code_in(const std::vector<model::CaseCode>& all, const std::string& suite,
                               const std::string& id) {
    const auto found = std::ranges::find_if(
        all, [&](const model::CaseCode& each) { return each.is_of(suite, id); });
    return found == all.end() ? nullptr : &*found;
}

namespace {

constexpr std::size_t most_lines = 40, most_stalls = 5, most_rows = 20000;

using Texts = std::map<model::SourcePlace, std::string>;

Texts texts_of(const std::vector<model::SourceLine>& lines) {
    Texts texts;
    for (const model::SourceLine& line : lines) texts[line.place] = line.text;
    return texts;
}

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
                if (metric.metric == "gpu_time" && metric.baseline && metric.measured) {
                    return {*metric.baseline, *metric.measured};
                }
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
    std::ranges::stable_sort(all, [](const auto& one, const auto& other) {
        return std::max(one.before, one.after) > std::max(other.before, other.after);
    });
    if (all.size() > most_stalls) all.resize(most_stalls);
    return all;
}

/// `base_known`: the base's kernels are, and a kernel without a pair is new.
report::page::CodeKernel kernel_view(const sass::KernelPair& pair, bool base_known,
                                     const Texts& texts, const Texts& base_texts) {
    const model::KernelCode& after = *pair.after;
    report::page::CodeKernel view;
    view.name = after.name;
    view.compared = pair.before != nullptr;
    const model::Listing none;
    const model::Listing& listing = view.compared ? pair.before->listing : none;
    const sass::Difference difference = sass::difference(listing, after.listing);
    const auto where = view.compared ? sass::where_time_went(*pair.before, after, difference.lines)
                                     : sass::where_time_goes(after);
    view.sentence = view.compared ? difference.sentence
                    : base_known  ? "new: the base has no such kernel"
                                  : "the base's code is not at hand";
    if (where) view.time = where->sentence;
    view.classes = sass::classes_text(difference);
    view.rows = sass::rows_text(listing, after.listing, difference, most_rows);
    for (const sass::HotLine& hot : sass::hot_lines(difference)) {
        if (view.lines.size() == most_lines) break;
        const sass::Line& line = *hot.line;
        report::page::CodeLine& shown = view.lines.emplace_back();
        const bool in_head = line.after.line > 0;
        if (in_head) shown.place = fmt::format("{}:{}", line.after.file, line.after.line);
        if (line.before.line > 0 && line.before != line.after) {
            shown.was = fmt::format("{}:{}", line.before.file, line.before.line);
        }
        const Texts& side = in_head ? texts : base_texts;
        if (const auto text = side.find(in_head ? line.after : line.before); text != side.end()) {
            shown.text = text->second;
        }
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
    const Texts texts = texts_of(kept.source), base_texts = texts_of(kept.base_source);
    for (const model::CaseCode& head : kept.head) {
        std::vector<report::page::CodeKernel> kernels;
        const model::CaseCode* const base = code_in(kept.base, head.suite, head.id);
        const bool base_known = base != nullptr && base->problem.empty();
        const Times times = times_of(verdict, head);
        for (const sass::KernelPair& pair : sass::kernel_pairs(base, head)) {
            if (pair.before != nullptr && pair.before->code == pair.after->code) continue;
            report::page::CodeKernel& view =
                kernels.emplace_back(kernel_view(pair, base_known, texts, base_texts));
            view.timed = times.after > 0;
            view.length_before = length_of(pair.before, base, times.before);
            view.length_after = length_of(pair.after, &head, times.after);
        }
        if (!kernels.empty()) views.cases.try_emplace({head.suite, head.id}, std::move(kernels));
    }
    return views;
}

}  // namespace perfgate::runner
