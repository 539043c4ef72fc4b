// SPDX-License-Identifier: Apache-2.0
#include "gate/relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "gate/batch_rule.hpp"
#include "gate/invalid.hpp"
#include "model/case.hpp"
#include "model/hottest_kernel.hpp"
#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "model/unit.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

using model::CaseResult;
using model::CaseStatus;
using model::Operator;
using model::Relation;
using model::RelationVerdict;
using model::Verdict;

/// Why a relation was not judged.
struct Unjudged {
    Verdict verdict;
    std::string reason;
};

/// Why the case has no values; nothing if it may have.
std::optional<Unjudged> unmeasured(const CaseResult& result, const std::string& id) {
    if (result.status == CaseStatus::skipped) {
        return Unjudged{Verdict::skipped, fmt::format("{} was skipped: {}", util::printable(id),
                                                      util::printable(result.reason))};
    }
    std::string_view what;
    if (result.status == CaseStatus::error) {
        what = "had an error";
    } else if (result.status == CaseStatus::invalid) {
        what = "is invalid";
    } else if (result.status == CaseStatus::incorrect ||
               (result.verification && !result.verification->passed)) {
        what = "is incorrect";
    } else {
        return std::nullopt;
    }
    return Unjudged{Verdict::error,
                    fmt::format("{} was not measured: it {}{}{}", util::printable(id), what,
                                result.reason.empty() ? "" : ": ", util::printable(result.reason))};
}

const model::MetricSeries* find_series(const CaseResult& result, const std::string& metric) {
    const auto found = result.metrics.find(metric);
    return found == result.metrics.end() ? nullptr : &found->second;
}

std::optional<Unjudged> unmeasured(const CaseResult& result, const std::string& id,
                                   const std::string& metric) {
    const auto& inapplicable = result.not_applicable;
    if (std::find(inapplicable.begin(), inapplicable.end(), metric) != inapplicable.end()) {
        return Unjudged{Verdict::skipped,
                        fmt::format("{} has no {} on this device", util::printable(id),
                                    util::printable(metric))};
    }
    const model::MetricSeries* series = find_series(result, metric);
    if (const std::string why = distortion(result.metrics, result.max_overhead, metric);
        !why.empty()) {
        return Unjudged{Verdict::error,
                        fmt::format("{} of {} is invalid: {}", util::printable(metric),
                                    util::printable(id), why)};
    }
    if (series != nullptr && std::isfinite(estimate_of(*series))) return std::nullopt;
    std::string why = "the run has no value of it; measure again";
    for (const model::NotCollected& missing : result.not_collected) {
        if (missing.metric == metric && !missing.reason.empty()) {
            why = util::printable(missing.reason);
        }
    }
    return Unjudged{Verdict::error, fmt::format("{} of {} was not collected: {}",
                                                util::printable(metric), util::printable(id), why)};
}

/// The case, which states its work, below the ceilings.
std::optional<model::CeilingShare> place(const CaseResult& result,
                                         const model::Ceilings& ceilings) {
    return model::ceiling_share(*result.work, device_seconds(result), ceilings);
}

/// Why it is not known which ceiling bounds the case; nothing if it is.
std::optional<Unjudged> unplaced(const CaseResult& result, const std::string& id,
                                 const model::Ceilings& ceilings) {
    std::string why;
    if (!result.work) {
        why = fmt::format("the workload states no work: {}", model::where_to_state_work);
    } else if (model::device_time(result) == nullptr) {
        why = "the run has neither gpu_time nor gpu_span of it; measure again";
    } else if (why = model::missing_ceiling(*result.work, ceilings); why.empty()) {
        if (place(result, ceilings)) return std::nullopt;
        why = "its time or its stated work is 0";
    }
    return Unjudged{Verdict::error,
                    fmt::format("bound of {} is not known: {}", util::printable(id), why)};
}

