// SPDX-License-Identifier: Apache-2.0
// What a run is judged against: the baselines of its suites, or a run in their place, as the base
// of a back-to-back measurement. The gate does not read them itself.
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

/// What a base run says of a case besides its values.
struct BaseCase {
    model::CaseStatus status = model::CaseStatus::measured;
    std::string reason;
    std::vector<model::NotCollected> not_collected;
    /// Comparing two runs is meant, so that another command is a note and nothing else.
    model::MeasuredAs measured_as;
    std::vector<std::string> notes;

    bool operator==(const BaseCase&) const = default;
};

/// A baseline and the file it was read from, or a base run in its place.
struct StoredBaseline {
    std::string file;
    model::Baseline baseline;
    std::map<std::string, BaseCase> base = {};  ///< of a base run, by case id
    /// Of a base run, by metric: which way was better then.
    std::map<std::string, model::MetricDefinition> definitions = {};
    std::vector<std::string> notes = {};              ///< for the whole comparison
    std::map<std::string, std::string> renamed = {};  ///< by id: the one in the file
    /// By case and metric: when a run first saw the improvement that nobody has accepted since.
    std::map<std::string, std::map<std::string, std::string>> improved = {};
    bool older = false;  ///< the file is of an older version than is written now

    bool operator==(const StoredBaseline&) const = default;
};

/// By suite name. A suite without an entry has no baseline.
using BaselineSet = std::map<std::string, StoredBaseline>;

/// The measured cases of each suite of a base run, with all batches, and why the others are not
/// measured. Messages use `name` where they name the file of a baseline.
BaselineSet baselines_of(const model::Run& base, const std::string& name);

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
