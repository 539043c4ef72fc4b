// SPDX-License-Identifier: Apache-2.0
// Finds the cases of each instance of a relation.
//
// The first reference on the left side is the leading one: a relation has one instance for each
// case that it matches. Every other reference resolves to the case of its workload and variant that
// has the same value for every parameter that both cases have (except those that the reference
// fixes in brackets) and the same cache (unless it fixes that). A leading case without such a case
// has no instance, unless a benchmark could have reported that; a reference that matches several is
// an error.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "suite/case_reference.hpp"
#include "suite/entry.hpp"

namespace perfgate::suite {

/// What the reader needs from the rest of the suite.
struct RelationScope {
    const std::vector<SuiteCase>& cases;
    const model::WorkloadCatalogue& workloads;
    /// The settings of the workloads whose cases are discovered, by name. Their variants and
    /// parameters in `workloads` are those that have been.
    std::map<std::string, const Settings*> discovering;
    /// They have not been yet: relations with these cases stay open.
    bool may_discover = true;
    /// False if problems elsewhere leave cases unknown: then only the syntax is checked.
    bool complete = true;
    /// The metrics that a case (by its index) collects; null if problems leave that unknown.
    std::function<const std::set<std::string>*(std::size_t)> collected;
    /// Accounts for the cost of matching.
    std::function<void(std::size_t steps, Position at)> spend;
};

class RelationMatcher {
  public:
    /// Both must outlive it.
    RelationMatcher(const RelationScope& scope, Problems& problems);

    /// What an expression may refer to: the variants that the suite has, or, if its cases are not
    /// known, all that the plugins offer.
    std::vector<KnownWorkload> known_workloads() const;

    /// Finds the instances of a relation with these operands, each the index of a case per operand,
    /// and its lone cases. Problems: an operand without a case, no instance at all, an instance
    /// that is not unique, a metric that a case does not collect.
    void match(const std::vector<Operand>& operands, SuiteRelation& relation);

  private:
    bool is_listed(const std::string& workload, const std::string& variant) const;
    std::vector<std::size_t> cases_of(const Operand& operand);
    std::vector<std::size_t> known_or_unknown(std::vector<std::size_t> partners) const;
    void refuse_ambiguous(const Operand& operand, std::size_t lead,
                          const std::vector<std::size_t>& partners);
    void check_metrics(const std::vector<Operand>& operands,
                       const std::vector<std::size_t>& instance);

    const RelationScope& scope_;
    Problems& problems_;
    std::map<std::string, std::vector<std::size_t>> by_variant_;  ///< by "workload/variant"
    std::set<Position> uncollected_;  ///< metrics that were reported as not collected
};

}  // namespace perfgate::suite
