// SPDX-License-Identifier: Apache-2.0
// What several formats say in the same words.
#pragma once

#include <string>
#include <string_view>

#include "model/verdict.hpp"

namespace perfgate::report {

/// The time of a case is the first of these that it has.
inline constexpr std::string_view time_metrics[] = {"gpu_time", "host_time", "gpu_span"};

/// "79 pass, 1 regressed, 1 improved, 5 skipped"; "no cases" for none.
std::string counts_text(const model::SuiteVerdict& suite);

/// The same over all suites.
std::string counts_text(const model::VerdictDocument& document);

/// "12 relations hold, 1 broken, 2 skipped"; empty for none.
std::string relations_text(const model::SuiteVerdict& suite);

/// "broken", "holds": a relation's verdict.
std::string_view relation_word(model::Verdict verdict);

/// The relation and what tells this instance of it apart: "a/b.gpu_time <= 5us [m=64]@hot".
std::string relation_name(const model::RelationVerdict& relation);

/// The gate's sentence for a metric, or what can be said without one.
std::string sentence_of(const model::MetricVerdict& metric);

}  // namespace perfgate::report
