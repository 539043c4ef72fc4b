// SPDX-License-Identifier: Apache-2.0
#include "suite/relations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "metrics/catalogue.hpp"
#include "model/roofline.hpp"
#include "model/text.hpp"
#include "suite/expression.hpp"

namespace perfgate::suite {

namespace {

using CaseIndices = std::vector<std::size_t>;
using Names = std::vector<std::string>;

std::string_view side_of(model::Target target) {
    switch (target) {
        case model::Target::host:
            return "a host variant";
        case model::Target::cuda:
            return "a CUDA variant";
        case model::Target::program:
            return "a program";
    }
    return "";
}

/// The cases of each "workload/variant".
std::map<std::string, CaseIndices> cases_by_variant(const std::vector<SuiteCase>& cases) {
    std::map<std::string, CaseIndices> result;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        result[cases[i].spec.workload + '/' + cases[i].spec.variant].push_back(i);
    }
    return result;
}

std::string unknown_cases_of(const std::string& workload) {
    return workload + '/' + model::unknown_cases;
}

/// What an expression may refer to: the variants that the suite has, or, if its cases are not
/// known, all that the plugins offer.
std::vector<KnownWorkload> known_workloads(const RelationScope& scope,
                                           const std::map<std::string, CaseIndices>& by_variant) {
    std::vector<KnownWorkload> known;
    for (const model::WorkloadInfo& info : scope.workloads) {
        KnownWorkload entry{&info, {}};
        if (const auto found = scope.benchmarks.find(info.name); found != scope.benchmarks.end()) {
            entry.benchmark = found->second;
            entry.open = !scope.complete || by_variant.contains(unknown_cases_of(info.name));
        }
        for (const model::VariantInfo& variant : info.variants) {
            if (!scope.complete || by_variant.contains(info.name + '/' + variant.name)) {
                entry.variants.push_back(&variant);
            }
        }
        if (!entry.variants.empty() || entry.benchmark != nullptr) {
            known.push_back(std::move(entry));
        }
    }
    return known;
}

model::Target target_of(const Operand& operand) {
    return operand.variant == nullptr ? model::Target::program : operand.variant->target;
}

Names names_of(const model::Params& params) {
    Names names;
    for (const auto& [name, value] : params) names.push_back(name);
    return names;
}

/// The cases that an operand may stand for, found by the parameters that they share with a leading
/// case.
class Candidates {
  public:
    Candidates(const RelationScope& scope, const Operand& operand, CaseIndices cases)
        : scope_(scope), operand_(operand), cases_(std::move(cases)) {}

    /// Those that belong to the leading case: none, one, or too many.
    CaseIndices partners_of(const SuiteCase& leading) {
        const Index& index = index_for(names_of(leading.spec.params));
        scope_.spend(1 + index.size(), operand_.at);
        CaseIndices partners;
        for (const auto& [shared, by_key] : index) {
            const auto found = by_key.find(key_of(leading, shared));
            if (found == by_key.end()) continue;
            partners.insert(partners.end(), found->second.begin(), found->second.end());
        }
        return partners;
    }

  private:
    /// By the names that a case shares with the leading one, then by their values.
    using Index = std::map<Names, std::map<std::string, CaseIndices>>;

    std::string key_of(const SuiteCase& suite_case, const Names& shared) const {
        std::string key;
        for (const std::string& name : shared) {
            key += model::to_text(suite_case.spec.params.at(name)) + ',';
        }
        if (!operand_.cache) key += to_text(suite_case.spec.cache);
        return key;
    }

    const Index& index_for(const Names& leading_names) {
        const auto [known, added] = indices_.try_emplace(leading_names);
        if (!added) return known->second;
        scope_.spend(4 * (1 + cases_.size()), operand_.at);
        for (const std::size_t index : cases_) {
            const SuiteCase& candidate = scope_.cases[index];
            Names shared;
            for (const std::string& name : leading_names) {
                if (candidate.spec.params.contains(name) && !operand_.fixed.contains(name)) {
                    shared.push_back(name);
                }
            }
            known->second[shared][key_of(candidate, shared)].push_back(index);
        }
        return known->second;
    }

