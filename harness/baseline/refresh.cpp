// SPDX-License-Identifier: Apache-2.0
#include "baseline/refresh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "baseline/pooling.hpp"
#include "document/baseline.hpp"
#include "gate/batch_rule.hpp"
#include "gate/machine_code.hpp"
#include "gate/renames.hpp"
#include "gate/rule.hpp"
#include "gate/series.hpp"
#include "model/case.hpp"
#include "model/date.hpp"
#include "model/quantity.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::baseline {

namespace {

using model::BaselineCase;
using model::CaseResult;
using model::CaseStatus;
using model::MetricSeries;
using model::Provenance;

/// Whether accepting again would change only the time and the revision.
bool says_the_same(const BaselineCase& before, const BaselineCase& now) {
    const Provenance& then = before.provenance;
    Provenance candidate = now.provenance;
    candidate.git_revision = then.git_revision;
    candidate.recorded_at = then.recorded_at;
    candidate.wall_s = then.wall_s;
    if (candidate.accepted_by.empty()) candidate.accepted_by = then.accepted_by;
    if (candidate.reason.empty()) candidate.reason = then.reason;
    return before.metrics == now.metrics && before.kernels == now.kernels &&
           before.host_code == now.host_code && before.libraries == now.libraries &&
           before.memory_operations == now.memory_operations && before.tags == now.tags &&
           before.measured_as == now.measured_as && then == candidate;
}

/// Then no value of the case is shown or excused by its code.
void forget_code(BaselineCase& stored) {
    for (model::Kernel& kernel : stored.kernels) kernel.code.clear();
    stored.host_code.clear();
}

/// A refresh does not accept an acknowledged regression before its day is over: such a metric keeps
/// its expected value. Returns how many do. A device time or a counter that is kept belongs to
/// older code. With the new code stored beside it, the regression would be excused as 'nothing
/// changed' for good.
std::size_t keep_acknowledged(const BaselineCase& before, const std::string& day,
                              BaselineCase& now) {
    std::size_t kept = 0;
    bool keeps_what_code_excuses = false;
    for (const auto& [metric, known] : before.acknowledged) {
        const auto expected = before.metrics.find(metric);
        const auto measured = now.metrics.find(metric);
        if (known.until < day || expected == before.metrics.end() ||
            measured == now.metrics.end() || !comparable(expected->second, measured->second)) {
            continue;
        }
        measured->second = expected->second;
        now.acknowledged.emplace(metric, known);
        keeps_what_code_excuses =
            keeps_what_code_excuses || gate::can_be_excused(metric, expected->second);
        ++kept;
    }
    if (keeps_what_code_excuses) forget_code(now);
    return kept;
}

bool is_time(const model::Run& run, const std::string& metric) {
    const auto definition = run.metric_definitions.find(metric);
    return definition != run.metric_definitions.end() &&
           definition->second.metric_class == model::MetricClass::timing;
}

/// A gated count that is not the baseline's, in words, for a case whose code is not known.
std::string count_difference(const model::Run& run, const CaseResult& result,
                             const BaselineCase& before) {
    for (const model::GateRule& rule : result.gates) {
        const auto definition = run.metric_definitions.find(rule.metric);
        const auto now = result.metrics.find(rule.metric);
        if (now == result.metrics.end() || definition == run.metric_definitions.end() ||
            definition->second.metric_class != model::MetricClass::exact) {
            continue;
        }
        const auto then = before.metrics.find(rule.metric);
        if (then == before.metrics.end()) {
            return fmt::format("its code is not known and the baseline has no {}", rule.metric);
        }
        if (!comparable(then->second, now->second)) {
            return fmt::format(
                "its code is not known and the baseline has no {} by the same method", rule.metric);
        }
        gate::Comparison comparison;
        comparison.definition = &definition->second;
        // What the baseline itself does not repeat may differ by the tolerance.
        if (gate::batch_values(then->second).size() > 1 && !gate::repeats(then->second)) {
            comparison.tolerance = rule.tolerance;
        }
        const double expected = gate::estimate_of(then->second);
        for (const double measured : gate::batch_values(now->second)) {
            if (!gate::change_between(comparison, expected, measured).counts) continue;
            const model::QuantityTexts values =
                model::quantity_texts(expected, measured, now->second.unit);
            return fmt::format("its code is not known and {} is another: {} → {}", rule.metric,
                               values.before, values.after);
        }
    }
    return {};
}

/// Why these times cannot join the baseline's as those of another board; empty: they can.
std::string board_objection(const model::Run& run, const CaseResult& result,
                            const BaselineCase& before) {
    if (std::string difference = model::difference(before.measured_as, result.measured_as);
        !difference.empty()) {
        return "the suite changed what is measured: " + difference;
    }
    const gate::CodeComparison code =
        gate::compare_code(gate::code_of(result, run.environment), gate::code_of(before));
    if (code.change == model::CodeChange::unknown) {
        if (std::string difference = count_difference(run, result, before); !difference.empty()) {
            return difference;
        }
    } else if (!code.runs_the_same && !code.copies_the_same) {
        return code.difference;
    }
    for (const model::GateRule& rule : result.gates) {
        const auto then = before.metrics.find(rule.metric);
        const auto now = result.metrics.find(rule.metric);
        if (now == result.metrics.end() || !is_time(run, rule.metric)) continue;
        if (then == before.metrics.end() || !comparable(then->second, now->second)) {
            return fmt::format("the baseline has no {} by the same method", rule.metric);
        }
        gate::Comparison comparison;
        comparison.definition = &run.metric_definitions.at(rule.metric);
        comparison.tolerance = rule.tolerance;
        // A board that the baseline has is judged by its own times, without what boards differ by.
        const std::string board = model::board_of(run, result);
        const bool known = gate::boards_of(then->second).contains(board);
        if (!known) comparison.leeway = rule.cross_board;
        const double expected =
            gate::estimate_of(known ? gate::series_of_board(then->second, board) : then->second);
        const double measured = gate::estimate_of(now->second);
        const gate::Change change = gate::change_between(comparison, expected, measured);
        if (change.counts && !change.good_way) {
            const model::QuantityTexts values =
                model::quantity_texts(expected, measured, now->second.unit);
            return fmt::format("{} {} → {} is more than {}", rule.metric, values.before,
                               values.after,
                               known ? "the tolerance on this board" : "boards differ by");
        }
    }
    return {};
}

/// The baseline's series with the other's processes in place of those of the same boards.
model::MetricSeries joined(const model::MetricSeries& before, const model::MetricSeries& added) {
    const auto boards = gate::boards_of(added);
    model::MetricSeries result = before;
    std::erase_if(result.batches,
                  [&](const model::Batch& batch) { return boards.contains(batch.device); });
    std::map<std::int64_t, std::int64_t> runs;
    const auto add = [&](model::Batch batch, std::int64_t offset) {
        const auto next = static_cast<std::int64_t>(runs.size());
        batch.run = runs.try_emplace(batch.run + offset, next).first->second;
        return batch;
    };
    constexpr std::int64_t further = std::int64_t{1} << 32;
    for (model::Batch& batch : result.batches) batch = add(batch, 0);
    for (const model::Batch& batch : added.batches) result.batches.push_back(add(batch, further));
    std::int64_t process = 0;
    for (model::Batch& batch : result.batches) batch.process = process++;
    return condensed(result);
}

/// The baseline's case with the times of the run's board.
BaselineCase with_board(const model::Run& run, const CaseResult& result,
                        const BaselineCase& before) {
    BaselineCase accepted = before;
    for (auto& [metric, series] : accepted.metrics) {
        const auto measured = result.metrics.find(metric);
        if (measured == result.metrics.end() || !is_time(run, metric) ||
            !comparable(measured->second, series)) {
            continue;
        }
        series = joined(series, condensed(measured->second));
    }
    return accepted;
}

/// The baseline must have each measured case, of the same code, if a board is added.
void require_known(const model::Run& run, const model::SuiteResult& suite,
                   const std::optional<model::Baseline>& existing) {
    std::vector<std::string> problems;
    for (const CaseResult& result : suite.cases) {
        if (result.status == CaseStatus::skipped || !objection(run, result).empty()) continue;
        const std::string id = model::case_id(result.spec);
        std::string why = "the baseline does not have it";
        if (existing) {
            const auto found = existing->cases.find(id);
            if (found != existing->cases.end()) why = board_objection(run, result, found->second);
        }
        if (!why.empty()) {
            problems.push_back(
                fmt::format("{}: {}", util::printable(id), util::printable(why, 1000)));
        }
    }
    refuse_if_any(fmt::format("suite {}: --add-board adds another board's times of the same code: "
                              "leave these cases out with --filter, or refresh without it",
                              util::printable(suite.name)),
                  problems);
}

/// The boards that the times of the accepted cases were measured on.
std::set<std::string> boards_measured(const model::Run& run, const model::SuiteResult& suite,
                                      const std::vector<std::string>& accepted) {
    std::set<std::string> boards;
    for (const CaseResult& result : suite.cases) {
        if (std::ranges::find(accepted, model::case_id(result.spec)) == accepted.end()) {
            continue;
        }
        for (const auto& [metric, series] : result.metrics) {
            if (!is_time(run, metric)) continue;
            for (const auto& [board, processes] : gate::boards_of(series)) boards.insert(board);
        }
    }
    boards.erase("");
    return boards;
}

std::optional<model::LedgerEntry> entry_of(const model::Run& run, const model::SuiteResult& suite,
                                           const Refreshed& refreshed,
                                           const Acceptance& acceptance) {
    if (refreshed.accepted.empty() && refreshed.removed.empty()) return std::nullopt;
    model::LedgerEntry entry = ledger_entry(model::LedgerAction::refresh, {}, acceptance, run);
    entry.cases = static_cast<std::int64_t>(refreshed.accepted.size());
    for (const std::string& id : refreshed.accepted) {
        entry.digests.emplace(id, document::digest_of_case(id, refreshed.baseline.cases.at(id)));
    }
    entry.removed = refreshed.removed;
    if (acceptance.add_board) {
        const std::set<std::string> boards = boards_measured(run, suite, refreshed.accepted);
        entry.added_boards.assign(boards.begin(), boards.end());
    }
    return entry;
}

BaselineCase replaced(const model::Run& run, const CaseResult& result,
                      const Acceptance& acceptance) {
    BaselineCase accepted = with_code_of(run, result, acceptance, {});
    accepted.measured_as = result.measured_as;
    for (const auto& [metric, series] : result.metrics) {
        accepted.metrics[metric] = condensed(series);
    }
    return accepted;
}

/// The processes of a gated time of which the run has fewer than the baseline, and than `enough`.
struct FewerProcesses {
    std::string metric;
    std::size_t then = 0, now = 0;
};

std::optional<FewerProcesses> fewer_processes(const model::Run& run, const CaseResult& result,
                                              const std::map<std::string, MetricSeries>& metrics,
                                              const BaselineCase& before, std::size_t enough) {
    for (const model::GateRule& rule : result.gates) {
        const auto then = before.metrics.find(rule.metric);
        const auto now = metrics.find(rule.metric);
        if (!is_time(run, rule.metric) || then == before.metrics.end() || now == metrics.end() ||
            !comparable(then->second, now->second)) {
            continue;
        }
        const FewerProcesses found{rule.metric, gate::batches_in_use(then->second).size(),
                                   gate::batches_in_use(now->second).size()};
        if (found.now < std::min(enough, found.then)) return found;
    }
    return std::nullopt;
}

/// The baseline's case, with what the suite says of it and no value depends on.
BaselineCase better_known(const BaselineCase& before, const CaseResult& result) {
    BaselineCase kept = before;
    kept.tags = result.tags;
    if (kept.measured_as.empty()) kept.measured_as = result.measured_as;
    return kept;
}

/// True if the baseline has these processes: the run was stored, or has joined it, before. Times
/// that are all the same do not tell.
bool has_all_of(const MetricSeries& then, const MetricSeries& now) {
    const std::vector<double> known = gate::batch_values(then);
    const std::vector<double> values = gate::batch_values(now);
    const std::set<double> before(known.begin(), known.end());
    const std::set<double> distinct(values.begin(), values.end());
    return (distinct.size() > 1 || values.size() == 1) &&
           std::includes(before.begin(), before.end(), distinct.begin(), distinct.end());
}

/// True if the baseline has some processes of a time, too few, and one session has more, not enough
/// to replace them.
bool has_more_of(const MetricSeries& then, const MetricSeries& now) {
    const auto used = gate::batches_in_use(now);
    const auto of_first_session = [&](const model::Batch* batch) {
        return batch->run == used.front()->run;
    };
    const std::size_t known = gate::batches_in_use(then).size();
    return known > 1 && known < enough_processes && !used.empty() &&
           used.size() < enough_processes && std::ranges::all_of(used, of_first_session);
}

/// The run's processes may join the baseline's if the baseline has too few of them and the run runs
/// the same, on the same board and with the same tools. An acknowledged metric keeps what it has.
bool may_be_pooled(const model::Run& run, const CaseResult& result, const BaselineCase& before) {
    const Provenance& then = before.provenance;
    const gate::CodeComparison code =
        gate::compare_code(gate::code_of(result, run.environment), gate::code_of(before));
    bool more = false, known_already = false;
    for (const model::GateRule& rule : result.gates) {
        const auto known = before.metrics.find(rule.metric);
        const auto measured = result.metrics.find(rule.metric);
        if (!is_time(run, rule.metric) || known == before.metrics.end() ||
            measured == result.metrics.end()) {
            continue;
        }
        more = more || has_more_of(known->second, measured->second);
        known_already = known_already || has_all_of(known->second, measured->second);
    }
    return more && !known_already && code.runs_the_same && before.acknowledged.empty() &&
           model::difference(before.measured_as, result.measured_as).empty() &&
           then.board == model::board_of(run, result) && then.driver == run.environment.driver &&
           then.cupti == run.environment.cupti && then.tool_version == run.tool_version;
}

/// The baseline's case with the run's processes behind its own. One session stays one: what it and
/// the run differ by is then part of the spread. Two would be too few to learn a drift from.
BaselineCase pooled(const BaselineCase& before, const CaseResult& result) {
    BaselineCase joined = better_known(before, result);
    for (auto& [metric, series] : joined.metrics) {
        const auto measured = result.metrics.find(metric);
        // A single process has samples of counts that are taken once.
        if (measured == result.metrics.end() || series.batches.size() < 2 ||
            !comparable(measured->second, series)) {
            continue;
        }
        std::set<std::int64_t> sessions;
        for (const model::Batch& batch : series.batches) sessions.insert(batch.run);
        const std::int64_t session = *sessions.rbegin() + (sessions.size() > 1 ? 1 : 0);
        for (const model::Batch* used : gate::batches_in_use(measured->second)) {
            if (series.batches.size() >= enough_processes) break;
            model::Batch batch = *used;
            batch.run = session;
            batch.round = 0;
            series.batches.push_back(std::move(batch));
        }
        series = condensed(series);
    }
    return joined;
}

}  // namespace

