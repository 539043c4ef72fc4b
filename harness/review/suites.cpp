// SPDX-License-Identifier: Apache-2.0
// Suites: cases, gates for each device, relations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "gate/tail.hpp"
#include "metrics/catalogue.hpp"
#include "model/case.hpp"
#include "model/hottest_kernel.hpp"
#include "review/finding.hpp"
#include "suite/plan.hpp"
#include "suite/suite.hpp"
#include "util/text.hpp"

namespace perfgate::review {

namespace {

using suite::Override;
using suite::Suite;
using suite::SuiteCase;

void add_devices(const Suite& suite, std::set<std::string>& devices) {
    for (const suite::Override& over : suite.overrides) devices.insert(over.device);
    for (const suite::Entry& entry : suite.entries) {
        for (const suite::Override& over : entry.overrides) devices.insert(over.device);
    }
}

std::string words(const model::GateRule& rule, const std::string& unit, bool with_board) {
    std::string text = model::to_text(rule.tolerance, unit);
    if (with_board) {
        text +=
            fmt::format(", {} % more on another board", util::number_text(rule.cross_board * 100));
    }
    return text;
}

/// Whether the gate lets more pass, or calls less improved: what is too good, or stays unaccepted,
/// is an improvement first.
bool is_looser(const model::GateRule& before, const model::GateRule& after) {
    const model::Tolerance& old_one = before.tolerance;
    const model::Tolerance& new_one = after.tolerance;
    if (new_one.worse > old_one.worse || new_one.abs > old_one.abs) return true;
    if (after.cross_board > before.cross_board) return true;
    if (gate::tail_tolerance(new_one) > gate::tail_tolerance(old_one)) return true;
    return new_one.better.value_or(new_one.worse) > old_one.better.value_or(old_one.worse);
}

/// From the strictest: fails; as the config says, which may be that it warns; warns.
int leniency(const std::optional<model::Severity>& severity) {
    if (!severity) return 1;
    return *severity == model::Severity::fail ? 0 : 2;
}

std::string words(const std::optional<model::Severity>& severity) {
    return severity ? std::string(to_text(*severity)) : "as the config says";
}

void compare_gates(const SuiteCase& before, const std::vector<model::GateRule>& old_rules,
                   const std::vector<model::GateRule>& new_rules, const model::SourcePlace& place,
                   Findings& findings) {
    for (const model::GateRule& old_rule : old_rules) {
        const auto metric = metrics::find_metric(old_rule.metric);
        const std::string unit = metric ? metric->definition.unit : "";
        const auto new_rule =
            std::ranges::find(new_rules, old_rule.metric, &model::GateRule::metric);
        if (new_rule == new_rules.end()) {
            findings.add(Loosening::gate_removed, place, old_rule.metric,
                         words(old_rule, unit, false), "none", before.id);
            continue;
        }
        const auto& was = old_rule.tolerance.severity;
        const auto& is = new_rule->tolerance.severity;
        if (leniency(is) > leniency(was)) {
            findings.add(Loosening::severity_lowered, place, old_rule.metric, words(was), words(is),
                         before.id);
        }
        if (!is_looser(old_rule, *new_rule)) continue;
        const bool with_board = old_rule.cross_board != new_rule->cross_board;
        findings.add(Loosening::tolerance_raised, place, old_rule.metric,
                     words(old_rule, unit, with_board), words(*new_rule, unit, with_board),
                     before.id);
    }
}

void compare_settings(const SuiteCase& before, const suite::ResolvedSettings& old_settings,
                      const suite::ResolvedSettings& new_settings, const model::SourcePlace& place,
                      Findings& findings) {
    std::vector<model::Target> targets{before.target};
    if (before.inferred) targets = {model::Target::host, model::Target::cuda};
    for (const model::Target target : targets) {
        compare_gates(before, old_settings.gates(target), new_settings.gates(target), place,
                      findings);
    }
    for (const suite::WeakerKey& one : suite::weaker_keys(old_settings, new_settings)) {
        findings.add(one.weakens == suite::Weakens::verification ? Loosening::check_removed
                                                                 : Loosening::measured_less,
                     place, one.key, one.was, one.is, before.id);
    }
}

void compare_tags(const SuiteCase& before, const std::vector<std::string>& old_tags,
                  const std::vector<std::string>& new_tags, const model::SourcePlace& place,
                  Findings& findings) {
    for (const std::string& tag : old_tags) {
        if (std::ranges::find(new_tags, tag) != new_tags.end()) continue;
        findings.add(Loosening::tag_removed, place, tag, "tagged", "not tagged", before.id);
    }
}

/// What its kind of case launches, runs, reads or checks.
void compare_subjects(const SuiteCase& old_case, const Suite& after, const SuiteCase& new_case,
                      Findings& findings) {
    const auto add = [&](const std::string& what, const std::string& was, const std::string& is) {
        findings.add(Loosening::case_changed, {after.file, new_case.at.line}, what, was, is,
                     old_case.id);
    };
    const model::Subject& before = *old_case.subject;
    const model::Subject& now = *new_case.subject;
    if (before.in_words() != now.in_words()) {
        add("kind", std::string(before.in_words()), std::string(now.in_words()));
    }
    for (const auto& one : suite::weaker_keys(before, now)) add(one.key, one.was, one.is);
}

/// Whether `after` differs from `before` in at most its number and is at least as strict. Metrics
/// are positive, so a number that keeps its sign changes the value in one direction.
bool is_as_strict(const model::Relation& before, const model::Relation& after) {
    if (before.left != after.left || before.comparator != after.comparator ||
        before.operands != after.operands || before.right.size() != after.right.size()) {
        return false;
    }
    if (before.right == after.right) {
        return model::expected_kernel(before) == model::expected_kernel(after);
    }
    double moved = 0;
    for (std::size_t i = 0; i < before.right.size(); ++i) {
        if (before.right[i] == after.right[i]) continue;
        const auto* old_number = std::get_if<double>(&before.right[i]);
        const auto* new_number = std::get_if<double>(&after.right[i]);
        if (old_number == nullptr || new_number == nullptr || *old_number * *new_number < 0) {
            return false;
        }
        const bool divides =
            i == 1 && before.right.back() == model::ExpressionStep(model::Operator::divide);
        moved = divides ? *old_number - *new_number : *new_number - *old_number;
    }
    switch (before.comparator) {
        case model::Comparator::less:
        case model::Comparator::less_equal:
            return moved < 0;
        case model::Comparator::greater:
        case model::Comparator::greater_equal:
            return moved > 0;
        default:
            return false;
    }
}

/// Also those with cases that benchmarks have to tell.
std::vector<const model::Relation*> relations_of(const Suite& suite) {
    std::vector<const model::Relation*> all;
    for (const suite::SuiteRelation& each : suite.relations) all.push_back(&each.relation);
    for (const suite::OpenRelation& each : suite.open_relations) all.push_back(&each.relation);
    return all;
}

void compare_relations(const Suite& before, const Suite& after, Findings& findings) {
    const std::vector<const model::Relation*> all_after = relations_of(after);
    std::set<std::string> unread;
    for (const suite::UnreadRelation& one : after.unread_relations) unread.insert(one.text);
    for (const suite::UnreadRelation& old_one : before.unread_relations) {
        const bool kept = unread.contains(old_one.text) ||
                          std::ranges::any_of(all_after, [&](const model::Relation* new_one) {
                              return model::to_text(*new_one) == old_one.text;
                          });
        if (kept) continue;
        findings.add(Loosening::relation_removed, {after.file, 0}, old_one.text, old_one.text,
                     "none");
    }
    for (const model::Relation* old_one : relations_of(before)) {
        const std::string text = model::to_text(*old_one);
        const model::Relation* changed = nullptr;
        bool kept = unread.contains(text);
        for (const model::Relation* new_one : all_after) {
            kept = kept || is_as_strict(*old_one, *new_one);
            if (old_one->left == new_one->left &&
                old_one->operands.front() == new_one->operands.front()) {
                changed = new_one;
            }
        }
        if (kept) continue;
        if (changed != nullptr) {
            findings.add(Loosening::relation_removed, changed->place, text, text,
                         model::to_text(*changed));
        } else {
            findings.add(Loosening::relation_removed, {after.file, 0}, text, text, "none");
        }
    }
}

/// What holds for one device.
void compare_on_device(const std::string& device, const SuiteCase& old_case,
                       const SuiteCase& new_case, suite::DeviceSettings& old_settings,
                       suite::DeviceSettings& new_settings, const model::SourcePlace& place,
                       Findings& findings) {
    compare_settings(old_case, old_settings.of(old_case), new_settings.of(new_case), place,
                     findings);
    const std::string skip = suite::stated_skip(new_case, device);
    if (!skip.empty() && suite::stated_skip(old_case, device).empty()) {
        findings.add(Loosening::case_skipped, place, "skip", "measured", skip, old_case.id);
    }
}

// The cases that a benchmark may report, which its suite does not list, as far as the suite's
// overrides tell them apart.

/// A case with the overrides of each state that match it. Its id is the pattern of an override, or
/// "A and B" for a case that matches both.
struct PossibleCase {
    std::string id;
    bool of_two = false;  ///< patterns
    SuiteCase before, after;
    std::int64_t line = 0;  ///< of the override in the later state, or of the benchmark
};

constexpr std::size_t most_patterns = 100;

/// Whether all that `pattern` matches is matched by `wider`, too; may miss it where `wider` has a
/// '?'. A '*' of the pattern can only stand where `wider` has one.
bool covers(const std::string& wider, const std::string& pattern) {
    return wider == pattern ||
           (wider.find('?') == std::string::npos && util::glob_match(wider, pattern));
}

void add_patterns(const Suite& suite, const SuiteCase& unknown, std::set<std::string>& patterns) {
    for (const Override& over : suite.overrides) {
        if (util::glob_may_match(over.match, unknown.spec.workload + '/')) {
            patterns.insert(over.match);
        }
    }
}

/// Whether some text matches both patterns.
bool globs_overlap(std::string_view a, std::string_view b) {
    // Whether the rest of `a` from the current place overlaps the rest of `b` from each place.
    std::vector<char> below(b.size() + 1);
    std::vector<char> here(b.size() + 1);
    for (std::size_t i = a.size() + 1; i-- > 0;) {
        for (std::size_t j = b.size() + 1; j-- > 0;) {
            const bool more_a = i < a.size();
            const bool more_b = j < b.size();
            const bool star_a = more_a && a[i] == '*';
            const bool star_b = more_b && b[j] == '*';
            bool overlap = !more_a && !more_b;
            if (star_a) overlap = below[j] != 0 || (more_b && here[j + 1] != 0);
            if (star_b) overlap = overlap || here[j + 1] != 0 || (more_a && below[j] != 0);
            if (more_a && more_b && !star_a && !star_b) {
                overlap = (a[i] == b[j] || a[i] == '?' || b[j] == '?') && below[j + 1] != 0;
            }
            here[j] = overlap ? 1 : 0;
        }
        std::swap(here, below);
    }
    return below[0] != 0;
}

/// The case with the suite's overrides that match whatever all of these patterns match.
SuiteCase with_overrides(const Suite& suite, const SuiteCase& unknown,
                         const std::vector<std::string>& patterns) {
    SuiteCase possible = unknown;
    possible.overrides.clear();
    for (const Override& over : suite.overrides) {
        if (std::ranges::any_of(patterns, [&](const std::string& pattern) {
                return covers(over.match, pattern);
            })) {
            possible.overrides.push_back(&over);
        }
    }
    return possible;
}

/// Cases that a benchmark in both states may report: one for each pattern, then one for each two
/// patterns that have a case in common, because the last override that states a tolerance decides.
/// Nothing if there are too many.
std::optional<std::vector<PossibleCase>> possible_cases(const Suite& before,
                                                        const SuiteCase& old_case,
                                                        const Suite& after,
                                                        const SuiteCase& new_case) {
    std::set<std::string> patterns;
    add_patterns(before, old_case, patterns);
    add_patterns(after, new_case, patterns);
    if (patterns.size() > most_patterns) return std::nullopt;
    std::vector<PossibleCase> possible;
    const auto add = [&](std::string id, const std::vector<std::string>& of) {
        PossibleCase& added = possible.emplace_back();
        added.id = std::move(id);
        added.of_two = of.size() > 1;
        added.before = with_overrides(before, old_case, of);
        added.after = with_overrides(after, new_case, of);
        added.line = new_case.at.line;
        for (const Override* over : added.after.overrides) {
            if (over->match == of.back()) added.line = over->at.line;
        }
    };
    for (const std::string& pattern : patterns) add(pattern, {pattern});
    for (auto one = patterns.begin(); one != patterns.end(); ++one) {
        for (auto other = std::next(one); other != patterns.end(); ++other) {
            if (covers(*one, *other) || covers(*other, *one) || !globs_overlap(*one, *other)) {
                continue;
            }
            add(*one + " and " + *other, {*one, *other});
        }
    }
    return possible;
}

/// A benchmark's results are not in its suite, so that overrides for them match none of its cases.
void compare_possible_cases(const Suite& before, const SuiteCase& old_case, const Suite& after,
                            const SuiteCase& new_case, const std::set<std::string>& devices,
                            Findings& findings) {
    const auto possible = possible_cases(before, old_case, after, new_case);
    if (!possible) {
        findings.add(Loosening::unreadable, {after.file, new_case.at.line}, "overrides", "",
                     "too many for one benchmark: not compared", old_case.id);
        return;
    }
    for (const std::string& device : devices) {
        suite::DeviceSettings old_settings(before, device);
        suite::DeviceSettings new_settings(after, device);
        std::set<std::tuple<Loosening, std::string, std::string, std::string>> of_one_pattern;
        for (PossibleCase each : *possible) {
            each.before.id = each.after.id = each.id;
            Findings found;
            compare_on_device(device, each.before, each.after, old_settings, new_settings,
                              {after.file, each.line}, found);
            for (const Finding& one : std::move(found).take()) {
                const auto [known, added] =
                    of_one_pattern.emplace(one.kind, one.subject, one.before, one.after);
                if (each.of_two && !added) continue;
                findings.add(one.kind, one.place, one.subject, one.before, one.after, each.id);
            }
        }
    }
}

/// A case that is new and states what it was is that one.
void add_former_names(const Suite& before, const Suite& after,
                      std::map<std::string, const SuiteCase*>& cases) {
    std::set<std::string> old_ids;
    for (const SuiteCase& old_case : before.cases) old_ids.insert(old_case.id);
    for (const SuiteCase& new_case : after.cases) {
        const std::string was = suite::former_id(new_case);
        if (!was.empty() && !old_ids.contains(new_case.id)) cases.emplace(was, &new_case);
    }
}

void compare(const Suite& before, const Suite& after, const std::set<std::string>& devices,
             Findings& findings) {
    std::map<std::string, const SuiteCase*> cases;
    for (const SuiteCase& suite_case : after.cases) cases.emplace(suite_case.id, &suite_case);
    add_former_names(before, after, cases);
    for (const SuiteCase& old_case : before.cases) {
        const auto found = cases.find(old_case.id);
        if (found == cases.end()) {
            findings.add(Loosening::case_removed, {after.file, 0}, before.name, "in the suite",
                         "not in it", old_case.id);
            continue;
        }
        compare_tags(old_case, before.entries[old_case.entry].tags,
                     after.entries[found->second->entry].tags, {after.file, found->second->at.line},
                     findings);
        compare_subjects(old_case, after, *found->second, findings);
        if (model::stands_for_cases(old_case.spec)) {
            compare_possible_cases(before, old_case, after, *found->second, devices, findings);
        }
    }
    for (const std::string& device : devices) {
        suite::DeviceSettings old_settings(before, device);
        suite::DeviceSettings new_settings(after, device);
        for (const SuiteCase& old_case : before.cases) {
            const auto found = cases.find(old_case.id);
            if (found == cases.end()) continue;
            const model::SourcePlace place{after.file, found->second->at.line};
            compare_on_device(device, old_case, *found->second, old_settings, new_settings, place,
                              findings);
        }
    }
    compare_relations(before, after, findings);
    if (before.plugins != after.plugins) {
        findings.add(Loosening::case_changed, {after.file, 0}, "plugins",
                     fmt::format("{}", fmt::join(before.plugins, ", ")),
                     fmt::format("{}", fmt::join(after.plugins, ", ")));
    }
}

std::map<std::string, std::vector<std::string>> files_by_name(const std::vector<Suite>& suites) {
    std::map<std::string, std::vector<std::string>> files;
    for (const Suite& suite : suites) files[suite.name].push_back(suite.file);
    return files;
}

/// Suites of one name cannot be measured together.
void add_repeated(const Expectations& before, const Expectations& after, Findings& findings) {
    const auto before_files = files_by_name(before.suites);
    for (const auto& [name, files] : files_by_name(after.suites)) {
        const auto old_files = before_files.find(name);
        const std::size_t old_count =
            old_files == before_files.end() ? 0 : old_files->second.size();
        if (files.size() < 2 || files.size() <= old_count) continue;
        findings.add(Loosening::suite_repeated, {files.back(), 0}, name,
                     util::counted(old_count, "suite"), fmt::format("{}", fmt::join(files, ", ")));
    }
}

}  // namespace

void compare_suites(const Expectations& before, const Expectations& after, Findings& findings) {
    // "": if no override for a device applies.
    std::set<std::string> devices{""};
    for (const Suite& suite : before.suites) add_devices(suite, devices);
    for (const Suite& suite : after.suites) add_devices(suite, devices);
    devices.insert(before.devices.begin(), before.devices.end());

    add_repeated(before, after, findings);
    for (const Suite& old_suite : before.suites) {
        bool found = false;
        // A second suite of the same name may be the one that is measured.
        for (const Suite& new_suite : after.suites) {
            if (new_suite.name != old_suite.name) continue;
            found = true;
            compare(old_suite, new_suite, devices, findings);
        }
        if (found || after.unreadable.contains(old_suite.file)) continue;
        findings.add(Loosening::suite_removed, {old_suite.file, 0}, old_suite.name,
                     util::counted(old_suite.cases.size(), "case"), "none");
    }
}

}  // namespace perfgate::review