    const RelationScope& scope_;
    const Operand& operand_;
    CaseIndices cases_;
    std::map<Names, Index> indices_;  ///< by the names of leading cases
};

/// The parameters in which the cases differ, for messages.
std::string differences(const std::vector<SuiteCase>& cases, const CaseIndices& indices) {
    std::set<std::string> differing;
    const auto differs = [&](const model::Params& left, const model::Params& right) {
        for (const auto& [name, value] : left) {
            const auto other = right.find(name);
            if (other == right.end() || other->second != value) differing.insert(name);
        }
    };
    const model::CaseSpec& first = cases[indices.front()].spec;
    for (const std::size_t index : indices) {
        differs(first.params, cases[index].spec.params);
        differs(cases[index].spec.params, first.params);
        if (cases[index].spec.cache != first.cache) differing.insert("the cache");
    }
    return fmt::format("{}", fmt::join(differing, ", "));
}

class RelationReader {
  public:
    RelationReader(std::string_view file, const RelationScope& scope, Problems& problems)
        : file_(file),
          scope_(scope),
          problems_(problems),
          by_variant_(cases_by_variant(scope.cases)),
          workloads_(known_workloads(scope, by_variant_)) {}

    ReadRelations read(const std::vector<StatedRelation>& stated) {
        for (const StatedRelation& each : stated) {
            add(PlacedText(each.left, each.at, false), PlacedText(each.comparison, each.at, false),
                each.at, each.reason);
        }
        return std::move(read_);
    }

    std::vector<SuiteRelation> resolve(const std::vector<OpenRelation>& open) {
        for (const OpenRelation& each : open) {
            const Position at{each.relation.place.line, each.right.start().column};
            add(each.left, each.right, at, each.relation.reason);
        }
        return std::move(read_.relations);
    }

    /// `prefix` is put before each left side.
    ReadRelations read(const YamlNode& node, const SourceText& source, std::string_view prefix) {
        constexpr std::string_view expected =
            "a map such as {gemm/tiled.gpu_time: \"<= 0.5 * gemm/naive.gpu_time\"}";
        if (node.kind != YamlNode::Kind::map) {
            add_wrong_type(node, "expect", expected, problems_);
            return {};
        }
        if (node.entries.empty()) {
            problems_.add(node.at,
                          fmt::format("wrong value for 'expect'; expected {}, found nothing in it",
                                      expected));
            return {};
        }
        const auto read_one = [&](const YamlNode& left, const YamlNode& right) {
            if (right.kind != YamlNode::Kind::scalar) {
                add_wrong_type(right, left.text,
                               "a comparison such as \"<= 0.5 * gemm/naive.gpu_time\"", problems_);
                return;
            }
            add(source.place(left).behind(prefix), source.place(right), right.at, {});
        };
        for (const YamlNode::Entry& entry : node.entries) {
            if (entry.value->kind != YamlNode::Kind::list) {
                read_one(*entry.key, *entry.value);
                continue;
            }
            for (const YamlNode* item :
                 read_list(*entry.value, "expect", "comparisons", problems_)) {
                read_one(*entry.key, *item);
            }
        }
        return std::move(read_);
    }

  private:
    void add(const PlacedText& left, const PlacedText& right, Position at,
             const std::string& reason) {
        if (++count_ == most_relations + 1) {
            problems_.add(left.start(),
                          fmt::format("more than {} relations; expected fewer", most_relations));
        }
        if (count_ > most_relations) return;
        std::optional<RelationExpression> parsed =
            parse_relation(left, right, workloads_, problems_);
        if (!parsed || !scope_.complete) return;

        SuiteRelation found;
        model::Relation& relation = found.relation;
        relation.place = {std::string(file_), at.line};
        relation.left_text = left.text();
        relation.comparator = parsed->comparator;
        relation.right_text = without_comparator(right.text(), parsed->comparator);
        relation.reason = reason;
        relation.unit = parsed->unit;
        for (const Operand& operand : parsed->operands) relation.operands.push_back(operand.text);
        relation.left = std::move(parsed->left);
        relation.right = std::move(parsed->right);
        found.target = target_of(parsed->operands.front());
        const std::size_t before = problems_.count();
        check_targets(parsed->operands);
        if (problems_.count() != before) return;
        if (scope_.benchmarks_may_run &&
            std::any_of(parsed->operands.begin(), parsed->operands.end(), is_open)) {
            read_.open.push_back({std::move(found.relation), left, right});
            return;
        }
        match(parsed->operands, found);
        if (problems_.count() == before) read_.relations.push_back(std::move(found));
    }

