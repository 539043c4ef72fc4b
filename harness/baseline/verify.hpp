// SPDX-License-Identifier: Apache-2.0
// Whether a folder of baselines is in order: files as perfgate writes them, in their places, and
// ledgers that tell how the baselines came to say what they say. Nothing is signed: who edits a
// baseline and its ledger alike shows it in the ledger's diff, which is to be reviewed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace perfgate::baseline {

struct StoreCheck {
    std::size_t baselines = 0, ledgers = 0;  ///< files
    std::vector<std::string> faults;         ///< a line each
    std::vector<std::string> notes;          ///< what is no fault and worth knowing
    /// By baseline file: cases of which no edit would be seen, because their last ledger entry is
    /// from before entries had digests.
    std::map<std::string, std::vector<std::string>> not_covered;
};

/// `today` is a day of UTC, for acknowledgements that are over. Throws InputError where there is no
/// such folder.
StoreCheck verify_store(const std::filesystem::path& folder, const std::string& today);

}  // namespace perfgate::baseline
