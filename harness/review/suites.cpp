// SPDX-License-Identifier: Apache-2.0
// Suites: cases, gates for each device, relations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "metrics/catalogue.hpp"
#include "model/hottest_kernel.hpp"
#include "model/measured_as.hpp"
#include "review/device_settings.hpp"
#include "review/findings.hpp"
#include "review/possible_cases.hpp"
#include "suite/plan.hpp"
#include "util/text.hpp"

namespace perfgate::review {

namespace {

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

/// Whether the gate lets more pass. Changes that are only reported as improved do not count, but a
/// metric without a direction fails both ways.
bool is_looser(const model::GateRule& before, const model::GateRule& after,
               model::Direction direction) {
    const model::Tolerance& old_one = before.tolerance;
    const model::Tolerance& new_one = after.tolerance;
    if (new_one.worse > old_one.worse || new_one.abs > old_one.abs) return true;
    if (after.cross_board > before.cross_board) return true;
    return direction == model::Direction::none &&
           new_one.better.value_or(new_one.worse) > old_one.better.value_or(old_one.worse);
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
        const auto new_rule = std::find_if(
            new_rules.begin(), new_rules.end(),
            [&](const model::GateRule& rule) { return rule.metric == old_rule.metric; });
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
        const auto direction = metric ? metric->definition.direction : model::Direction::none;
        if (!is_looser(old_rule, *new_rule, direction)) continue;
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
    const auto percent = [](double fraction) { return util::number_text(fraction * 100) + " %"; };
    if (new_settings.precision > old_settings.precision) {
        findings.add(Loosening::measured_less, place, "precision", percent(old_settings.precision),
                     percent(new_settings.precision), before.id);
    }
    if (new_settings.time_budget_s < old_settings.time_budget_s) {
        findings.add(Loosening::measured_less, place, "time_budget",
                     util::number_text(old_settings.time_budget_s) + " s",
                     util::number_text(new_settings.time_budget_s) + " s", before.id);
    }
    if (old_settings.deterministic.value && !new_settings.deterministic.value) {
        findings.add(Loosening::check_removed, place, "deterministic", "true", "false", before.id);
    }
}

void compare_tags(const SuiteCase& before, const std::vector<std::string>& old_tags,
                  const std::vector<std::string>& new_tags, const model::SourcePlace& place,
                  Findings& findings) {
    for (const std::string& tag : old_tags) {
        if (std::find(new_tags.begin(), new_tags.end(), tag) != new_tags.end()) continue;
        findings.add(Loosening::tag_removed, place, tag, "tagged", "not tagged", before.id);
    }
}

std::string joined(const std::vector<std::string>& words) {
    return words.empty() ? "none" : fmt::format("{}", fmt::join(words, " "));
}

std::string kind_of(const SuiteCase& suite_case) {
    if (suite_case.program) return "a program";
    return suite_case.source ? "a source" : "a kernel plugin";
}

std::string words(const model::SourceCheck& check) {
    if (check.kind == model::SourceCheck::Kind::none) return "none";
    return fmt::format("{}, rtol {}, atol {}", check.against, util::number_text(check.rtol),
                       util::number_text(check.atol));
}

std::string words(const std::vector<std::pair<std::string, std::string>>& definitions) {
    std::vector<std::string> all;
    all.reserve(definitions.size());
    for (const auto& [name, value] : definitions) all.push_back(fmt::format("{}={}", name, value));
    return joined(all);
}

std::string words(const model::CompileOptions& options) {
    return fmt::format("{}{}, include {}, define {}", options.standard,
                       options.fast_math ? ", fast math" : "", joined(options.include),
                       words(options.defines));
}

std::string launch_words(const model::SourceKernel& kernel) {
    return fmt::format("grid {}, block {}, shared {}", fmt::join(kernel.grid, "x"),
                       fmt::join(kernel.block, "x"), kernel.shared_bytes);
}

/// Where the changes of one case are listed.
struct CaseChanges {
    Findings& findings;
    Loosening kind;
    model::SourcePlace place;
    std::string case_id;

    void add(const std::string& what, const std::string& was, const std::string& is) const {
        findings.add(kind, place, what, was, is, case_id);
    }

