// SPDX-License-Identifier: Apache-2.0
// Paths of a suite as every checkout has them: what a case is measured as must not depend on where
// the checkout is.
#pragma once

#include <filesystem>
#include <string>

#include "model/plan.hpp"

namespace perfgate::runner {

/// The nearest folder around `folder`, or it itself, that has a `.git`; without one, `folder`.
/// Absolute.
std::filesystem::path checkout_around(const std::filesystem::path& folder);

/// `text` with each path in `checkout` relative to `folder`, which lies in it. A path is there at
/// the beginning of the text, or behind a blank, a quotation mark or one of `=:,;`.
std::string without_checkout(const std::string& text, const std::filesystem::path& checkout,
                             const std::filesystem::path& folder);

/// Rewrites what the suite's cases are measured as in this way, and shortens long values.
void make_portable(model::PlannedSuite& suite);

}  // namespace perfgate::runner
