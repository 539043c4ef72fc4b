// SPDX-License-Identifier: Apache-2.0
// Baselines and their ledgers: what is expected, what is acknowledged, who accepted it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "gate/machine_code.hpp"
#include "gate/provenance_change.hpp"
#include "gate/renames.hpp"
#include "gate/rule.hpp"
#include "model/measured_as.hpp"
#include "model/quantity.hpp"
#include "review/expectations.hpp"
#include "review/finding.hpp"
#include "review/planted.hpp"
#include "stats/quantiles.hpp"
#include "suite/plan.hpp"
#include "util/text.hpp"

namespace perfgate::review {

namespace {

using model::BaselineCase;
using model::MetricSeries;

std::string value_text(double value, const std::string& unit) {
    return model::quantity_text(value, unit);
}

bool is_worse(model::Direction direction, double before, double after) {
    switch (direction) {
        case model::Direction::lower:
            return after > before;
        case model::Direction::higher:
            return after < before;
        default:
            return after != before;
    }
}

/// The value that the gate compares with: someone may have edited the samples but not the value.
double middle(const MetricSeries& series) {
    const std::vector<double> samples = model::all_samples(series);
    return samples.empty() ? series.value : stats::median(samples);
}

/// The middle of each board's processes.
std::map<std::string, double> middles(const MetricSeries& series) {
    std::map<std::string, std::vector<double>> samples;
    for (const model::Batch& batch : series.batches) {
        std::vector<double>& of_board = samples[batch.device];
        of_board.insert(of_board.end(), batch.samples.begin(), batch.samples.end());
    }
    std::map<std::string, double> result;
    for (const auto& [board, values] : samples) {
        if (!values.empty()) result.emplace(board, stats::median(values));
    }
    return result;
}

struct Metric {
    const std::string& id;  ///< of the case
    const std::string& name;
    const model::SourcePlace& place;
    model::Direction direction = model::Direction::none;
};

/// An expected value that got worse.
struct Raise {
    std::string id, metric, unit;
    double before = 0, after = 0;
};

/// As a fraction of the earlier value.
double size_of(const Raise& raise) {
    return std::fabs(model::change_fraction(raise.before, raise.after)
                         .value_or(std::numeric_limits<double>::infinity()));
}

std::optional<Raise> raise_of(const Metric& metric, const MetricSeries& before,
                              const MetricSeries& after) {
    const auto raise = [&](double old_value, double new_value) {
        return Raise{metric.id, metric.name, after.unit, old_value, new_value};
    };
    if (is_worse(metric.direction, before.value, after.value)) {
        return raise(before.value, after.value);
    }
    if (is_worse(metric.direction, middle(before), middle(after))) {
        return raise(middle(before), middle(after));
    }
    // A run is judged against its own board's values, which those of other boards may hide here.
    const std::map<std::string, double> now = middles(after);
    std::optional<Raise> largest;
    for (const auto& [board, value] : middles(before)) {
        const auto same = now.find(board);
        if (same == now.end() || !is_worse(metric.direction, value, same->second)) continue;
        const Raise found = raise(value, same->second);
        if (!largest || size_of(found) > size_of(*largest)) largest = found;
    }
    return largest;
}

void add(const Raise& raise, const model::SourcePlace& place, Findings& findings) {
    const std::string change = model::moved_text(raise.before, raise.after, raise.unit);
    std::string words = value_text(raise.after, raise.unit);
    if (!change.empty()) words += " (" + change + ")";
    findings.add(Loosening::baseline_raised, place, raise.metric,
                 value_text(raise.before, raise.unit), words, raise.id);
}

bool is_gated(const CaseGates& gates, const std::string& metric) {
    return std::ranges::any_of(gates.rules,
                               [&](const model::GateRule& rule) { return rule.metric == metric; });
}

double anchor_of(const BaselineCase& baseline_case, const std::string& metric,
                 const MetricSeries& series) {
    const auto anchor = baseline_case.anchors.find(metric);
    return anchor == baseline_case.anchors.end() ? series.value : anchor->second;
}

void compare_acknowledgement(const Metric& metric, const BaselineCase& before,
                             const model::Acknowledgement& after, Findings& findings) {
    const auto words = [](const model::Acknowledgement& acknowledgement) {
        return fmt::format("{} until {}",
                           value_text(acknowledgement.known.value, acknowledgement.known.unit),
                           acknowledgement.until);
    };
    const auto found = before.acknowledged.find(metric.name);
    if (found == before.acknowledged.end()) {
        findings.add(Loosening::acknowledged, metric.place, metric.name, "none", words(after),
                     metric.id);
    } else if (after.until > found->second.until || after.known != found->second.known) {
        findings.add(Loosening::acknowledged, metric.place, metric.name, words(found->second),
                     words(after), metric.id);
    }
}

void compare_tags(const std::string& id, const BaselineCase& before, const BaselineCase& after,
                  const model::SourcePlace& place, Findings& findings) {
    for (const std::string& tag : before.tags.value_or(std::vector<std::string>{})) {
        const bool kept = after.tags && std::ranges::find(*after.tags, tag) != after.tags->end();
        if (!kept) findings.add(Loosening::tag_removed, place, tag, "tagged", "not tagged", id);
    }
}

/// What belongs to the values of a case and decides how the gate compares them.
struct Circumstance {
    std::string name, before, after;
};

/// Where a process was measured, in words that a reader compares.
struct ProcessFacts {
    std::string board, clock, other_work;

