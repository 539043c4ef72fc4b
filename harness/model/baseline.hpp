// SPDX-License-Identifier: Apache-2.0
// The Baseline: what is expected of each case of one suite on one device key, and how that was
// obtained. Stored as baselines/<device-key>/<suite>.json.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/environment.hpp"
#include "model/metric.hpp"

namespace perfgate::model {

/// How a case's numbers came to be accepted.
struct Provenance {
    std::string board;  ///< hashed UUID of the board
    std::string driver, cuda_toolkit, cupti;
    std::string tool_version;
    std::string git_revision;
    std::string recorded_at;  ///< UTC
    std::string accepted_by;  ///< empty: not told
    std::string reason;

    bool operator==(const Provenance&) const = default;
};

struct BaselineCase {
    Provenance provenance;
    std::map<std::string, MetricSeries> metrics;

    bool operator==(const BaselineCase&) const = default;
};

struct Baseline {
    std::string suite;
    Device device;  ///< `board` empty: it belongs to each case's provenance
    std::map<std::string, BaselineCase> cases;  ///< by case id

    bool operator==(const Baseline&) const = default;
};

/// JSON, schema "perfgate.baseline" version 1: sorted, one line per metric, the same bytes for the
/// same content.
std::string write_baseline(const Baseline& baseline);
Baseline parse_baseline(std::string_view json, std::string_view source);

}  // namespace perfgate::model