/// Why it is not known which kernel is the hottest; nothing if it is.
std::optional<Unjudged> without_kernels(const CaseResult& result, const std::string& id) {
    if (model::hottest_kernel(result.kernels)) return std::nullopt;
    return Unjudged{Verdict::error,
                    fmt::format("hottest_kernel of {} is not known: the case lists no kernels; it "
                                "has none, or too many different ones",
                                util::printable(id))};
}

using Instance = std::vector<const CaseResult*>;
using Definitions = std::map<std::string, model::MetricDefinition>;

/// A metric's value in an expression, in the series' unit.
double operand_value(const std::string& metric, const model::MetricSeries& series,
                     const Definitions& definitions) {
    const auto definition = definitions.find(metric);
    const bool exact = definition != definitions.end() &&
                       definition->second.metric_class == model::MetricClass::exact;
    return exact ? untrimmed_estimate_of(series) : estimate_of(series);
}

/// In seconds, bytes and operations. The steps are complete and every metric is there.
double evaluate(const model::PostfixExpression& expression, const Instance& instance,
                const Definitions& definitions) {
    const auto value = [&](const model::ExpressionStep& step) {
        if (const auto* number = std::get_if<double>(&step)) return *number;
        const auto& metric = std::get<model::OperandMetric>(step);
        const model::MetricSeries& series = *find_series(*instance[metric.operand], metric.metric);
        return operand_value(metric.metric, series, definitions) *
               model::meaning_of(series.unit).scale;
    };
    if (expression.size() == 1) return value(expression[0]);
    return apply(std::get<Operator>(expression[2]), value(expression[0]), value(expression[1]));
}

/// The parameters that identify this instance: the leading id after workload and variant.
std::string_view parameters_of(std::string_view id) {
    const std::size_t bracket = id.find_first_of("[@");
    return bracket == std::string_view::npos ? std::string_view() : id.substr(bracket);
}

bool is_lone_metric(const model::PostfixExpression& expression) {
    return expression.size() == 1 && std::holds_alternative<model::OperandMetric>(expression[0]);
}

/// " (transpose/naive.gpu_time is 160.4 µs)": the values in an expression, or what a lone one
/// consists of.
std::string ingredients(const Relation& relation, const model::PostfixExpression& expression,
                        const Instance& instance, const Definitions& definitions) {
    std::string text;
    if (is_lone_metric(expression)) {
        const auto& metric = std::get<model::OperandMetric>(expression.front());
        const std::string& detail = find_series(*instance[metric.operand], metric.metric)->detail;
        return detail.empty() ? text : fmt::format(" ({})", util::printable(detail, 300));
    }
    for (const model::ExpressionStep& step : expression) {
        const auto* metric = std::get_if<model::OperandMetric>(&step);
        if (metric == nullptr) continue;
        const model::MetricSeries& series =
            *find_series(*instance[metric->operand], metric->metric);
        const std::string part = fmt::format(
            "{}.{} is {}", util::printable(relation.operands[metric->operand]),
            util::printable(metric->metric),
            model::quantity_text(operand_value(metric->metric, series, definitions), series.unit));
        if (text.find(part) != std::string::npos) continue;
        text += (text.empty() ? " (" : ", ") + part;
    }
    return text.empty() ? text : text + ")";
}

class SuiteJudging {
  public:
    SuiteJudging(const model::Run& run, const model::SuiteResult& suite)
        : suite_(suite),
          ceilings_(run.environment.ceilings),
          definitions_(run.metric_definitions),
          cases_(by_id(suite)) {}

    std::vector<RelationVerdict> verdicts() const {
        std::vector<RelationVerdict> verdicts;
        for (const Relation& relation : suite_.relations) {
            for (const std::vector<std::string>& ids : relation.instances) {
                const bool any = std::any_of(ids.begin(), ids.end(), [&](const std::string& id) {
                    return cases_.contains(id);
                });
                if (any || !suite_.partial) verdicts.push_back(judge(relation, ids));
            }
        }
        return verdicts;
    }