    bool operator<(const ProcessFacts& other) const {
        return std::tie(board, clock, other_work) <
               std::tie(other.board, other.clock, other.other_work);
    }
};

ProcessFacts facts_of(const model::Batch& batch) {
    return {batch.device,
            batch.sm_clock_mhz ? util::number_text(*batch.sm_clock_mhz) + " MHz" : "not known",
            batch.other_work ? fmt::format("waited {:g}, others busy {:g}",
                                           batch.other_work->waited, batch.other_work->busy)
                             : "not known"};
}

/// Processes by their samples: measured again, no two agree in all of them.
using Processes = std::map<std::vector<double>, std::multiset<ProcessFacts>>;

Processes processes_of(const MetricSeries& series) {
    Processes processes;
    for (const model::Batch& batch : series.batches) {
        processes[batch.samples].insert(facts_of(batch));
    }
    return processes;
}

/// Whether the times of a case are those that the earlier baseline has, and what else of their
/// processes is not.
class KeptTimes {
  public:
    void add(const MetricSeries& before, const MetricSeries& after) {
        std::size_t all = 0;
        std::size_t kept = 0;
        const Processes now = processes_of(after);
        for (const auto& [samples, old_ones] : processes_of(before)) {
            all += old_ones.size();
            const auto same = now.find(samples);
            if (same == now.end()) continue;
            kept += std::min(old_ones.size(), same->second.size());
            std::vector<ProcessFacts> was, is;
            std::set_difference(old_ones.begin(), old_ones.end(), same->second.begin(),
                                same->second.end(), std::back_inserter(was));
            std::set_difference(same->second.begin(), same->second.end(), old_ones.begin(),
                                old_ones.end(), std::back_inserter(is));
            for (std::size_t i = 0; i < std::min(was.size(), is.size()); ++i) {
                compare("board", was[i].board, is[i].board);
                compare("SM clock", was[i].clock, is[i].clock);
                compare("other work", was[i].other_work, is[i].other_work);
            }
        }
        // By chance a few agree with others; a refresh replaces all of a board.
        any_ = any_ || all > 0;
        most_ = most_ && 2 * kept >= all;
    }

    /// Another gated metric of the case was replaced.
    void note_replacement() { most_ = false; }

    /// Whether most batches of each metric stayed: `accept` replaces those that changed.
    bool keeps_most() const { return any_ && most_; }
    const std::vector<Circumstance>& changed() const { return changed_; }

  private:
    void compare(const char* name, const std::string& was, const std::string& is) {
        if (was != is) changed_.push_back({name, was, is});
    }

