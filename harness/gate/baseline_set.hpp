// SPDX-License-Identifier: Apache-2.0
// What a run is judged against: the baselines of its suites. The gate does not read them itself.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/baseline.hpp"
#include "model/environment.hpp"
#include "model/run.hpp"

namespace perfgate::gate {

/// A case without values in a base run that takes the place of the baseline.
struct Unmeasured {
    model::CaseStatus status = model::CaseStatus::skipped;
    std::string reason;

    bool operator==(const Unmeasured&) const = default;
};

/// A baseline and the file it was read from.
struct StoredBaseline {
    std::string file;
    model::Baseline baseline;
    std::map<std::string, Unmeasured> unmeasured = {};  ///< by case id; of a base run
    /// What a base run could not collect of the cases that it measured, by case id.
    std::map<std::string, std::vector<model::NotCollected>> uncollected = {};
    /// Of a base run, by metric: which way was better then.
    std::map<std::string, model::MetricDefinition> definitions = {};
    /// What a base run measured its cases as, by case id: comparing two runs is meant, so that
    /// another command is a note and nothing else.
    std::map<std::string, model::MeasuredAs> measured_as = {};

    /// What a reader of a base run's values should know, by case id.
    std::map<std::string, std::vector<std::string>> remarks = {};
    std::vector<std::string> notes = {};  ///< for the whole comparison with a base run

    bool operator==(const StoredBaseline&) const = default;
};

/// By suite name. A suite without an entry has no baseline.
using BaselineSet = std::map<std::string, StoredBaseline>;

/// The first field in which devices differ whose values cannot be compared, with both values in
/// quotes.
struct DeviceDifference {
    std::string_view field;
    std::string then, now;
};

/// Boards of one key are the same device here.
std::optional<DeviceDifference> device_difference(const model::Device& measured,
                                                  const model::Device& baseline);

/// Throws InputError naming the field in which the devices differ: their values cannot be compared.
/// `baseline_file` is for the message.
void require_same_device(const model::Device& measured, const model::Device& baseline,
                         std::string_view baseline_file);

}  // namespace perfgate::gate
