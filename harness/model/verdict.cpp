// SPDX-License-Identifier: Apache-2.0
#include "model/verdict.hpp"

#include <algorithm>
#include <array>

namespace perfgate::model {

namespace {

/// Decided by the policy: the outcome is skipped or a failure, the exit code 0 or 4.
constexpr int by_policy = 4;

struct Row {
    Verdict verdict;
    std::string_view text;
    int exit_code;  ///< `by_policy`: if the policy fails it, else 0
    Outcome junit;
};

// The table of harness/README.md, from the best to the worst: a row's number is its severity.
constexpr std::array table = {
    Row{Verdict::pass, "pass", 0, Outcome::pass},
    Row{Verdict::improved, "improved", 0, Outcome::pass},
    Row{Verdict::skipped, "skipped", 0, Outcome::skipped},
    Row{Verdict::acknowledged, "acknowledged", 0, Outcome::skipped},
    Row{Verdict::no_baseline, "no_baseline", by_policy, Outcome::failure},
    Row{Verdict::inconclusive, "inconclusive", by_policy, Outcome::failure},
    Row{Verdict::invalid, "invalid", 3, Outcome::error},
    Row{Verdict::not_collected, "not_collected", 3, Outcome::error},
    Row{Verdict::error, "error", 3, Outcome::error},
    Row{Verdict::missing, "missing", 1, Outcome::failure},
    Row{Verdict::incorrect, "incorrect", 1, Outcome::failure},
    Row{Verdict::regressed, "regressed", 1, Outcome::failure},
};

constexpr bool in_order() {
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (static_cast<std::size_t>(table[i].verdict) != i) return false;
    }
    return true;
}
static_assert(in_order(), "the table is indexed by the verdict");

const Row& row(Verdict verdict) {
    return table.at(static_cast<std::size_t>(verdict));
}

/// True if the policy lets this verdict pass.
bool tolerated(Verdict verdict, const Policy& policy) {
    return (verdict == Verdict::no_baseline && !policy.no_baseline_fails) ||
           (verdict == Verdict::inconclusive && !policy.inconclusive_fails);
}

}  // namespace

std::string_view to_text(Verdict verdict) {
    return row(verdict).text;
}

std::string_view to_text(OnChange on_change) {
    switch (on_change) {
        case OnChange::accept:
            return "accept";
        case OnChange::warn:
            return "warn";
        case OnChange::refuse:
            return "refuse";
    }
    return "unknown";
}

std::string_view to_text(CodeChange change) {
    switch (change) {
        case CodeChange::unknown:
            return "unknown";
        case CodeChange::unchanged:
            return "unchanged";
        case CodeChange::device_unchanged:
            return "device_unchanged";
        case CodeChange::changed:
            return "changed";
    }
    return "unknown";
}

Outcome outcome_of(Verdict verdict, const Policy& policy) {
    return tolerated(verdict, policy) ? Outcome::skipped : row(verdict).junit;
}

int exit_code(Verdict verdict, const Policy& policy) {
    return tolerated(verdict, policy) ? 0 : row(verdict).exit_code;
}

int combine_exit_codes(int left, int right) {
    for (const int code : {130, 2, 1, 3, 4}) {
        if (left == code || right == code) return code;
    }
    return std::max(left, right);
}

int severity(Verdict verdict) {
    return static_cast<int>(verdict);
}

std::map<Verdict, std::int64_t> count_verdicts(const VerdictDocument& document) {
    std::map<Verdict, std::int64_t> counts;
    for (const SuiteVerdict& suite : document.suites) {
        for (const CaseVerdict& verdict : suite.cases) ++counts[verdict.verdict];
    }
    return counts;
}

}  // namespace perfgate::model
