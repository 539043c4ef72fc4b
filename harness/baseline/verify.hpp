// SPDX-License-Identifier: Apache-2.0
// Verifies a folder of baselines: files as perfgate writes them, in their places, and ledgers that
// account for the values of the baselines. Nothing is signed: an edit of both a baseline and its
// ledger is visible in the ledger's diff, which must be reviewed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace perfgate::baseline {

struct StoreCheck {
    std::size_t baselines = 0, ledgers = 0;  ///< files
    std::vector<std::string> faults;         ///< a line each
    std::vector<std::string> notes;          ///< not faults, but worth knowing
};

/// `today` is a day in UTC, for acknowledgements that have ended. Throws InputError if there is no
/// such folder.
StoreCheck verify_store(const std::filesystem::path& folder, const std::string& today);

}  // namespace perfgate::baseline