  private:
    RelationVerdict judge(const Relation& relation, const std::vector<std::string>& ids) const {
        RelationVerdict verdict;
        verdict.relation = to_text(relation);
        verdict.leading = ids.front();
        verdict.place = relation.place;
        verdict.unit = relation.unit;
        if (const std::optional<Unjudged> unjudged = obstacle(relation, ids)) {
            verdict.verdict = unjudged->verdict;
            verdict.sentence = fmt::format(
                "{}: {}", unjudged->verdict == Verdict::skipped ? "not judged" : "cannot be judged",
                unjudged->reason);
            return verdict;
        }
        Instance instance;
        for (const std::string& id : ids) instance.push_back(cases_.at(id));
        if (const auto bound = model::expected_bound(relation)) {
            compare_bound(relation, *bound, *instance.front(), verdict);
        } else if (const auto pattern = model::expected_kernel(relation)) {
            compare_kernel(relation, *pattern, *instance.front(), verdict);
        } else {
            compare(relation, instance, verdict);
        }
        return verdict;
    }

    /// Skipped cases take precedence: what a device cannot run is not an error of the other cases.
    std::optional<Unjudged> obstacle(const Relation& relation,
                                     const std::vector<std::string>& ids) const {
        std::optional<Unjudged> worst;
        const auto note = [&](std::optional<Unjudged> found) {
            if (!found) return;
            if (!worst ||
                (worst->verdict == Verdict::error && found->verdict == Verdict::skipped)) {
                worst = std::move(found);
            }
        };
        for (const std::string& id : ids) {
            const auto found = cases_.find(id);
            if (found != cases_.end()) {
                note(unmeasured(*found->second, id));
            } else if (suite_.partial) {
                note(Unjudged{Verdict::skipped, fmt::format("{} was not selected (--filter, --tag)",
                                                            util::printable(id))});
            } else {
                note(Unjudged{Verdict::error,
                              fmt::format("{} is not in the run", util::printable(id))});
            }
        }
        if (worst) return worst;
        if (model::expected_bound(relation)) {
            return unplaced(*cases_.at(ids.front()), ids.front(), ceilings_);
        }
        if (model::expected_kernel(relation)) {
            return without_kernels(*cases_.at(ids.front()), ids.front());
        }
        for (const auto* side : {&relation.left, &relation.right}) {
            for (const model::ExpressionStep& step : *side) {
                const auto* metric = std::get_if<model::OperandMetric>(&step);
                if (metric == nullptr) continue;
                const std::string& id = ids[metric->operand];
                note(unmeasured(*cases_.at(id), id, metric->metric));
            }
        }
        return worst;
    }

    /// "softmax/online.bound is compute (80 % of bf16 matrix rate, compute-bound) and should be
    /// memory, for [n=4096]".
    void compare_bound(const Relation& relation, model::Bound expected, const CaseResult& result,
                       RelationVerdict& verdict) const {
        const model::CeilingShare share = *place(result, ceilings_);
        compare_property(relation, share.bound == expected,
                         fmt::format("{} ({})", model::bound_word(share.bound), in_words(share)),
                         model::bound_word(expected), verdict);
    }

    /// "train/step.hottest_kernel is gemm (61.2 % of the kernels' time) and should be *flash*, for
    /// [batch=8]".
    static void compare_kernel(const Relation& relation, const std::string& pattern,
                               const CaseResult& result, RelationVerdict& verdict) {
        const model::HottestKernel hottest = *model::hottest_kernel(result.kernels);
        compare_property(relation, util::glob_match(pattern, hottest.name),
                         fmt::format("{} ({:.1f} % of the kernels' time)",
                                     util::printable(hottest.name, 200), 100 * hottest.share),
                         util::printable(pattern, 200), verdict);
    }

    static void compare_property(const Relation& relation, bool equal, std::string_view found,
                                 std::string_view expected, RelationVerdict& verdict) {
        const bool good = equal == (relation.comparator == model::Comparator::equal);
        verdict.verdict = good ? Verdict::pass : Verdict::regressed;
        const std::string_view where = parameters_of(verdict.leading);
        verdict.sentence =
            fmt::format("{} is {}{} {}{}{}", util::printable(relation.left_text), found,
                        good ? ", expected" : " and should be",
                        relation.comparator == model::Comparator::equal ? "" : "anything but ",
                        expected, where.empty() ? "" : ", for " + util::printable(where));
    }

