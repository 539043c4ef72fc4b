// SPDX-License-Identifier: Apache-2.0
// Takes from a Run what is kept for years: one value for each process of gated metrics and times.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::history {

/// Where a run was measured, and which build.
struct Origin {
    std::string device;    ///< the device's key
    std::string board;     ///< hashed
    std::string driver;    ///< version
    std::string toolkit;   ///< version of CUDA
    std::string tool;      ///< perfgate's version
    std::string revision;  ///< of git; empty: none
    std::string started;   ///< UTC, "2026-11-21T10:00:00Z"
    /// Seconds since 1970: of the commit where git knows the revision, else of the run.
    std::int64_t ordered = 0;

    bool operator==(const Origin&) const = default;
};

/// One metric of one case in one run.
struct Night {
    std::int64_t run = 0;  ///< the store's number of it
    std::string code;      ///< fingerprint of all kernels' code, or the host's; empty: unknown
    std::string inputs;    ///< fingerprint of launches, arguments and command line
    std::string method;
    std::string verdict;  ///< of the case; empty: not known
    std::optional<double> clock_mhz;
    std::vector<double> values;  ///< one for each process, finite, in `unit`

    bool operator==(const Night&) const = default;
};

/// The origin of a run; an empty one if the run is not among them.
Origin origin_of(const std::map<std::int64_t, Origin>& origins, std::int64_t run);

/// One metric of one case on one device, over its nights.
struct Series {
    std::string device, suite, id, metric, unit;
    model::Direction direction = model::Direction::lower;
    model::MetricClass metric_class = model::MetricClass::timing;
    double tolerance = 0;  ///< the gate's, for worse values, as a fraction; of the last run added
    std::vector<Night> nights;

    bool operator==(const Series&) const = default;
};

struct StoredRun {
    std::string fingerprint;  ///< of the document: the same one is stored once
    Origin origin;
    std::vector<Series> series;  ///< each with one night
};

/// Seconds since 1970 of a UTC time, "2026-11-21T10:00:00Z"; absent if the text is none.
std::optional<std::int64_t> seconds_of(std::string_view utc);

/// Takes what is kept. `verdict`: of the same run, or null. Throws InputError if the run has no
/// time or was interrupted.
StoredRun stored_run(const model::Run& run, std::string fingerprint,
                     const model::VerdictDocument* verdict);

}  // namespace perfgate::history
