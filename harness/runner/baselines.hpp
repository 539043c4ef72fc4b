// SPDX-License-Identifier: Apache-2.0
// Carries out the commands on stored baselines: each reads them and calls baseline/. Those that
// write hold a lock from reading to writing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baseline/accept.hpp"
#include "baseline/diff.hpp"
#include "baseline/pooling.hpp"
#include "baseline/prune.hpp"
#include "baseline/refresh.hpp"
#include "gate/baseline_set.hpp"
#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/selection.hpp"
#include "model/verdict.hpp"
#include "runner/choice.hpp"
#include "runner/suite_gates.hpp"

namespace perfgate::runner {

/// Whether the name is a suite's (.yaml), not a document's.
bool is_suite_file(const std::string& file);

struct RefreshRequest {
    /// Suite files to be measured now, or run documents. With both, the suites say by which gates
    /// the runs are stored.
    std::vector<std::string> inputs;
    bool tolerances = false;  ///< those that are too small are raised in the suite files
    std::string baselines;    ///< folder
    baseline::Acceptance acceptance;
    MeasuringChoice measuring;  ///< its filters and tags select from stored runs as well
    std::size_t runs = 1;       ///< to measure
    model::Policy policy;
};

struct RefreshedSuite {
    baseline::Refreshed result;
    std::filesystem::path file;
    baseline::PoolingFindings findings;
    std::vector<WantedTolerance> raised;  ///< written into the suite's file
};

/// Nothing if measuring was interrupted. All suites are refreshed before the first file is
/// written: if nothing of any can be stored, or changes add up beyond the bound (InputError), no
/// file changes. Cases that are refused name the tolerance that would do.
std::optional<std::vector<RefreshedSuite>> refresh_baselines(const RefreshRequest& request);

struct AcceptedSuite {
    baseline::Accepted result;
    std::filesystem::path file;
    bool renewed = false;  ///< the file was of an older version, so that all of it changed
};

/// Accepts as baseline::accept does, for a run document; writes what changed.
std::vector<AcceptedSuite> accept_changes(const std::string& run_file, const std::string& baselines,
                                          const model::Policy& policy,
                                          const baseline::AcceptChoice& choice,
                                          const baseline::Acceptance& acceptance);

/// By the suite's name.
using CasesOfSuites = std::map<std::string, baseline::KnownCases>;

struct PruneRequest {
    CasesOfSuites cases;
    std::vector<model::Run> runs;  ///< which show what benchmarks report
    std::string baselines;         ///< folder
    baseline::Acceptance acceptance;
    bool all_suites = false;  ///< a suite that `cases` lacks has no cases any more
    bool dry_run = false;
};

struct PruneOutcome {
    struct File {
        std::string file;
        std::vector<std::string> ids;  ///< removed
    };
    std::vector<File> files;
    std::size_t left_alone = 0;  ///< baselines of suites that `cases` lacks
    std::size_t unknown = 0;     ///< kept cases of benchmarks that no run shows
};

PruneOutcome prune_baselines(const PruneRequest& request);

/// Which stored baseline is meant.
struct BaselineChoice {
    std::string baselines = "baselines";  ///< folder
    std::string suite;                    ///< its name, or its file
    std::string device_key;               ///< empty: the only device with a baseline of the suite
};

/// Throws InputError if there is no such baseline, or if several devices have one and none is
/// chosen.
gate::StoredBaseline stored_baseline(const BaselineChoice& choice);

/// The entries of the baseline's ledger, newest first; with `cases` (globs), only those of cases
/// whose id matches one. Throws InputError as stored_baseline does, and if there is no ledger.
std::vector<model::LedgerEntry> ledger_entries(const BaselineChoice& choice,
                                               const std::vector<std::string>& cases);

/// All ledgers of a folder; nothing if there is no such folder.
std::optional<std::vector<model::Ledger>> all_ledgers(const std::string& folder);

struct StoredDiff {
    std::string file;      ///< of the stored baseline
    bool stored = true;    ///< false: there is no such file, everything is new
    bool partial = false;  ///< the document lacks cases of the suite: `removed` is empty
    baseline::BaselineDiff difference;
};

/// What a refresh with the document would change, for each of its suites. The document is a run,
/// from which `selection` takes cases, or another baseline. Throws InputError if the document
/// cannot be used or a stored baseline is of another device.
std::vector<StoredDiff> diff_against_stored(const std::string& document,
                                            const model::Selection& selection,
                                            const std::string& baselines);

}  // namespace perfgate::runner