    bool any_ = false, most_ = true;
    std::vector<Circumstance> changed_;
};

/// How the code differs, in words; empty: it does not. What is not known on both sides is no
/// difference.
std::string code_difference(const BaselineCase& before, const BaselineCase& after) {
    gate::Code was = gate::code_of(before);
    gate::Code is = gate::code_of(after);
    const std::string unknown = "-";
    if (before.host_code.empty() && after.host_code.empty()) {
        was.host_code = is.host_code = &unknown;
    }
    const gate::CodeComparison code = gate::compare_code(is, was);
    if (code.change != model::CodeChange::unknown) return code.difference;
    const bool same = before.kernels == after.kernels && before.host_code == after.host_code &&
                      before.libraries == after.libraries && was.seed == is.seed;
    return same ? "" : "changed";
}

/// With them the gate tells a slower clock from slower code. One process counts them: they repeat
/// to a few per cent.
bool other_cycles(const BaselineCase& before, const BaselineCase& after) {
    constexpr double noise = 0.05;
    const auto was = before.metrics.find("cycles");
    const auto is = after.metrics.find("cycles");
    if (was == before.metrics.end() || is == after.metrics.end()) return false;
    const auto change = model::change_fraction(was->second.value, is->second.value);
    return !change || std::fabs(*change) > noise;
}

std::vector<Circumstance> changed_circumstances(const BaselineCase& before,
                                                const BaselineCase& after) {
    std::vector<Circumstance> changed;
    if (std::string code = code_difference(before, after); !code.empty()) {
        changed.push_back({"code", "", std::move(code)});
    }
    if (other_cycles(before, after)) changed.push_back({"number of cycles", "", "changed"});
    // The gate ignores what the baseline does not know, so that is no change.
    const auto compare = [&](const char* name, const std::string& was, const std::string& is) {
        if (!was.empty() && was != is) {
            changed.push_back({name, was, is.empty() ? "not known" : is});
        }
    };
    compare("driver", before.provenance.driver, after.provenance.driver);
    compare("CUDA toolkit", before.provenance.cuda_toolkit, after.provenance.cuda_toolkit);
    compare("CUPTI", before.provenance.cupti, after.provenance.cupti);
    compare("perfgate", before.provenance.tool_version, after.provenance.tool_version);
    if (after.measured_as.empty() && !before.measured_as.empty()) {
        changed.push_back({"measured as", "known", "not known"});
        return changed;
    }
    for (const model::DifferingKey& key :
         model::differing_keys(before.measured_as, after.measured_as)) {
        if (!key.adds_metrics) changed.push_back({key.key, key.was, key.is});
    }
    return changed;
}

/// Without the clock of each process the gate neither excuses a time by a lower one nor sees what a
/// higher one hides.
bool knows_other_clocks(const BaselineCase& before, const BaselineCase& after) {
    return std::ranges::any_of(before.metrics, [&](const auto& metric) {
        const auto found = after.metrics.find(metric.first);
        return found != after.metrics.end() && gate::mean_clock_mhz(metric.second).has_value() !=
                                                   gate::mean_clock_mhz(found->second).has_value();
    });
}

/// A baseline that was measured anew is one finding.
class Refreshed {
  public:
    void add(const Raise& raise) {
        raises_.push_back(raise);
        ids_.insert(raise.id);
    }

    void add(const std::string& id, const std::vector<Circumstance>& changed) {
        std::set<std::string> once;  // for a case
        for (const Circumstance& each : changed) once.insert(each.name);
        for (const std::string& name : once) ++changed_[name];
        if (!changed.empty()) ids_.insert(id);
    }

    void list(const std::string& suite, std::size_t cases, const model::SourcePlace& place,
              Findings& findings) const {
        if (ids_.empty()) return;
        if (raises_.size() == 1 && changed_.empty()) {
            review::add(raises_.front(), place, findings);
            return;
        }
        std::vector<std::string> parts;
        if (!raises_.empty()) parts.push_back(raised_words());
        for (const auto& [name, count] : changed_) {
            parts.push_back(fmt::format("another {} in {}", name, count));
        }
        for (const std::string& id : ids_) {
            findings.add(Loosening::baseline_refreshed, place, suite, "",
                         fmt::format("{} of {}: {}", ids_.size(), util::counted(cases, "case"),
                                     fmt::join(parts, ", ")),
                         id);
        }
    }

  private:
    std::string raised_words() const {
        std::string most;
        double largest = 0;
        for (const Raise& raise : raises_) {
            const auto change = model::change_fraction(raise.before, raise.after);
            if (!change || std::fabs(*change) <= largest) continue;
            largest = std::fabs(*change);
            most = fmt::format(" by up to {} ({})", model::change_text(*change), raise.metric);
        }
        return util::counted(raises_.size(), "value") + " worse" + most;
    }

    std::vector<Raise> raises_;
    std::map<std::string, std::size_t> changed_;  ///< by name of a circumstance: cases
    std::set<std::string> ids_;
};

/// Two states of one baseline.
class BaselineComparison {
  public:
    BaselineComparison(std::string path, const model::Baseline& before,
                       const model::Baseline& after, const std::map<std::string, CaseGates>& gates,
                       const std::map<std::string, CaseGates>& later_gates, Findings& findings)
        : place_{std::move(path), 0},
          before_(before),
          after_(after),
          gates_(gates),
          weakened_(weakened(before, after, gates, later_gates)),
          findings_(findings) {}

