// SPDX-License-Identifier: Apache-2.0
// The parts of a suite: workload entries, overrides, cases and relations as values.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/case.hpp"
#include "model/plan.hpp"
#include "model/relation.hpp"
#include "model/subject.hpp"
#include "suite/placed_text.hpp"
#include "suite/settings.hpp"

namespace perfgate::suite {

/// Settings for the cases whose id `match` matches, on the devices whose key `device` matches.
struct Override {
    std::string match = "*";  ///< glob
    std::string device;       ///< glob; empty: on every device
    std::string skip;         ///< why the cases are not measured; empty: they are
    std::string was;          ///< what the cases were named before; empty: the same
    Settings settings;
    Position at;
};

/// What all cases of one item of `workloads` share; for a program, those of one label.
struct Entry {
    Position at;
    std::vector<std::string> tags;
    Settings settings;
    std::vector<Override> overrides;
};

struct SuiteCase {
    model::CaseSpec spec;
    std::string id;
    Position at;
    model::Target target = model::Target::cuda;
    model::Submission submission = model::Submission::async;
    int min_compute_capability = 0;
    std::string not_built;  ///< what is absent; empty: it is built
    std::string skipped;    ///< why its benchmark leaves it out; empty: it does not
    std::size_t entry = 0;  ///< index into Suite::entries
    std::shared_ptr<const model::Subject> subject = std::make_shared<const model::Subject>();
    std::optional<std::size_t> group = std::nullopt;  ///< as model::PlannedCase has it
    std::string problem = {}, log = {};               ///< likewise
    bool discovered = false;  ///< it is not in the suite's file: its program reports it
    bool expected = false;  ///< needs no tolerance: its entry's `expect` gates it, or nothing does
    bool inferred = false;  ///< its workload is not known, nor therefore its target
    /// Overrides whose `match` matches, in the file's order: of the suite, then of the entry.
    std::vector<const Override*> overrides;
};

/// A case of a relation's first reference of which a benchmark does not report a counterpart, with
/// the ids of the instance, one per operand: not all are of cases, so that it cannot be judged.
struct LoneCase {
    std::size_t leading = 0;  ///< index into Suite::cases
    std::vector<std::string> ids;
};

/// A relation of `expect` with the cases of each instance.
struct SuiteRelation {
    model::Relation relation;  ///< its own instances are filled in by the Plan
    model::Target target = model::Target::cuda;
    /// Indices into Suite::cases, one per operand; at least one instance.
    std::vector<std::vector<std::size_t>> instances;
    std::vector<LoneCase> lone = {};
};

/// A relation with cases that are not known yet: its names are not checked, and it has no
/// instances.
struct OpenRelation {
    model::Relation relation;
    PlacedText left, right;
};

/// A relation that could not be read, because it names what is not known.
struct UnreadRelation {
    std::string text;  ///< "scale/fast.gpu_time <= 0.5 * scale/naive.gpu_time"
    model::SourcePlace place;
};

}  // namespace perfgate::suite
