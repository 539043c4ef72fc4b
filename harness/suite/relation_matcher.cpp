// SPDX-License-Identifier: Apache-2.0
#include "suite/relation_matcher.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "model/case.hpp"
#include "model/hottest_kernel.hpp"
#include "model/roofline.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

using CaseIndices = std::vector<std::size_t>;
using Names = std::vector<std::string>;

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

Names parameter_names(const model::Params& params) {
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
        const Index& index = index_for(parameter_names(leading.spec.params));
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

/// Of the case that the operand would stand for beside the leading one.
std::string id_of_partner(const Operand& operand, const model::CaseSpec& leading) {
    model::CaseSpec spec = leading;
    spec.workload = operand.known->info->name;
    spec.variant = operand.variant_name;
    for (const auto& [name, value] : operand.fixed) spec.params.insert_or_assign(name, value);
    if (operand.cache) spec.cache = *operand.cache;
    return model::case_id(spec);
}

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

/// The bound of a case comes from its time. Only programs have `kernels`, and list them.
bool is_collected(const std::string& metric, const std::set<std::string>& collected) {
    if (metric == model::hottest_operand) return collected.contains("kernels");
    if (metric != model::bound_operand) return collected.contains(metric);
    return collected.contains("gpu_time") || collected.contains("gpu_span");
}

}  // namespace

RelationMatcher::RelationMatcher(const RelationScope& scope, Problems& problems)
    : scope_(scope), problems_(problems), by_variant_(cases_by_variant(scope.cases)) {}

std::vector<KnownWorkload> RelationMatcher::known_workloads() const {
    std::vector<KnownWorkload> known;
    for (const model::WorkloadInfo& info : scope_.workloads) {
        KnownWorkload entry{&info, {}};
        if (const auto found = scope_.discovering.find(info.name);
            found != scope_.discovering.end()) {
            entry.discovering = found->second;
            entry.open = !scope_.complete || by_variant_.contains(unknown_cases_of(info.name));
        }
        for (const model::VariantInfo& variant : info.variants) {
            if (entry.discovering != nullptr && is_listed(info.name, variant.name)) {
                entry.listed.push_back(variant.name);
            }
            if (!scope_.complete || by_variant_.contains(info.name + '/' + variant.name)) {
                entry.variants.push_back(&variant);
            }
        }
        if (!entry.variants.empty() || entry.discovering != nullptr) {
            known.push_back(std::move(entry));
        }
    }
    return known;
}

/// Whether the suite lists the variant's cases. Discovered cases are not listed, and neither are
/// those that are not known yet.
bool RelationMatcher::is_listed(const std::string& workload, const std::string& variant) const {
    if (variant == model::unknown_cases) return false;
    const auto found = by_variant_.find(workload + '/' + variant);
    return found == by_variant_.end() || !scope_.cases[found->second.front()].discovered;
}

CaseIndices RelationMatcher::cases_of(const Operand& operand) {
    CaseIndices indices;
    const CaseIndices& all = by_variant_[operand.known->info->name + '/' + operand.variant_name];
    scope_.spend(all.size() * (1 + operand.fixed.size()), operand.at);
    for (const std::size_t index : all) {
        const model::CaseSpec& spec = scope_.cases[index].spec;
        const bool fits = std::ranges::all_of(operand.fixed, [&](const auto& fixed) {
            const auto set = spec.params.find(fixed.first);
            return set != spec.params.end() &&
                   model::to_text(set->second) == model::to_text(fixed.second);
        });
        if (fits && (!operand.cache || spec.cache == *operand.cache)) indices.push_back(index);
    }
    if (operand.is_open()) {
        const CaseIndices& unknown = by_variant_[unknown_cases_of(operand.known->info->name)];
        indices.insert(indices.end(), unknown.begin(), unknown.end());
    }
    if (indices.empty()) {
        const bool listed = operand.reported() == nullptr;
        problems_.add(
            operand.at, "the suite has no case of {}; expected {}", in_quotes(operand.text),
            listed ? "parameters and a cache that its cases have, which `perfgate list` shows"
                   : "parameters that one of its results has");
    }
    return indices;
}

void RelationMatcher::match(const std::vector<Operand>& operands, SuiteRelation& relation) {
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
        const SuiteCase& leader = scope_.cases[lead];
        if (model::stands_for_cases(leader.spec)) {
            relation.instances.emplace_back(operands.size(), lead);
            continue;
        }
        CaseIndices instance{lead};
        LoneCase lone{lead, {leader.id}};
        bool is_stated = true;  // no partner is missing that the suite itself leaves out
        for (std::size_t k = 1; k < operands.size() && is_stated; ++k) {
            const CaseIndices partners = known_or_unknown(others[k - 1].partners_of(leader));
            if (partners.size() > 1) return refuse_ambiguous(operands[k], lead, partners);
            if (partners.empty()) {
                lonely = &operands[k];
                is_stated = lonely->reported() != nullptr;
                lone.ids.push_back(id_of_partner(*lonely, leader.spec));
            } else {
                instance.push_back(partners.front());
                lone.ids.push_back(scope_.cases[partners.front()].id);
            }
        }
        if (instance.size() == operands.size()) {
            check_metrics(operands, instance);
            relation.instances.push_back(std::move(instance));
        } else if (is_stated) {
            relation.lone.push_back(std::move(lone));
        }
    }
    if (relation.instances.empty()) {
        problems_.add(lonely->at,
                      "no case of {} has the parameters of one of {}; expected the same values, or "
                      "others fixed in brackets",
                      in_quotes(lonely->text), in_quotes(operands.front().text));
    }
}

/// The known ones, or where there is none, one that stands for unknown ones.
CaseIndices RelationMatcher::known_or_unknown(CaseIndices partners) const {
    const auto known = std::stable_partition(
        partners.begin(), partners.end(),
        [&](std::size_t index) { return !model::stands_for_cases(scope_.cases[index].spec); });
    if (known != partners.begin()) {
        partners.erase(known, partners.end());
    } else if (partners.size() > 1) {
        partners.erase(partners.begin() + 1, partners.end());
    }
    return partners;
}

void RelationMatcher::refuse_ambiguous(const Operand& operand, std::size_t lead,
                                       const CaseIndices& partners) {
    problems_.add(operand.at,
                  "{} cases of {} belong to {}: they differ in {}; expected one; rule out the "
                  "others in brackets",
                  partners.size(), in_quotes(operand.text),
                  util::printable(scope_.cases[lead].id, 200), differences(scope_.cases, partners));
}

void RelationMatcher::check_metrics(const std::vector<Operand>& operands,
                                    const CaseIndices& instance) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
        scope_.spend(4 * (1 + operands[k].uses.size()), operands[k].at);
        const std::set<std::string>* collected = scope_.collected(instance[k]);
        if (collected == nullptr) continue;
        for (const Operand::Use& use : operands[k].uses) {
            if (is_collected(use.metric, *collected)) continue;
            // Once per place: usually all cases of an operand lack it.
            if (!uncollected_.insert(use.at).second) continue;
            problems_.add(use.at, "{} does not collect {}; expected it in its 'metrics'",
                          util::printable(scope_.cases[instance[k]].id, 200),
                          use.metric == model::bound_operand ? "gpu_time, which its bound needs"
                          : use.metric == model::hottest_operand
                              ? "kernels, which its hottest_kernel needs"
                              : in_quotes(use.metric));
        }
    }
}

}  // namespace perfgate::suite