    void compare() {
        for (const auto& [id, old_case] : before_.cases) {
            const auto new_case = after_.cases.find(id);
            if (new_case == after_.cases.end()) {
                findings_.add(Loosening::baseline_removed, place_, before_.suite, "in the baseline",
                              "not in it", id);
            } else {
                compare_cases(id, old_case, new_case->second);
            }
        }
        const std::size_t boards = boards_of(before_, after_).size();
        if (boards > most_boards) {
            findings_.add(Loosening::not_compared, place_, "boards", "",
                          fmt::format("{}, of which {} are tried", boards, most_boards));
        }
        refreshed_.list(before_.suite, before_.cases.size(), place_, findings_);
    }

  private:
    void compare_cases(const std::string& id, const BaselineCase& before,
                       const BaselineCase& after) {
        const CaseGates& gates = gates_.at(id);
        KeptTimes kept;
        for (const auto& [name, old_series] : before.metrics) {
            const model::MetricDefinition& definition = gates.definitions.at(name);
            const Metric metric{id, name, place_, definition.direction};
            const auto found = after.metrics.find(name);
            if (found == after.metrics.end()) {
                findings_.add(Loosening::baseline_removed, place_, name,
                              value_text(old_series.value, old_series.unit), "none", id);
                continue;
            }
            const bool time = definition.metric_class == model::MetricClass::timing;
            if (time) kept.add(old_series, found->second);
            if (!time && is_gated(gates, name) && old_series.value != found->second.value) {
                kept.note_replacement();
            }
            compare_series(metric, gates, old_series, found->second);
            const double old_anchor = anchor_of(before, name, old_series);
            const double new_anchor = anchor_of(after, name, found->second);
            // Only gated metrics have one that `accept` and `refresh` keep.
            if (is_gated(gates, name) && is_worse(metric.direction, old_anchor, new_anchor)) {
                findings_.add(Loosening::anchor_raised, place_, name,
                              value_text(old_anchor, old_series.unit),
                              value_text(new_anchor, found->second.unit), id);
            }
        }
        for (const auto& [name, acknowledgement] : after.acknowledged) {
            compare_acknowledgement({id, name, place_}, before, acknowledgement, findings_);
        }
        compare_tags(id, before, after, place_, findings_);
        compare_circumstances(id, before, after, kept);
    }

    void compare_series(const Metric& metric, const CaseGates& gates, const MetricSeries& before,
                        const MetricSeries& after) {
        if (!comparable(before, after)) {
            findings_.add(Loosening::not_compared, place_, metric.name,
                          to_text(before.method) + ", " + before.unit,
                          to_text(after.method) + ", " + after.unit, metric.id);
            return;
        }
        const auto raise = raise_of(metric, before, after);
        const auto weaker = weakened_.find({metric.id, metric.name});
        // Where the value explains what passes now, it says more.
        const double share = weaker == weakened_.end() ? 1 : 0.5;
        if (raise && is_beyond_tolerance(*raise, gates, share)) {
            add(*raise, place_, findings_);
        } else if (weaker != weakened_.end()) {
            findings_.add(Loosening::baseline_weakened, place_, metric.name, weaker->second.before,
                          weaker->second.after, metric.id);
        } else if (raise && is_gated(gates, metric.name)) {
            refreshed_.add(*raise);
        }
    }

    /// Or a share of it.
    static bool is_beyond_tolerance(const Raise& raise, const CaseGates& gates, double share) {
        for (const model::GateRule& rule : gates.rules) {
            if (rule.metric != raise.metric) continue;
            gate::Comparison comparison;
            comparison.definition = &gates.definitions.at(raise.metric);
            comparison.tolerance = rule.tolerance;
            comparison.tolerance.worse *= share;
            comparison.tolerance.abs *= share;
            return gate::change_between(comparison, raise.before, raise.after).counts;
        }
        return false;
    }