    static bool is_open(const Operand& operand) { return operand.open; }

    static std::string without_comparator(std::string_view text, model::Comparator comparator) {
        text.remove_prefix(text.find(to_text(comparator)) + to_text(comparator).size());
        const std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
        text.remove_prefix(begin);
        return std::string(text.substr(0, text.find_last_not_of(" \t\n") + 1));
    }

    void check_targets(const std::vector<Operand>& operands) {
        const Operand& leading = operands.front();
        for (const Operand& operand : operands) {
            const model::Target target = target_of(operand);
            if (target != target_of(leading)) {
                problems_.add(operand.at,
                              fmt::format("{} is {}, {} {}, and no run measures both; expected "
                                          "variants of one target",
                                          in_quotes(operand.text), side_of(target),
                                          in_quotes(leading.text), side_of(target_of(leading))));
                continue;
            }
            for (const Operand::Use& use : operand.uses) {
                const auto metric = metrics::find_metric(use.metric);
                const bool has = use.metric == model::bound_operand
                                     ? target == model::Target::cuda
                                     : !metric || applies(*metric, target);
                if (has) continue;
                problems_.add(use.at, fmt::format("{} has no {}; expected a metric that it has",
                                                  side_of(target), in_quotes(use.metric)));
            }
        }
    }

    CaseIndices cases_of(const Operand& operand) {
        CaseIndices indices;
        const CaseIndices& all = by_variant_[operand.workload->name + '/' + operand.variant_name];
        scope_.spend(all.size() * (1 + operand.fixed.size()), operand.at);
        for (const std::size_t index : all) {
            const model::CaseSpec& spec = scope_.cases[index].spec;
            const bool fits =
                std::all_of(operand.fixed.begin(), operand.fixed.end(), [&](const auto& fixed) {
                    const auto set = spec.params.find(fixed.first);
                    return set != spec.params.end() &&
                           model::to_text(set->second) == model::to_text(fixed.second);
                });
            if (fits && (!operand.cache || spec.cache == *operand.cache)) indices.push_back(index);
        }
        if (operand.open) {
            const CaseIndices& unknown = by_variant_[unknown_cases_of(operand.workload->name)];
            indices.insert(indices.end(), unknown.begin(), unknown.end());
        }
        if (indices.empty()) {
            const bool listed = !scope_.benchmarks.contains(operand.workload->name);
            problems_.add(
                operand.at,
                fmt::format("the suite has no case of {}; expected {}", in_quotes(operand.text),
                            listed ? "parameters and a cache that its cases have, which "
                                     "`perfgate list` shows"
                                   : "parameters that one of its results has"));
        }
        return indices;
    }

