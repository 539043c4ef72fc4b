// SPDX-License-Identifier: Apache-2.0
// What a case is about, as the plan, the session and the review see it. Each kind of case (a
// plugin's, a source's, a program's, a benchmark's) implements it in its folder of kinds/; outside
// of that nothing asks which kind a case is.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/catalogue.hpp"
#include "model/metric.hpp"
#include "model/run.hpp"
#include "model/source_kernel.hpp"
#include "util/text.hpp"

namespace perfgate::model {

/// Environment variables with their values.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// In what the sides of a comparison (`perfgate ab`) can differ for a case.
struct SideDifferences {
    bool builds = false;        ///< the plugins that are loaded
    bool checkouts = false;     ///< the folder that its files are in
    bool environments = false;  ///< the variables of its processes
};

/// Where one side has its files, and what its processes find in their environment.
struct Placement {
    std::function<std::string(const std::string& folder)> folder;
    Variables variables = {};  ///< in place of the suite's of the same names
};

/// A case that discovering found in place of one that stands for all of its entry's.
struct DiscoveredCase {
    std::string name;  ///< its variant
    Params params;
    std::string skipped;  ///< why its program leaves it out; empty: it does not

    bool operator==(const DiscoveredCase&) const = default;
};

/// The cases of which one stands for all, or why they are not known.
struct Discovered {
    std::vector<DiscoveredCase> cases;  ///< each once
    std::string problem, log;           ///< empty: there are cases
    bool stopped = false;               ///< the user has ended the run
};

/// Immutable, so that the cases of plans share it.
class Subject {
  public:
    Subject() = default;
    Subject(const Subject&) = default;
    Subject& operator=(const Subject&) = default;
    virtual ~Subject() = default;

    /// Its row in the table of kinds (kinds/kinds.cpp), which alone compares it.
    virtual std::string_view kind() const { return ""; }
    /// "a program"
    virtual std::string_view in_words() const { return "a case"; }

    // --- what it is
    /// Sets the fields of a Run that say what was measured; its spec is set before.
    virtual void describe(CaseResult& /*result*/) const {}
    /// Metrics that its suite defines.
    virtual std::vector<MetricDefinition> own_metrics() const { return {}; }
    /// Whether it cannot be measured without a GPU; of what a worker measures, its target says so.
    virtual bool needs_gpu() const { return true; }
    /// How many GPUs it sees.
    virtual int gpus() const { return 1; }
    /// What must be equal for two executions to form one run; of all cases of its group, and its
    /// own, which continues a text (", …").
    virtual std::string group_identity() const { return {}; }
    virtual std::string identity() const { return {}; }

    // --- on the sides of a comparison
    virtual SideDifferences sides() const { return {}; }
    /// The same with its files and processes there; null: it has none.
    virtual std::shared_ptr<const Subject> placed(const Placement& /*placement*/) const {
        return nullptr;
    }
    /// Why a side with these plugins has no such case; empty: it has one.
    virtual std::string absent(const CaseSpec& /*spec*/,
                               const WorkloadCatalogue& /*offered*/) const {
        return {};
    }
    /// Says that both sides measure the same thing, so that no change of it is seen; empty: not
    /// known.
    virtual std::string same_as(const Subject& /*base*/) const { return {}; }

    // --- measuring
    /// The kernel that a worker launches in place of a plugin's variant. Null: none.
    virtual const SourceKernel* kernel() const { return nullptr; }
    /// The same with the machine code of this file in place of that kernel's. Null: it has none.
    virtual std::shared_ptr<const Subject> with_machine_code(const std::string& /*file*/) const {
        return nullptr;
    }
    /// If it stands for cases that are not known yet: the subject of one of these.
    virtual std::shared_ptr<const Subject> discovered(const DiscoveredCase& /*found*/) const {
        return nullptr;
    }
};

// How many GPUs a program sees: a number, or all of one model that the machine has.

inline constexpr int all_gpus = 0;

inline std::string gpus_in_words(int gpus) {
    return gpus == all_gpus ? "all GPUs" : util::counted(static_cast<std::size_t>(gpus), "GPU");
}

}  // namespace perfgate::model
