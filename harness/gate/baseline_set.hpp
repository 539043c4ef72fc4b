// SPDX-License-Identifier: Apache-2.0
// What a run is judged against: the baselines of its suites. The gate does not read them itself.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "model/baseline.hpp"
#include "model/environment.hpp"

namespace perfgate::gate {

/// A baseline and the file it was read from.
struct StoredBaseline {
    std::string file;
    model::Baseline baseline;

    bool operator==(const StoredBaseline&) const = default;
};

/// By suite name. A suite without an entry has no baseline.
using BaselineSet = std::map<std::string, StoredBaseline>;

/// Throws InputError naming the field in which the devices differ: their values cannot be compared.
/// Boards of one key are the same device here. `baseline_file` is for the message.
void require_same_device(const model::Device& measured, const model::Device& baseline,
                         std::string_view baseline_file);

}  // namespace perfgate::gate
