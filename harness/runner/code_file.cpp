// SPDX-License-Identifier: Apache-2.0
#include "runner/code_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <system_error>

#include "document/kernel_code.hpp"
#include "measure/workers.hpp"
#include "model/case.hpp"
#include "model/run.hpp"
#include "runner/interruption.hpp"
#include "runner/source_lines.hpp"
#include "sass/finding.hpp"
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
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        choice.progress->say(fmt::format("machine code and samples of {}: {:.1f} s",
                                         util::counted(first.size(), "slower case"),
                                         spent.count()));
    }
    return kept;
}

void keep_code(model::KeptCode kept, const fs::path& out, model::Run& run) {
    if (kept.head.empty()) return;
    kept.source = source_lines(run.git_revision, kept.head);
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
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const model::CaseCode& each) { return each.is_of(suite, id); });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace perfgate::runner