    /// Times that were kept do not have other circumstances than before; times that were measured
    /// anew may.
    void compare_circumstances(const std::string& id, const BaselineCase& before,
                               const BaselineCase& after, const KeptTimes& kept) {
        std::vector<Circumstance> changed = changed_circumstances(before, after);
        if (kept.keeps_most()) {
            for (const auto& list : {changed, kept.changed()}) {
                for (const Circumstance& each : list) {
                    findings_.add(Loosening::baseline_edited, place_, each.name, each.before,
                                  each.after, id);
                }
            }
            changed.clear();
        } else if (knows_other_clocks(before, after)) {
            changed.push_back({"SM clock", "", ""});
        }
        const std::set<std::string> was = boards_of(before);
        const std::set<std::string> is = boards_of(after);
        const bool added =
            kept.keeps_most() && std::includes(is.begin(), is.end(), was.begin(), was.end());
        if (was != is) changed.push_back({added ? "board beside these" : "board", "", ""});
        refreshed_.add(id, changed);
    }

    model::SourcePlace place_;
    const model::Baseline& before_;
    const model::Baseline& after_;
    const std::map<std::string, CaseGates>& gates_;
    std::map<Place, Weakened> weakened_;
    Findings& findings_;
    Refreshed refreshed_;
};

std::set<std::string_view> lines_of(std::string_view text) {
    std::set<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.insert(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// Lines are only added, but a merge may reorder them.
void compare_ledgers(const std::string& path, std::string_view before, std::string_view after,
                     Findings& findings) {
    const std::set<std::string_view> kept = lines_of(after);
    std::size_t lost = 0;
    for (const std::string_view line : lines_of(before)) lost += kept.contains(line) ? 0 : 1;
    if (lost == 0) return;
    findings.add(Loosening::history_rewritten, {path, 0}, "ledger", "",
                 fmt::format("{} {} gone or changed", lost, lost == 1 ? "line is" : "lines are"));
}

/// By id: what the case was, of those that are new in the baseline and whose suites state it. Ids
/// of former versions of perfgate are left: `baseline refresh` renames these.
gate::Renamed renames(const Expectations& after, const model::Baseline& before,
                      const model::Baseline& now) {
    gate::Renamed renamed;
    std::set<std::string> taken;
    for (const suite::Suite& suite : after.suites) {
        if (suite.name != now.suite) continue;
        for (const auto& [id, expected] : now.cases) {
            if (before.cases.contains(id)) continue;
            const std::string was = suite::former_id(suite, id);
            const bool known =
                !was.empty() && before.cases.contains(was) && !now.cases.contains(was);
            if (known && taken.insert(was).second) renamed.emplace(id, was);
        }
    }
    return renamed;
}

}  // namespace

void compare_baselines(const Expectations& before, const Expectations& after, Findings& findings) {
    for (const auto& [path, old_baseline] : before.baselines) {
        const auto found = after.baselines.find(path);
        const model::SourcePlace place{path, 0};
        if (found == after.baselines.end()) {
            if (after.unreadable.contains(path)) continue;
            findings.add(Loosening::baseline_removed, place, old_baseline.suite,
                         util::counted(old_baseline.cases.size(), "case"), "none");
            continue;
        }
        std::map<std::string, CaseGates> gates = gates_of(before, old_baseline);
        const std::map<std::string, CaseGates> later_gates = gates_of(after, found->second);
        const gate::Renamed renamed = renames(after, old_baseline, found->second);
        model::Baseline with_new_names = old_baseline;
        gate::rename(renamed, with_new_names.cases);
        gate::rename(renamed, gates);
        BaselineComparison(path, with_new_names, found->second, gates, later_gates, findings)
            .compare();
    }
    // A new baseline may already contain acknowledgements.
    for (const auto& [path, baseline] : after.baselines) {
        const auto old_baseline = before.baselines.find(path);
        const bool is_new = old_baseline == before.baselines.end();
        const gate::Renamed renamed =
            is_new ? gate::Renamed() : renames(after, old_baseline->second, baseline);
        for (const auto& [id, new_case] : baseline.cases) {
            if (renamed.contains(id) || (!is_new && old_baseline->second.cases.contains(id))) {
                continue;
            }
            for (const auto& [name, acknowledgement] : new_case.acknowledged) {
                compare_acknowledgement({id, name, {path, 0}}, {}, acknowledgement, findings);
            }
        }
    }
    for (const auto& [path, old_text] : before.ledgers) {
        const auto found = after.ledgers.find(path);
        if (found != after.ledgers.end()) {
            compare_ledgers(path, old_text, found->second, findings);
        } else if (!after.unreadable.contains(path)) {
            findings.add(Loosening::history_rewritten, {path, 0}, "ledger", "", "removed");
        }
    }
}

}  // namespace perfgate::review
