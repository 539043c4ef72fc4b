// SPDX-License-Identifier: Apache-2.0
#include "explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "explain/evidence.hpp"
#include "explain/rules.hpp"
#include "model/choices.hpp"
#include "model/host_time.hpp"
#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "util/text.hpp"

namespace perfgate::explain {

namespace {

using model::CaseResult;
using model::CaseVerdict;
using model::Cause;
using model::Figure;
using model::MetricVerdict;
using model::Verdict;

enum class Side { worse, better };

/// What a rule found.
struct Finding {
    const Rule* rule = nullptr;
    Side side = Side::worse;
    double moved = 0;  ///< of its first metric
    std::vector<Figure> figures;
};

/// A cause, and the direction of change that it explains.
struct SidedCause {
    Cause cause;
    Side side = Side::worse;
    bool of_time = true;  ///< as Rule::of_time
};

/// The metric whose parts are instructions.
const std::string code_instructions = "code_instructions";
/// The most kernel changes that are reported.
constexpr std::size_t most_kernel_causes = 5;

/// The values as the rules expect them: for a case that got worse.
Figure told(const Figure& figure, Side side) {
    Figure oriented = figure;
    if (side == Side::better) std::swap(oriented.before, oriented.after);
    return oriented;
}

/// Tolerates rounding: a size at its threshold counts even if it has no exact double.
bool is_beyond(const Condition& condition, double size, const Figure& figure) {
    const double before = std::fabs(figure.before);
    const double rounding = 1e-12 * std::fmax(before, std::fabs(figure.after));
    return size > 0 && size + rounding >= condition.amount &&
           size + rounding >= condition.fraction * before;
}

/// Whether the metric goes `up` (or down) by enough. `time_ratio`: the time's after over before,
/// absent if it did not move.
bool moves(const Condition& condition, const Figure& figure, bool up,
           const std::optional<double>& time_ratio) {
    const double size = up ? figure.after - figure.before : figure.before - figure.after;
    if (!is_beyond(condition, size, figure)) return false;
    const double peak = std::fmax(figure.before, figure.after);
    if (condition.peak_above > 0 && !(peak > condition.peak_above)) return false;
    if (peak > condition.peak_up_to) return false;
    if (condition.share_of_time == 0) return true;
    if (!time_ratio || !(figure.before > 0) || !(figure.after > 0)) return false;
    return std::fabs(std::log(figure.after / figure.before)) >=
           condition.share_of_time * std::fabs(std::log(*time_ratio));
}

bool holds(const Condition& condition, const Figure& figure,
           const std::optional<double>& time_ratio) {
    const bool up = condition.move == Move::rises || condition.move == Move::no_rise;
    const bool wanted = condition.move == Move::rises || condition.move == Move::falls;
    return moves(condition, figure, up, time_ratio) == wanted;
}

/// Applies the table to one case's evidence.
class Matching {
  public:
    Matching(const Evidence& evidence, const MetricVerdict* time) : evidence_(evidence) {
        if (time != nullptr) time_ratio_ = *time->measured / *time->baseline;
    }

    std::vector<Finding> findings() {
        for (const Rule& rule : rules()) {
            for (const Side side : {Side::worse, Side::better}) consider(rule, side);
        }
        return std::move(found_);
    }

  private:
    bool holds_for(const Condition& condition, Side side) const {
        const Figure* known = entry(evidence_, condition.metric);
        return known != nullptr && holds(condition, told(*known, side), time_ratio_);
    }

    Finding* already(std::string_view name, Side side) {
        const auto found = std::ranges::find_if(found_, [&](const Finding& finding) {
            return finding.rule->name == name && finding.side == side;
        });
        return found == found_.end() ? nullptr : &*found;
    }

