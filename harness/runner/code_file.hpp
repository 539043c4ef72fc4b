// SPDX-License-Identifier: Apache-2.0
// The machine code of the cases that got slower and of their bases, with samples of where their
// time goes, as a file beside the run document (code.json); the run has a sentence of it.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "measure/session.hpp"
#include "model/kernel_code.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"
#include "report/code_page.hpp"
#include "runner/choice.hpp"
#include "runner/source_lines.hpp"

namespace perfgate::runner {

inline constexpr const char* code_file = "code.json";

/// The cases that are, or may be, worse than their base and launch other machine code.
std::vector<model::CaseIndex> slower_by_code(const model::VerdictDocument& verdict);

/// The machine code of the slower cases, in further launches, and that of their bases, which `base`
/// gives for some or all of them. A case beyond the limits (16, 64 MiB) has the reason in its
/// place. What fails is said on standard error: the run is none the worse.
model::KeptCode code_of_slower(
    measure::Session& session, const std::vector<model::CaseIndex>& slower,
    const std::function<std::vector<model::CaseCode>(const std::vector<model::CaseIndex>&)>& base,
    const MeasuringChoice& choice);

/// Stores it beside the run, if there is any, with the text of its source lines, and tells the
/// run's cases what it says. Of a base that was built from a changed tree there is no text.
void keep_code(model::KeptCode kept, const std::filesystem::path& out, const RevisionOf& of_head,
               const RevisionOf& of_base, model::Run& run);

/// Reads the file beside a run document; nothing if there is none. One that cannot be read is said
/// on standard error.
model::KeptCode read_code(const std::filesystem::path& folder);

/// The code of a case; null: there is none.
const model::CaseCode* code_in(const std::vector<model::CaseCode>& all, const std::string& suite,
                               const std::string& id);

/// The machine code that a run keeps of its slower cases, as its report's page shows it; the
/// verdict has the times of the cases' kernels.
report::CodeViews code_views(const model::VerdictDocument& verdict, const model::KeptCode& kept);

}  // namespace perfgate::runner
