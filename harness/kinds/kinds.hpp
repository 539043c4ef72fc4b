// SPDX-License-Identifier: Apache-2.0
// What the kinds of a plan's cases do before and while they are measured.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kinds/kind.hpp"

namespace perfgate::kinds {

/// As Kind has them, each for the cases of its kind.
model::Discovered discover(const Machine& machine, const model::Subject& subject);
/// Whether results of the kind are read without running anything: from recordings, or from what
/// programs wrote; and how.
bool has_stored(const model::Subject& subject, bool recordings);
StoredResults stored(const model::Subject& subject, const std::filesystem::path& file);
bool prepare(const Machine& machine, model::Plan& plan);
/// Null: the plan has no groups.
std::unique_ptr<measure::Programs> programs_of(const Machine& machine, const model::Plan& plan);
/// Compiles sources for `architectures` ("90", "90a"), or if empty for those that entries name.
Findings check(const Machine& machine, const std::vector<SuiteCase>& cases,
               const std::vector<std::string>& architectures);

}  // namespace perfgate::kinds
