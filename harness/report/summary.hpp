// SPDX-License-Identifier: Apache-2.0
// Texts that several formats share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/verdict.hpp"

namespace perfgate::report {

/// "79 pass, 1 regressed, 1 improved, 5 skipped"; "no cases" for none.
std::string counts_text(const model::SuiteVerdict& suite);

/// The same over all suites.
std::string counts_text(const model::VerdictDocument& document);

/// Must accompany the counts of a run with --verify-only.
inline constexpr std::string_view verify_only_text = "verified only, nothing was measured";

/// "12 relations hold, 1 broken, 2 skipped"; empty for none.
std::string relations_text(const model::SuiteVerdict& suite);

/// "broken", "holds": a relation's verdict.
std::string_view relation_word(model::Verdict verdict);

/// "suites/gemm.yaml:12"; without a line, "suites/gemm.yaml"; empty: not known.
std::string place_text(const model::SourcePlace& place);

/// The relation and the parameters of this instance: "a/b.gpu_time <= 5us [m=64]@hot".
std::string relation_name(const model::RelationVerdict& relation);

/// The gate's sentence for a metric, or a replacement if there is none.
std::string sentence_of(const model::MetricVerdict& metric);

/// A sentence longer than this is cut: GitHub cuts an annotation at 4,096 characters.
inline constexpr std::size_t longest_line = 4000;

/// Whether reports list it: it neither passed nor was skipped.
bool needs_attention(model::Verdict verdict);

/// Whether it is a failure or an error in CI.
bool is_bad(model::Outcome outcome);

/// Whether tables leave the case out and only count it: it passed or was skipped, or it is not
/// shown to be within its tolerance and the policy lets that pass.
bool is_only_counted(const model::CaseVerdict& verdict, const model::Policy& policy);

/// Why a case did not pass, one plain line each: the reason of the case if its metrics do not
/// contain it, then its failed metrics, worst first. Never empty.
std::vector<std::string> reasons(const model::CaseVerdict& verdict, const model::Policy& policy);

/// A note of suites, which reports show once.
struct RunNote {
    std::string_view text;
    std::vector<std::string_view> suites;  ///< that have it; empty: all of several, or the only one
};

/// In order of their first suites. Untrusted.
std::vector<RunNote> notes_of(const model::VerdictDocument& document);

/// "4f0c2a9 with uncommitted changes" of "4f0c2a9-dirty"; others as they are.
std::string revision_text(std::string_view revision);

/// "4f2a9c1 of 2026-11-20": the commit of the baseline of a case that did not pass; empty: not
/// known. Untrusted.
std::string baseline_text(const model::CaseVerdict& verdict);

/// What the cases that did not pass are compared with: "4f2a9c1 of 2026-11-20", of several commits
/// the first and the last; empty: not known. Of a commit that is also the run's, `revision`, it
/// says so, and whether other machine code was built from it. Untrusted.
std::string baselines_text(const model::VerdictDocument& document, std::string_view revision);

/// What explains a case, one line each: "why: spills to local memory: …"; then its position:
/// "roofline: …".
std::vector<std::string> why_lines(const model::CaseVerdict& verdict);

}  // namespace perfgate::report
