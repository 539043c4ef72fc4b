// SPDX-License-Identifier: Apache-2.0
// Suite to Plan: which of a suite's cases are measured on one device, and with which settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/plan.hpp"
#include "model/run.hpp"
#include "model/subject.hpp"
#include "suite/suite.hpp"

namespace perfgate::suite {

struct PlanOptions {
    /// Only cases of this target, and programs; nothing: all (to list them).
    std::optional<model::Target> target;
    /// Selects the overrides that name a device; empty: none of these apply.
    std::string device_key;
    /// "9.0"; cases that need more are skipped. Empty (a host): none are skipped.
    std::string compute_capability;
    std::vector<std::string>
        filters;                    ///< globs on the case id; a case that any matches is selected
    std::vector<std::string> tags;  ///< a case that has any of them is selected
};

/// Counts of a suite's cases. Filters and tags apply only to the target's cases.
struct PlanCounts {
    std::size_t total = 0;
    std::size_t other_target = 0;
    std::size_t not_matched = 0;  ///< by any filter, or lacking every tag
    std::size_t planned = 0;      ///< cases that are skipped included
    std::size_t skipped = 0;      ///< planned, with a reason why they will not run
};

struct SuitePlan {
    model::PlannedSuite suite;
    PlanCounts counts;
};

/// The settings of a suite's cases on one device: most cases of an entry share them.
class DeviceSettings {
  public:
    /// `device`: a key, or a glob of an override, which represents the devices that it matches;
    /// empty: no override that names a device applies.
    DeviceSettings(const Suite& suite, std::string device)
        : suite_(suite), device_(std::move(device)), problems_(suite.file) {}

    const ResolvedSettings& of(const SuiteCase& suite_case);
    /// Parsing has reported those of the suite itself, not those of a device that it names.
    Problems& problems() { return problems_; }

  private:
    const Suite& suite_;
    std::string device_;
    Problems problems_;
    std::map<std::vector<const Settings*>, ResolvedSettings> resolved_;
};

/// Why the suite itself skips the case on this device, from the last override that skips it; empty:
/// it does not.
std::string stated_skip(const SuiteCase& suite_case, const std::string& device_key);

/// The id that the case had before, from the last override that says so; empty: the same.
std::string former_id(const SuiteCase& suite_case);
/// Likewise of an id of the suite, whose case may not be known before it runs.
std::string former_id(const Suite& suite, const std::string& id);

/// The suite is `partial` if filters or tags left cases out. Cases of the other target do not make
/// it partial: a baseline belongs to a device, and a device has cases of one target. Throws
/// util::InputError if an override of this device leaves a case without a gate, or gates a metric
/// that is not collected.
SuitePlan plan_suite(const Suite& suite, const PlanOptions& options);

/// Which of a suite's cases are not built, a line per reason: "suites/gemm.yaml: 3 cases are not
/// built: gemm_cuda.so is not beside gemm.so".
std::vector<std::string> not_built(const Suite& suite);
/// Likewise of those that are planned.
std::vector<std::string> not_built(const model::PlannedSuite& suite);

/// A case of one of the suites.
struct CaseOfSuites {
    std::size_t suite = 0, index = 0;
};

/// The cases that will run, in the suites' order; some may stand for others that are not known yet.
/// Throws util::InputError if no case is left, with the counts, and if a filter or a tag selects
/// nothing in any suite.
std::vector<CaseOfSuites> cases_to_run(const std::vector<Suite>& suites,
                                       const PlanOptions& options);

/// Throws as cases_to_run does.
model::Plan plan_suites(const std::vector<Suite>& suites, const PlanOptions& options);

// Divides a Plan among machines: `--shard 2/3` measures the second of three parts, and `perfgate
// merge` combines them into one run.
struct ShardChoice {
    std::int64_t index = 1, count = 1;  ///< the first is 1
};

/// "2/3". Throws util::InputError for anything else.
ShardChoice parse_shard(std::string_view text);

/// Keeps the shard's cases in the plan, in their order. Suites without any are dropped, the others
/// are `partial`. Records what all shards together have.
///
/// Cases are dealt out in turn, in the order of the suites' names and their ids, first those that
/// run: the result depends only on the plan's cases. Throws util::InputError if there are fewer
/// cases to run than shards.
model::Shard take_shard(model::Plan& plan, const ShardChoice& choice);

// Cases that are not in a suite's file: what one case stands for, once it is discovered.

/// The case in place of one that stands for it. A parameter that the suite sets keeps its value.
model::CaseSpec spec_of(const model::DiscoveredCase& found, const model::CaseSpec& in_place_of);

/// Replaces the case that stands for those of its group by these, and resolves the suite's open
/// relations. Of a problem the case keeps the reason and fails; one whose group is not in
/// `by_group` stays. Relations with either cannot be judged. Throws util::InputError for an
/// override that matches no case, for a listed variant with the name of a discovered one, for a
/// relation with a case that was not discovered, and if there are too many cases.
void set_discovered_cases(const std::map<std::size_t, model::Discovered>& by_group, Suite& suite);

}  // namespace perfgate::suite
