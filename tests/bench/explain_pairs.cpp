// SPDX-License-Identifier: Apache-2.0
// What `explain` says of recorded runs if each variant of a workload had become each other one of
// the same parameters: a row of Markdown per pair, in the direction that makes most cases slower.
// The rows' truths are not known here; harness/explain/README.md has them beside. With `--same`,
// what it says of two runs of the same code, told both ways: a row per suite, then each case of
// which it says more than that nothing moved.
//
//     explain_pairs RUN.json…
//     explain_pairs --same FIRST.json SECOND.json…
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/run.hpp"
#include "explain/explain.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "model/run.hpp"
#include "util/file.hpp"

namespace {

using namespace perfgate;

constexpr std::size_t file_limit = std::size_t{1} << 30;
/// What is nearer together is told by chance as much as by the code.
constexpr double least_change = 0.05;

/// The time that the suite gates, in ns; 0: there is none.
double time_of(const model::CaseResult& result) {
    for (const char* name : {"gpu_span", "gpu_time"}) {
        const bool gated =
            std::any_of(result.gates.begin(), result.gates.end(),
                        [&](const model::GateRule& gate) { return gate.metric == name; });
        const auto found = result.metrics.find(name);
        if (gated && found != result.metrics.end()) return found->second.value;
    }
    return 0;
}

bool is_measured(const model::CaseResult& result) {
    return result.status == model::CaseStatus::measured && time_of(result) > 0;
}

struct Told {
    std::size_t slower = 0;
    std::map<std::string, std::size_t> rules;  ///< of the slower cases
};

std::string rules_text(const Told& told) {
    std::vector<std::pair<std::string, std::size_t>> rules(told.rules.begin(), told.rules.end());
    std::stable_sort(rules.begin(), rules.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (const auto& [rule, count] : rules) {
        text += fmt::format("{}`{}` {}", text.empty() ? "" : ", ", rule, count);
    }
    return text;
}

/// Cases of `suite` that `variant` and `other` both have: pairs of before and after.
using Pairs = std::vector<std::pair<const model::CaseResult*, const model::CaseResult*>>;

Pairs pairs_of(const model::SuiteResult& suite, const std::string& variant,
               const std::string& other) {
    Pairs pairs;
    for (const model::CaseResult& before : suite.cases) {
        if (before.spec.variant != variant || !is_measured(before)) continue;
        model::CaseSpec spec = before.spec;
        spec.variant = other;
        const auto after =
            std::find_if(suite.cases.begin(), suite.cases.end(),
                         [&](const model::CaseResult& result) { return result.spec == spec; });
        if (after != suite.cases.end() && is_measured(*after)) pairs.emplace_back(&before, &*after);
    }
    return pairs;
}

model::VerdictDocument explained(const model::Run& run, const gate::BaselineSet& baselines) {
    const model::Policy policy;
    model::VerdictDocument document = gate::judge(run, baselines, policy, gate::BatchRule(policy));
    explain::explain(run, explain::Which::all, document);
    return document;
}

Told tell(const model::Run& recorded, const model::SuiteResult& suite, const Pairs& pairs) {
    Told told;
    model::Run run = recorded;
    run.suites = {suite};
    run.suites[0].cases.clear();
    run.suites[0].relations.clear();
    run.suites[0].partial = true;
    gate::BaselineSet baselines;
    gate::StoredBaseline& stored = baselines[suite.name];
    stored.baseline.suite = suite.name;
    stored.baseline.device = run.environment.device;
    for (const auto& [before, after] : pairs) {
        if (time_of(*after) < (1 + least_change) * time_of(*before)) continue;
        // What the baseline would hold had `before` been there in place of `after`.
        stored.baseline.cases[model::case_id(after->spec)].metrics = before->metrics;
        run.suites[0].cases.push_back(*after);
        ++told.slower;
    }
    if (told.slower == 0) return told;
    const model::VerdictDocument document = explained(run, baselines);
    for (const model::CaseVerdict& verdict : document.suites.at(0).cases) {
        std::set<std::string> rules;
        for (const model::Cause& cause : verdict.why) {
            if (!cause.sentence.starts_with("but ") && cause.rule != "roofline") {
                rules.insert(cause.rule);
            }
        }
        for (const std::string& rule : rules) ++told.rules[rule];
    }
    return told;
}

void print_pairs(const model::Run& run) {
    for (const model::SuiteResult& suite : run.suites) {
        std::set<std::string> variants;
        for (const model::CaseResult& result : suite.cases) variants.insert(result.spec.variant);
        for (auto first = variants.begin(); first != variants.end(); ++first) {
            for (auto second = std::next(first); second != variants.end(); ++second) {
                const Pairs pairs = pairs_of(suite, *first, *second);
                if (pairs.empty()) continue;
                const Told forth = tell(run, suite, pairs);
                const Told back = tell(run, suite, pairs_of(suite, *second, *first));
                const bool turned = back.slower > forth.slower;
                const Told& told = turned ? back : forth;
                fmt::print("| {} | `{}` → `{}` | {} of {} | {} |\n", suite.name,
                           turned ? *second : *first, turned ? *first : *second, told.slower,
                           pairs.size(), rules_text(told));
            }
        }
    }
}

std::string told_of(const model::CaseVerdict& verdict) {
    std::string text;
    for (const model::Cause& cause : verdict.why) {
        if (cause.rule != "roofline") text += fmt::format(" {}: {};", cause.rule, cause.sentence);
    }
    return text;
}

/// `after` told as if the baseline were `before`: how many cases were compared; those told as more
/// than nothing are appended to `otherwise`.
std::size_t tell_same(const model::SuiteResult& before, const model::Run& recorded,
                      const model::SuiteResult& after, std::vector<std::string>& otherwise) {
    model::Run run = recorded;
    run.suites = {after};
    run.suites[0].relations.clear();
    gate::BaselineSet baselines;
    gate::StoredBaseline& stored = baselines[after.name];
    stored.baseline.suite = after.name;
    stored.baseline.device = run.environment.device;
    for (const model::CaseResult& result : before.cases) {
        if (is_measured(result)) {
            stored.baseline.cases[model::case_id(result.spec)].metrics = result.metrics;
        }
    }
    const model::VerdictDocument document = explained(run, baselines);
    std::size_t compared = 0;
    for (const model::CaseVerdict& verdict : document.suites.at(0).cases) {
        if (verdict.why.empty()) continue;
        ++compared;
        if (verdict.why[0].rule != "nothing") otherwise.push_back(verdict.id + told_of(verdict));
    }
    return compared;
}

void print_same(const model::Run& first, const model::Run& second) {
    for (const model::SuiteResult& one : first.suites) {
        for (const model::SuiteResult& other : second.suites) {
            if (one.name != other.name) continue;
            std::vector<std::string> otherwise;
            const std::size_t compared =
                tell_same(one, second, other, otherwise) + tell_same(other, first, one, otherwise);
            fmt::print("| {} | {} | {} |\n", one.name, compared, compared - otherwise.size());
            for (const std::string& text : otherwise) fmt::print("  {}\n", text);
        }
    }
}

model::Run read(const char* path) {
    return document::parse_run(util::read_file(path, file_limit, "run"), path);
}

}  // namespace

int main(int argc, char** argv) {
    const bool same = argc > 1 && std::string_view(argv[1]) == "--same";
    if (argc < 2 || (same && (argc < 4 || argc % 2 != 0))) {
        fmt::print(stderr,
                   "usage: explain_pairs RUN.json...\n"
                   "       explain_pairs --same FIRST.json SECOND.json...\n");
        return 2;
    }
    try {
        if (same) {
            for (int i = 2; i < argc; i += 2) print_same(read(argv[i]), read(argv[i + 1]));
        } else {
            for (int i = 1; i < argc; ++i) print_pairs(read(argv[i]));
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "explain_pairs: {}\n", error.what());
        return 2;
    }
    return 0;
}