    void compare(const Relation& relation, const Instance& instance,
                 RelationVerdict& verdict) const {
        const double left = evaluate(relation.left, instance, definitions_);
        const double right = evaluate(relation.right, instance, definitions_);
        if (!std::isfinite(left) || !std::isfinite(right)) {
            const bool left_is_bad = !std::isfinite(left);
            verdict.verdict = Verdict::error;
            verdict.sentence = fmt::format(
                "cannot be judged: {} has no value{}: a division by 0, or a number too large",
                util::printable(left_is_bad ? relation.left_text : relation.right_text),
                ingredients(relation, left_is_bad ? relation.left : relation.right, instance,
                            definitions_));
            return;
        }
        const double scale = model::meaning_of(relation.unit).scale;
        verdict.left = left / scale;
        verdict.right = right / scale;
        const bool good = holds(left, relation.comparator, right);
        verdict.verdict = good ? Verdict::pass : Verdict::regressed;
        verdict.sentence = sentence(relation, instance, verdict, good);
    }

    /// "transpose/swizzled.gpu_time is 45.20 µs and should be at most 40.10 µs (+12.7 %): 0.25 *
    /// transpose/naive.gpu_time (transpose/naive.gpu_time is 160.4 µs), for [m=8192,n=4096]".
    std::string sentence(const Relation& relation, const Instance& instance,
                         const RelationVerdict& verdict, bool good) const {
        const model::QuantityTexts values =
            model::quantity_texts(*verdict.right, *verdict.left, verdict.unit);
        const std::optional<double> change = model::change_fraction(*verdict.right, *verdict.left);
        const bool is_constant = relation.right.size() == 1 && !is_lone_metric(relation.right);
        const std::string where(parameters_of(verdict.leading));
        const std::string reason =
            good || relation.reason.empty() ? "" : "; " + util::printable(relation.reason);
        return fmt::format(
            "{} is {}{}{} {} {}{}{}{}{}{}", util::printable(relation.left_text), values.after,
            ingredients(relation, relation.left, instance, definitions_),
            good ? ", expected" : " and should be", in_words(relation.comparator), values.before,
            change ? fmt::format(" ({})", model::change_text(*change)) : "",
            is_constant ? "" : ": " + util::printable(relation.right_text),
            ingredients(relation, relation.right, instance, definitions_),
            where.empty() ? "" : ", for " + util::printable(where), reason);
    }

    const model::SuiteResult& suite_;
    const model::Ceilings& ceilings_;
    const Definitions& definitions_;
    CasesById cases_;
};

}  // namespace

std::vector<RelationVerdict> judge_relations(const model::Run& run,
                                             const model::SuiteResult& suite) {
    if (run.verify_only || suite.relations.empty()) return {};
    return SuiteJudging(run, suite).verdicts();
}

CasesById by_id(const model::SuiteResult& suite) {
    CasesById cases;
    for (const CaseResult& result : suite.cases) cases[model::case_id(result.spec)] = &result;
    return cases;
}

model::SuiteResult alone(const CasesById& cases, const Relation& relation,
                         const std::vector<std::string>& instance) {
    model::SuiteResult only;
    // Not copied with all of its instances, of which there may be thousands.
    only.relations = {{relation.place,
                       relation.left_text,
                       relation.right_text,
                       relation.comparator,
                       relation.reason,
                       relation.unit,
                       relation.operands,
                       relation.left,
                       relation.right,
                       {instance}}};
    for (const std::string& id : std::set<std::string>(instance.begin(), instance.end())) {
        if (const auto found = cases.find(id); found != cases.end()) {
            only.cases.push_back(*found->second);
        }
    }
    return only;
}

Verdict verdict_of_lone(const model::Run& run, const model::SuiteResult& only) {
    const auto verdicts = judge_relations(run, only);
    return verdicts.empty() ? Verdict::skipped : verdicts.front().verdict;
}

}  // namespace perfgate::gate