    void match(const std::vector<Operand>& operands, SuiteRelation& relation) {
        const std::size_t before = problems_.count();
        const CaseIndices leading = cases_of(operands.front());
        std::vector<Candidates> others;
        for (std::size_t k = 1; k < operands.size(); ++k) {
            others.emplace_back(scope_, operands[k], cases_of(operands[k]));
        }
        if (problems_.count() != before) return;

        // The operand without a partner in the last leading case that has no instance.
        const Operand* lonely = nullptr;
        for (const std::size_t lead : leading) {
            if (has_unknown_cases(scope_.cases[lead])) {
                relation.instances.emplace_back(operands.size(), lead);
                continue;
            }
            CaseIndices instance{lead};
            for (std::size_t k = 1; k < operands.size(); ++k) {
                const CaseIndices partners =
                    known_or_unknown(others[k - 1].partners_of(scope_.cases[lead]));
                if (partners.size() > 1) {
                    refuse_ambiguous(operands[k], lead, partners);
                    return;
                }
                if (partners.empty()) {
                    lonely = &operands[k];
                    break;
                }
                instance.push_back(partners.front());
            }
            if (instance.size() != operands.size()) continue;
            check_metrics(operands, instance);
            relation.instances.push_back(std::move(instance));
        }
        if (relation.instances.empty()) {
            problems_.add(lonely->at,
                          fmt::format("no case of {} has the parameters of one of {}; expected the "
                                      "same values, or others fixed in brackets",
                                      in_quotes(lonely->text), in_quotes(operands.front().text)));
        }
    }

    /// The known ones, or where there is none one that stands for unknown ones.
    CaseIndices known_or_unknown(CaseIndices partners) const {
        const auto known = std::stable_partition(
            partners.begin(), partners.end(),
            [&](std::size_t index) { return !has_unknown_cases(scope_.cases[index]); });
        if (known != partners.begin()) {
            partners.erase(known, partners.end());
        } else if (partners.size() > 1) {
            partners.resize(1);
        }
        return partners;
    }

    void refuse_ambiguous(const Operand& operand, std::size_t lead, const CaseIndices& partners) {
        problems_.add(operand.at, fmt::format("{} cases of {} belong to {}: they differ in {}; "
                                              "expected one; rule out the others in brackets",
                                              partners.size(), in_quotes(operand.text),
                                              model::printable(scope_.cases[lead].id, 200),
                                              differences(scope_.cases, partners)));
    }

    /// The bound of a case comes from its time.
    static bool is_collected(const std::string& metric, const std::set<std::string>& collected) {
        if (metric != model::bound_operand) return collected.contains(metric);
        return collected.contains("gpu_time") || collected.contains("gpu_span");
    }

    void check_metrics(const std::vector<Operand>& operands, const CaseIndices& instance) {
        for (std::size_t k = 0; k < operands.size(); ++k) {
            scope_.spend(4 * (1 + operands[k].uses.size()), operands[k].at);
            const std::set<std::string>* collected = scope_.collected(instance[k]);
            if (collected == nullptr) continue;
            for (const Operand::Use& use : operands[k].uses) {
                if (is_collected(use.metric, *collected)) continue;
                // Once per place: usually all cases of an operand lack it.
                if (!uncollected_.insert(use.at).second) continue;
                problems_.add(use.at,
                              fmt::format("{} does not collect {}; expected it in its "
                                          "'metrics'",
                                          model::printable(scope_.cases[instance[k]].id, 200),
                                          use.metric == model::bound_operand
                                              ? "gpu_time, which its bound needs"
                                              : in_quotes(use.metric)));
            }
        }
    }

    std::string_view file_;
    const RelationScope& scope_;
    Problems& problems_;
    std::map<std::string, CaseIndices> by_variant_;
    std::vector<KnownWorkload> workloads_;
    ReadRelations read_;
    std::set<Position> uncollected_;
    std::size_t count_ = 0;
};

}  // namespace

ReadRelations read_relations(const YamlNode& node, const SourceText& source, std::string_view file,
                             const RelationScope& scope, Problems& problems,
                             std::string_view prefix) {
    return RelationReader(file, scope, problems).read(node, source, prefix);
}

ReadRelations read_relations(const std::vector<StatedRelation>& stated, std::string_view file,
                             const RelationScope& scope, Problems& problems) {
    return RelationReader(file, scope, problems).read(stated);
}

std::vector<SuiteRelation> resolve_relations(const std::vector<OpenRelation>& open,
                                             std::string_view file, const RelationScope& scope,
                                             Problems& problems) {
    return RelationReader(file, scope, problems).resolve(open);
}

}  // namespace perfgate::suite