    void compare(const std::string& what, const std::string& was, const std::string& is) const {
        if (was != is) add(what, was, is);
    }
};

/// What the case is measured as, by key of its suite. A metric more is no loosening.
void compare_measured_as(const model::MeasuredAs& before, const model::MeasuredAs& after,
                         const CaseChanges& changes) {
    for (const model::DifferingKey& one : model::differing_keys(before, after)) {
        if (!one.adds_metrics) changes.add(one.key, one.was, one.is);
    }
}

/// As of programs. The file's content is no part of the suite.
void compare_sources(const SuiteCase& old_case, const Suite& after, const SuiteCase& new_case,
                     Findings& findings) {
    if (!old_case.source || !new_case.source) return;
    const CaseChanges changes{
        findings, Loosening::source_changed, {after.file, new_case.at.line}, old_case.id};
    const model::SourceKernel& old_one = *old_case.source;
    const model::SourceKernel& new_one = *new_case.source;
    changes.compare("source", old_one.file, new_one.file);
    changes.compare("kernel", old_one.kernel, new_one.kernel);
    changes.compare("launch", launch_words(old_one), launch_words(new_one));
    compare_measured_as(suite::measured_as(old_one), suite::measured_as(new_one), changes);
    changes.compare("check", words(old_one.check), words(new_one.check));
    changes.compare("compiling", words(old_one.options), words(new_one.options));
}

void compare_directions(const model::BenchmarkReading& before, const model::BenchmarkReading& after,
                        const CaseChanges& changes) {
    for (const model::BenchmarkValue& was : before.values) {
        for (const model::BenchmarkValue& is : after.values) {
            if (was.definition.name != is.definition.name) continue;
            changes.compare(std::string(model::value_key) + was.definition.name + ", better",
                            std::string(to_text(was.definition.direction)),
                            std::string(to_text(is.definition.direction)));
        }
    }
}

/// Any difference may change what the gate judges, so each is listed.
void compare_programs(const Suite& before, const SuiteCase& old_case, const Suite& after,
                      const SuiteCase& new_case, Findings& findings) {
    const CaseChanges changes{
        findings, Loosening::program_changed, {after.file, new_case.at.line}, old_case.id};
    changes.compare("kind", kind_of(old_case), kind_of(new_case));
    if (!old_case.program || !new_case.program) return;
    const model::Command& old_one = before.commands[old_case.program->command];
    const model::Command& new_one = after.commands[new_case.program->command];
    changes.compare("kind", old_one.benchmark ? "a benchmark" : "a program",
                    new_one.benchmark ? "a benchmark" : "a program");
    compare_measured_as(suite::measured_as(old_one, old_case.program->piece),
                        suite::measured_as(new_one, new_case.program->piece), changes);
    changes.compare("check", joined(old_one.check), joined(new_one.check));
    if (old_one.benchmark && new_one.benchmark) {
        compare_directions(*old_one.benchmark, *new_one.benchmark, changes);
    }
    if (!new_one.benchmark && new_one.max_overhead > old_one.max_overhead) {
        const auto percent = [](double fraction) {
            return util::number_text(fraction * 100) + " %";
        };
        changes.compare("max_overhead", percent(old_one.max_overhead),
                        percent(new_one.max_overhead));
    }
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
        const bool kept =
            unread.contains(old_one.text) ||
            std::any_of(all_after.begin(), all_after.end(), [&](const model::Relation* new_one) {
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
                       const SuiteCase& new_case, DeviceSettings& old_settings,
                       DeviceSettings& new_settings, const model::SourcePlace& place,
                       Findings& findings) {
    compare_settings(old_case, old_settings.of(old_case), new_settings.of(new_case), place,
                     findings);
    const std::string skip = suite::stated_skip(new_case, device);
    if (!skip.empty() && suite::stated_skip(old_case, device).empty()) {
        findings.add(Loosening::case_skipped, place, "skip", "measured", skip, old_case.id);
    }
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
        DeviceSettings old_settings(before, device);
        DeviceSettings new_settings(after, device);
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

void compare(const Suite& before, const Suite& after, const std::set<std::string>& devices,
             Findings& findings) {
    std::map<std::string, const SuiteCase*> cases;
    for (const SuiteCase& suite_case : after.cases) cases.emplace(suite_case.id, &suite_case);
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
        compare_programs(before, old_case, after, *found->second, findings);
        compare_sources(old_case, after, *found->second, findings);
        if (has_unknown_cases(old_case) && has_unknown_cases(*found->second)) {
            compare_possible_cases(before, old_case, after, *found->second, devices, findings);
        }
    }
    for (const std::string& device : devices) {
        DeviceSettings old_settings(before, device);
        DeviceSettings new_settings(after, device);
        for (const SuiteCase& old_case : before.cases) {
            const auto found = cases.find(old_case.id);
            if (found == cases.end()) continue;
            const model::SourcePlace place{after.file, found->second->at.line};
            compare_on_device(device, old_case, *found->second, old_settings, new_settings, place,
                              findings);
        }
    }
    compare_relations(before, after, findings);
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
