// SPDX-License-Identifier: Apache-2.0
// The machine code of the cases that got slower, as a file beside the run document: code.json, and
// base/code.json of the build that they are compared with.
#pragma once

#include <filesystem>
#include <vector>

#include "measure/session.hpp"
#include "model/kernel_code.hpp"
#include "model/run.hpp"

namespace perfgate::runner {

/// Disassembles those of the cases that have the metric `code_instructions`, each in one more
/// launch, and stores what that gives; no file if there is nothing. A case beyond the limits (16,
/// 64 MiB) is stored with the reason in its place. What fails is said on standard error: the run is
/// none the worse.
void store_code(measure::Session& session, const std::vector<model::CaseIndex>& cases,
                const std::filesystem::path& out);

/// Removes the files of an earlier execution.
void remove_code(const std::filesystem::path& out);

/// Both sides, as far as they are there.
struct StoredCode {
    std::vector<model::CaseCode> base, head;
};
/// Reads the files beside a run document. One that cannot be read is said on standard error.
StoredCode read_code(const std::filesystem::path& folder);

}  // namespace perfgate::runner