    void consider(const Rule& rule, Side side) {
        const auto on_this_side = [&](const Condition& condition) {
            return holds_for(condition, side);
        };
        if (!std::ranges::all_of(rule.when, on_this_side)) return;
        for (const std::string_view other : rule.unless) {
            if (already(other, side) != nullptr) return;
        }
        const Figure& first = *entry(evidence_, rule.when.front().metric);
        Finding finding{&rule, side, std::fabs(first.after - first.before), {}};
        const auto cite = [&](const Condition& condition) {
            const Figure& cited = *entry(evidence_, condition.metric);
            auto& figures = finding.figures;
            if (std::ranges::find(figures, cited) == figures.end()) {
                figures.push_back(cited);
            }
        };
        for (const Condition& condition : rule.when) cite(condition);
        for (const Condition& condition : rule.also) {
            if (on_this_side(condition)) cite(condition);
        }
        Finding* same = already(rule.name, side);
        if (same == nullptr) {
            found_.push_back(std::move(finding));
        } else if (finding.moved > same->moved) {
            *same = std::move(finding);
        }
    }

    const Evidence& evidence_;
    std::optional<double> time_ratio_;
    std::vector<Finding> found_;
};

/// "96 → 128"
std::string values_text(const Figure& figure) {
    const model::QuantityTexts texts =
        model::quantity_texts(figure.before, figure.after, figure.unit);
    return fmt::format("{} → {}", texts.before, texts.after);
}

/// "registers 96 → 128 (+33.3 %)", "api_calls 4 → 7 (+75.0 %; cudaMalloc 0 → 3)"; percentages
/// change by points.
std::string figure_text(const Figure& figure) {
    std::string text = fmt::format("{} {}", figure.metric, values_text(figure));
    std::string more = model::moved_text(figure.before, figure.after, figure.unit);
    if (!figure.detail.empty()) more += (more.empty() ? "" : "; ") + figure.detail;
    return more.empty() ? text : fmt::format("{} ({})", text, more);
}

std::string figures_text(const std::vector<Figure>& figures) {
    std::string text;
    for (const Figure& figure : figures) {
        text += (text.empty() ? "" : ", ") + figure_text(figure);
    }
    return text;
}

/// "more registers (96 → 128), so that fewer warps fit": the first value where the words pause.
std::string brief_of(std::string_view words, const Figure& figure) {
    constexpr double longest_count = 10'000;
    std::string value = values_text(figure);
    // Long counts say less than their change.
    const std::string change = model::moved_text(figure.before, figure.after, figure.unit);
    if (figure.unit == "count" && !change.empty() &&
        std::fmax(std::fabs(figure.before), std::fabs(figure.after)) >= longest_count) {
        value = change;
    }
    if (words.find(figure.metric) == std::string_view::npos) {
        value = fmt::format("{} {}", figure.metric, value);
    }
    const std::size_t pause = std::min(words.find(','), words.size());
    return fmt::format("{} ({}){}", words.substr(0, pause), value, words.substr(pause));
}

Cause cause_of(Finding& finding) {
    const Rule& rule = *finding.rule;
    Cause cause;
    cause.rule = rule.name;
    const std::string_view words = finding.side == Side::worse ? rule.worse : rule.better;
    cause.sentence = fmt::format("{}: {}", words, figures_text(finding.figures));
    // The size of the blocks is a cause; what it leads to is in the sentence.
    const auto size = std::ranges::find(finding.figures, threads_per_block, &Figure::metric);
    cause.brief = brief_of(words, size == finding.figures.end() ? finding.figures.front() : *size);
    if (finding.side == Side::worse && !rule.meaning.empty()) {
        cause.sentence += fmt::format("; {}", rule.meaning);
    }
    cause.figures = std::move(finding.figures);
    return cause;
}

/// Whether a metric was considered: any measured one except times.
bool is_counter(std::string_view name) {
    return std::ranges::find(model::time_metrics, name) == std::end(model::time_metrics) &&
           name != timed_sm_clock && name != launch_gap && name != conflicts_per_instruction &&
           name != rounds_of_blocks && name != threads_per_block && name != blocks_per_grid &&
           name != capped_sm_clock && name != submission_share && name != "ceiling_share" &&
           name != model::prepare_time;
}

std::size_t counters_in(const Evidence& evidence) {
    return static_cast<std::size_t>(
        std::ranges::count_if(evidence, [](const auto& entry) { return is_counter(entry.first); }));
}

/// Gated metrics that got worse beside the one that decides, as figures.
std::vector<Figure> also_regressed(const CaseVerdict& verdict) {
    const MetricVerdict* const deciding = deciding_metric(verdict);
    std::vector<Figure> figures;
    for (const MetricVerdict& metric : verdict.metrics) {
        if (metric.verdict != Verdict::regressed || &metric == deciding) continue;
        if (!metric.baseline || !metric.measured) continue;
        figures.push_back({metric.metric, metric.unit, *metric.baseline, *metric.measured});
    }
    return figures;
}

/// Metrics that changed by a tenth or more or got worse beyond their tolerance, those that changed
/// most first, at most three. Cycles are the time again.
std::vector<Figure> moved_most(const Evidence& evidence, const CaseVerdict& verdict) {
    constexpr double least = 0.1;
    constexpr std::size_t most = 3;
    const auto size = [](const Figure& figure) {
        const double larger = std::fmax(std::fabs(figure.before), std::fabs(figure.after));
        return larger > 0 ? std::fabs(figure.after - figure.before) / larger : 0;
    };
    const std::vector<Figure> worse = also_regressed(verdict);
    std::vector<Figure> moved;
    for (const auto& [name, figure] : evidence) {
        if (!is_counter(name) || name == "cycles") continue;
        const bool regressed = std::ranges::find(worse, name, &Figure::metric) != worse.end();
        if (regressed || size(figure) >= least) moved.push_back(figure);
    }
    std::ranges::stable_sort(
        moved, [&](const Figure& left, const Figure& right) { return size(left) > size(right); });
    if (moved.size() > most) moved.resize(most);
    return moved;
}

/// Says that nothing explains a time: `brief` says why, `rest` the same behind the figures.
Cause unexplained(std::vector<Figure> figures, std::string_view brief, std::string_view rest) {
    std::string sentence = fmt::format("unexplained: {}{}", figures_text(figures), rest);
    return {"unexplained", std::move(sentence), std::move(figures),
            fmt::format("unexplained: {}", brief)};
}

Figure figure_of(const MetricVerdict& time) {
    return {time.metric, time.unit, *time.baseline, *time.measured};
}

/// `moved`: what changed although no rule names it. `on_host`: the case launches no kernel.
Cause unexplained_launch(const MetricVerdict& time, const Evidence& evidence,
                         const std::vector<Figure>& moved, bool on_host) {
    std::vector<Figure> figures{figure_of(time)};
    const std::size_t counters = counters_in(evidence);
    if (counters == 0 && on_host && time.metric == "host_time") {
        const std::string why = "host times have no counters, and a busy machine slows them";
        return unexplained(std::move(figures), why, "; " + why);
    }
    if (counters == 0) {
        return unexplained(std::move(figures), "no counter is known on both sides",
                           ", and the baseline and this run have no counter in common");
    }
    if (!moved.empty()) {
        Cause cause =
            unexplained(std::move(figures), moved.front().metric + " moved, in no known pattern",
                        "; no known cause fits, the largest changes are " + figures_text(moved));
        cause.figures.insert(cause.figures.end(), moved.begin(), moved.end());
        return cause;
    }
    if (const Figure* cycles = entry(evidence, "cycles")) figures.push_back(*cycles);
    return unexplained(std::move(figures), "no counter moved with it",
                       fmt::format(", and nothing that was counted moved with it ({}); measure "
                                   "again, or count more (metric set 'full')",
                                   util::counted(counters, "metric")));
}

/// The direction of the time; what changed without one counts as worse.
Side side_of(const MetricVerdict* time) {
    return time != nullptr && *time->measured < *time->baseline ? Side::better : Side::worse;
}

/// What happened to the kernels of a program's case; empty for a plugin's.
std::vector<SidedCause> kernel_causes(const CaseVerdict& verdict, const CaseResult& result,
                                      const MetricVerdict* time) {
    if (result.command.empty()) return {};
    std::optional<double> moved_ns;
    if (time != nullptr && time->unit == "ns") moved_ns = *time->measured - *time->baseline;
    const std::string instance =
        util::printable(result.instance.empty() ? "instance" : result.instance, 60);
    std::vector<SidedCause> causes;
    std::size_t left = 0;
    for (const model::KernelChange& change :
         kernel_changes(verdict.baseline_kernels, result.kernels, moved_ns)) {
        if (causes.size() == most_kernel_causes) {
            ++left;
            continue;
        }
        causes.push_back({explain::cause_of(change, instance),
                          change.added_time_ns() > 0 ? Side::worse : Side::better});
    }
    if (left > 0) {
        causes.back().cause.sentence += fmt::format("; and {} smaller changes of kernels", left);
    }
    return causes;
}

/// What a compiler or an autotuner chose otherwise than for the baseline.
std::optional<SidedCause> choice_cause(const CaseVerdict& verdict, const CaseResult& result,
                                       const MetricVerdict* time) {
    const std::string name(model::prepare_time);
    const std::string* before = entry(verdict.baseline_details, name);
    const model::MetricSeries* now = entry(result.metrics, name);
    if (now == nullptr) return std::nullopt;
    std::string chosen;
    if (before != nullptr) chosen = model::difference_of_choices(*before, now->detail);
    const std::string varying = model::varying_choices(*now);
    if (chosen.empty() && varying.empty()) return std::nullopt;
    std::string sentence = "autotune chose " + (chosen.empty() ? varying : chosen);
    if (!chosen.empty() && !varying.empty()) {
        sentence += "; not in all processes: " + varying;
    }
    return SidedCause{{"autotune", sentence, {}, sentence}, side_of(time)};
}

/// What the host did while the GPU waited for it, and before.
std::optional<SidedCause> host_cause(const CaseVerdict& verdict, const CaseResult& result) {
    for (const model::MetricVerdict& metric : verdict.metrics) {
        if (metric.verdict != Verdict::regressed || !model::contains_host_time(metric.metric)) {
            continue;
        }
        const model::MetricSeries* now = entry(result.metrics, metric.metric);
        const std::string_view host = now == nullptr ? "" : model::host_in(now->detail);
        if (host.empty()) continue;
        std::string sentence = fmt::format("while the GPU was idle, the host was {}", host);
        const std::string* before = entry(verdict.baseline_details, metric.metric);
        const std::string_view then = before == nullptr ? "" : model::host_in(*before);
        if (!then.empty()) sentence += fmt::format(" (before: {})", then);
        return SidedCause{{"host", std::move(sentence), {}}, Side::worse};
    }
    return std::nullopt;
}

/// Whether the code was compared, when it was measured, with what is the baseline now.
bool is_of_baseline(const CaseVerdict& verdict, const CaseResult& result) {
    if (!result.code) return false;
    if (result.code->base.empty()) return true;
    // A difference that was found is not one from a baseline with the same code.
    if (verdict.code == model::CodeChange::unchanged ||
        verdict.code == model::CodeChange::device_unchanged) {
        return false;
    }
    const std::vector<model::Kernel>& kernels = verdict.baseline_kernels;
    return std::ranges::any_of(
        kernels, [&](const model::Kernel& kernel) { return kernel.code == result.code->base; });
}

/// How the machine code differs from the baseline's, and where the time went; or else, with
/// `code_instructions`, which instructions it has more or less often.
std::vector<SidedCause> code_causes(const CaseVerdict& verdict, const CaseResult& result,
                                    const MetricVerdict* time) {
    std::vector<SidedCause> causes;
    const auto add = [&](const char* rule, const std::string& sentence) {
        causes.push_back({{rule, sentence, {}, sentence}, side_of(time)});
    };
    const bool compared = is_of_baseline(verdict, result);
    std::string change = compared ? result.code->change : std::string();
    const std::string* before = entry(verdict.baseline_details, code_instructions);
    const model::MetricSeries* now = entry(result.metrics, code_instructions);
    if ((!compared || result.code->base.empty()) && before != nullptr && now != nullptr) {
        const std::string counted = difference_of_details(*before, now->detail);
        if (!counted.empty()) change = counted;
    }
    if (!change.empty()) add("machine_code", "machine code: " + change);
    if (compared && !result.code->time.empty()) add("samples", "samples: " + result.code->time);
    if (compared && !causes.empty()) causes.back().cause.place = result.code->place;
    return causes;
}

/// If no single kernel explains the change of the time.
std::string of_all_kernels(const MetricVerdict& time, const std::vector<model::Kernel>& before,
                           const std::vector<model::Kernel>& after) {
    if (before.empty() || after.empty()) {
        return "the baseline or this run lists no kernels (more than 1000, or an older version): "
               "refresh the baseline if it is older";
    }
    const auto total_ns = [](const std::vector<model::Kernel>& kernels) {
        double total = 0;
        for (const model::Kernel& kernel : kernels) total += kernel.time_ns;
        return total;
    };
    const double was = total_ns(before), is = total_ns(after);
    if (time.unit == "ns" && (is - was) / (*time.measured - *time.baseline) >= 0.5) {
        return fmt::format(
            "all kernels together took {}, no single one a tenth of the change: look at the clocks "
            "and at what else uses the GPU",
            values_text({"", "ns", was, is}));
    }
    return "no kernel accounts for it: look at copies and at what else uses the GPU";
}

/// Whether one of the causes has the parts of the metric that differ.
bool has_parts_of(const std::vector<Cause>& causes, const std::string& metric) {
    return std::ranges::any_of(causes, [&](const Cause& cause) {
        return std::ranges::any_of(cause.figures, [&](const Figure& figure) {
            return figure.metric == metric && !figure.detail.empty();
        });
    });
}

/// The parts of values that rose and did not pass, where the run lists them and `reported` lacks
/// them.
std::vector<Cause> parts(const CaseVerdict& verdict, const CaseResult& result,
                         const std::vector<Cause>& reported) {
    constexpr std::string_view with_parts[] = {
        "idle_share",         "longest_idle",      "syncs",
        "uncapturable_calls", "own_span",          "communication_calls",
        "communicated_bytes", "communication_skew"};
    std::vector<Cause> causes;
    for (const MetricVerdict& metric : verdict.metrics) {
        const model::MetricSeries* series = entry(result.metrics, metric.metric);
        const bool rose = metric.baseline && metric.measured && *metric.measured > *metric.baseline;
        if (!rose || metric.verdict == Verdict::pass || series == nullptr ||
            series->detail.empty() || has_parts_of(reported, metric.metric) ||
            std::ranges::find(with_parts, metric.metric) == std::end(with_parts)) {
            continue;
        }
        const std::string detail = util::printable(series->detail, 300);
        causes.push_back({"parts", fmt::format("{}: {}", metric.metric, detail), {}, detail});
    }
    return causes;
}

/// "also regressed: allocs 1 → 3 (+200.0 %)": gated metrics that no cause has. What a benchmark
/// counts has no rules, and may be why its time changed.
std::optional<Cause> unnamed_regressions(const CaseVerdict& verdict,
                                         const std::vector<Cause>& reported) {
    Cause cause{"also_regressed", {}, {}, {}};
    for (const Figure& figure : also_regressed(verdict)) {
        const bool is_named = std::ranges::any_of(reported, [&](const Cause& each) {
            return std::ranges::find(each.figures, figure.metric, &Figure::metric) !=
                   each.figures.end();
        });
        if (is_named) continue;
        cause.sentence += (cause.sentence.empty() ? "" : ", ") + figure_text(figure);
        cause.brief += fmt::format("{}{} {}", cause.brief.empty() ? "" : ", ", figure.metric,
                                   values_text(figure));
        cause.figures.push_back(figure);
    }
    if (cause.figures.empty()) return std::nullopt;
    cause.sentence.insert(0, "also regressed: ");
    cause.brief.insert(0, "also regressed: ");
    return cause;
}

std::optional<Cause> roofline(const CaseVerdict& verdict, const CaseResult& result,
                              const model::Ceilings& ceilings, const Evidence& evidence) {
    constexpr double seconds_per_ns = 1e-9;
    if (!result.work || !verdict.ceiling) return std::nullopt;
    // As for the share of this run: the time, or the span if there is none.
    const Figure* time = entry(evidence, "gpu_time");
    if (time == nullptr) time = entry(evidence, "gpu_span");
    if (time == nullptr || time->unit != "ns") return std::nullopt;
    const auto place = [&](double time_ns) {
        return model::ceiling_share(*result.work, time_ns * seconds_per_ns, ceilings);
    };
    const auto before = place(time->before);
    const auto after = place(time->after);
    if (!before || !after) return std::nullopt;

    std::string stated = model::quantity_text(result.work->bytes, "bytes");
    if (result.work->flops > 0) {
        stated = model::quantity_text(result.work->flops, "flop") + " and " + stated;
    }
    std::string measured;
    if (const Figure* dram = entry(evidence, "dram_bytes")) {
        measured = ", measured " + figure_text(*dram);
    }
    return Cause{"roofline",
                 fmt::format("roofline: {} → {}; work {}{}", in_words(*before), in_words(*after),
                             stated, measured),
                 {{"ceiling_share", "ratio", before->share, after->share}}};
}

bool moved(const CaseVerdict& verdict) {
    return verdict.verdict == Verdict::regressed || verdict.verdict == Verdict::improved ||
           verdict.verdict == Verdict::warned ||
           (verdict.verdict == Verdict::inconclusive && verdict.doubt != model::Doubt::not_shown);
}

}  // namespace

std::vector<Cause> explain_case(const CaseVerdict& verdict, const CaseResult& result,
                                const model::Ceilings& ceilings) {
    const Evidence evidence = gather(verdict, result);
    if (evidence.empty()) return {};
    const MetricVerdict* time = moved_time(verdict);
    std::vector<SidedCause> found = kernel_causes(verdict, result, time);
    if (auto chosen = choice_cause(verdict, result, time)) found.push_back(*std::move(chosen));
    if (auto host = host_cause(verdict, result)) found.push_back(*std::move(host));
    for (Finding& finding : Matching(evidence, time).findings()) {
        // gpu_time leaves the gaps out.
        const bool of_time =
            finding.rule->of_time &&
            !(finding.rule->name == launch_gap && time != nullptr && time->metric == "gpu_time");
        found.push_back({cause_of(finding), finding.side, of_time});
    }

    for (SidedCause& each : code_causes(verdict, result, time)) found.push_back(std::move(each));

    std::vector<Cause> causes;
    const auto add = [&](SidedCause& each, bool opposed) {
        if (opposed) each.cause.sentence.insert(0, "but ");
        causes.push_back(std::move(each.cause));
    };
    if (time == nullptr) {
        const bool passed = verdict.verdict == Verdict::pass;
        if (passed || (found.empty() && !moved(verdict))) {
            causes.push_back(
                {"nothing",
                 fmt::format("nothing moved{} ({})", found.empty() ? "" : " beyond a tolerance",
                             util::counted(counters_in(evidence), "metric"))});
        }
        for (SidedCause& each : found) add(each, passed);
    } else {
        const Side side = side_of(time);
        const auto besides = std::stable_partition(
            found.begin(), found.end(), [](const SidedCause& each) { return each.of_time; });
        const auto opposed = std::stable_partition(
            found.begin(), besides, [side](const SidedCause& each) { return each.side == side; });
        if (opposed == found.begin()) {
            const auto moved =
                besides == found.begin() ? moved_most(evidence, verdict) : std::vector<Figure>{};
            causes.push_back(
                result.command.empty()
                    ? unexplained_launch(*time, evidence, moved, result.kernels.empty())
                    : unexplained({figure_of(*time)}, "no kernel accounts for it",
                                  ", and " + of_all_kernels(*time, verdict.baseline_kernels,
                                                            result.kernels)));
        }
        for (SidedCause& each : found) add(each, each.side != side);
    }
    if (auto others = unnamed_regressions(verdict, causes)) causes.push_back(*std::move(others));
    for (Cause& each : parts(verdict, result, causes)) causes.push_back(std::move(each));
    if (auto place = roofline(verdict, result, ceilings, evidence)) {
        causes.push_back(*std::move(place));
    }
    return causes;
}

void explain(const model::Run& run, Which which, model::VerdictDocument& document) {
    for (std::size_t i = 0; i < document.suites.size() && i < run.suites.size(); ++i) {
        std::vector<CaseVerdict>& verdicts = document.suites[i].cases;
        const std::vector<CaseResult>& results = run.suites[i].cases;
        for (std::size_t j = 0; j < verdicts.size() && j < results.size(); ++j) {
            if (which == Which::moved && !moved(verdicts[j])) continue;
            verdicts[j].why = explain_case(verdicts[j], results[j], run.environment.ceilings);
        }
    }
    group_cases(run, document);
    write_headlines(document);
}

}  // namespace perfgate::explain