Refreshed refresh(const model::Run& run, const model::SuiteResult& suite,
                  const std::optional<model::Baseline>& existing, const Acceptance& acceptance,
                  const std::set<std::string>& passing,
                  const std::map<std::string, std::string>& renamed) {
    require_finished(run);
    if (acceptance.add_board) require_known(run, suite, existing);

    Refreshed refreshed;
    refreshed.baseline.suite = suite.name;
    // A partial refresh keeps the file's header: it still describes most cases.
    const bool partial = suite.partial || acceptance.add_board;
    const bool keep_head = existing && partial;
    refreshed.baseline.device = keep_head ? existing->device : run.environment.device;
    refreshed.baseline.device.board.clear();

    std::map<std::string, BaselineCase> old_cases;
    if (existing) old_cases = existing->cases;
    std::vector<std::string> crept;
    for (const CaseResult& result : suite.cases) {
        std::string id = model::case_id(result.spec);
        if (refreshed.baseline.cases.contains(id)) {
            throw util::InputError("suite {}: case {} is in the run twice",
                                   util::printable(suite.name), util::printable(id));
        }
        auto old_case = old_cases.extract(id);
        const bool skipped = result.status == CaseStatus::skipped;
        std::string why = skipped ? "" : objection(run, result);
        if (skipped || !why.empty()) {
            if (!why.empty()) {
                const bool failed = result.status == CaseStatus::incorrect ||
                                    result.status == CaseStatus::error ||
                                    (result.verification && !result.verification->passed);
                refreshed.refused.push_back({id, std::move(why), {}, failed});
            }
            if (!old_case) continue;
            if (skipped) refreshed.kept.push_back(id);
            refreshed.baseline.cases.emplace(std::move(id), std::move(old_case.mapped()));
            continue;
        }
        BaselineCase accepted = acceptance.add_board ? with_board(run, result, old_case.mapped())
                                                     : replaced(run, result, acceptance);
        const bool replaces = old_case && !acceptance.add_board;
        const bool fewer = replaces && fewer_processes(run, result, result.metrics,
                                                       old_case.mapped(), enough_processes);
        if (replaces && !acceptance.reset_anchors && passing.contains(id) &&
            may_be_pooled(run, result, old_case.mapped())) {
            accepted = pooled(old_case.mapped(), result);
            accepted.anchors =
                moved_anchors(run, result, old_case.mapped(), accepted.metrics, false);
            refreshed.pooled.push_back(id);
            refreshed.accepted.push_back(id);
            refreshed.baseline.cases.emplace(std::move(id), std::move(accepted));
            continue;
        }
        if (fewer && passing.contains(id)) {
            accepted = better_known(old_case.mapped(), result);
            refreshed.better_known.push_back(id);
            if (!(accepted == old_case.mapped())) refreshed.accepted.push_back(id);
            refreshed.baseline.cases.emplace(std::move(id), std::move(accepted));
            continue;
        }
        std::size_t acknowledged = 0;
        // Values of something else leave nothing to keep.
        if (old_case &&
            model::difference(old_case.mapped().measured_as, result.measured_as).empty()) {
            const BaselineCase& before = old_case.mapped();
            if (replaces) {
                acknowledged = keep_acknowledged(before, model::date_of(run.started_at), accepted);
            }
            accepted.anchors =
                moved_anchors(run, result, before, accepted.metrics, acceptance.reset_anchors);
            const auto few =
                fewer_processes(run, result, accepted.metrics, before, least_processes);
            if (few && replaces && acceptance.stored_run && !acceptance.reset_anchors) {
                refreshed.refused.push_back(
                    {id,
                     fmt::format("the run has {} of {} and the baseline {}: it would detect only "
                                 "larger changes",
                                 util::counted(few->now, "process"), few->metric, few->then),
                     run.backend == "imported"
                         ? "; compare results of more processes, or --reset-anchor stores it"
                         : "; 'perfgate baseline refresh SUITE' measures enough, --reset-anchor "
                           "stores it"});
                refreshed.baseline.cases.emplace(std::move(id), std::move(old_case.mapped()));
                continue;
            }
        }
        refreshed.acknowledged += acknowledged;
        if (fewer) ++refreshed.fewer;
        const bool unchanged = old_case && says_the_same(old_case.mapped(), accepted);
        if (old_case && !unchanged && !acceptance.reset_anchors) {
            for (std::string& line : creeping(run, result, old_case.mapped(), accepted,
                                              FirstChange::counts, acceptance.creep_bound)) {
                crept.push_back(std::move(line));
            }
        }
        (unchanged ? refreshed.unchanged : refreshed.accepted).push_back(id);
        refreshed.baseline.cases.emplace(
            std::move(id), unchanged ? std::move(old_case.mapped()) : std::move(accepted));
    }
    if (!refreshed.stored_any() && refreshed.refused.empty()) {
        throw util::InputError("suite {}: no case was measured: there is nothing to accept",
                               util::printable(suite.name));
    }
    refuse_if_any(fmt::format("suite {}: more than may be accepted without --reset-anchor: refresh "
                              "with it if that is meant, or other cases with --filter",
                              util::printable(suite.name)),
                  crept);
    // What a benchmark that did not run would have reported is not known.
    const auto is_unknown = [&suite](const std::string& id) {
        return std::ranges::any_of(suite.cases, [&](const CaseResult& result) {
            return model::stands_for(result.spec, id);
        });
    };
    for (auto& [id, old_case] : old_cases) {
        if (partial || is_unknown(id)) {
            refreshed.kept.push_back(id);
            refreshed.baseline.cases.emplace(id, std::move(old_case));
        } else {
            refreshed.removed.push_back(id);
        }
    }
    for (const auto& [id, was] : renamed) {
        if (!refreshed.baseline.cases.contains(id)) continue;
        if (std::ranges::any_of(refreshed.refused,
                                [&id = id](const Refused& each) { return each.id == id; })) {
            gate::rename({{was, id}}, refreshed.baseline.cases);  // as it was
            continue;
        }
        std::erase(refreshed.unchanged, id);
        std::erase(refreshed.kept, id);
        if (std::ranges::find(refreshed.accepted, id) == refreshed.accepted.end()) {
            refreshed.accepted.push_back(id);
        }
        refreshed.removed.push_back(was);
    }
    refreshed.entry = entry_of(run, suite, refreshed, acceptance);
    return refreshed;
}

/// The cases of each reason, and below them the reason, once.
static std::string refused_text(const std::vector<Refused>& refused) {
    // A suite may have thousands.
    constexpr std::size_t shown = 20;
    std::vector<std::pair<std::string_view, std::vector<const Refused*>>> reasons;
    std::map<std::string_view, std::size_t> known;
    for (const Refused& each : refused) {
        const auto [place, is_new] = known.try_emplace(each.why, reasons.size());
        if (is_new) reasons.push_back({each.why, {}});
        reasons[place->second].second.push_back(&each);
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(reasons.size(), shown); ++i) {
        const auto& [why, cases] = reasons[i];
        for (std::size_t c = 0; c < std::min(cases.size(), shown); ++c) {
            text += fmt::format("  {}{}\n", util::printable(cases[c]->id),
                                util::printable(cases[c]->enough, 200));
        }
        if (cases.size() > shown) text += fmt::format("  and {} more\n", cases.size() - shown);
        text += fmt::format("    {}\n", util::printable(why, 1000));
    }
    if (reasons.size() > shown) {
        text += fmt::format("  and {} other reasons\n", reasons.size() - shown);
    }
    return text;
}

void require_stored(const std::vector<Refreshed>& all, const std::string& remedy) {
    std::string text;
    for (const Refreshed& each : all) {
        if (each.stored_any()) return;
        text += fmt::format("suite {}: {} cannot become a baseline:\n{}",
                            util::printable(each.baseline.suite),
                            util::counted(each.refused.size(), "case"), refused_text(each.refused));
    }
    throw util::InputError(text + "nothing was stored: " + remedy);
}

}  // namespace perfgate::baseline
