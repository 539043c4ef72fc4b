// SPDX-License-Identifier: Apache-2.0
// Where the two sides of a comparison have their files.
#pragma once

#include <filesystem>
#include <string>

#include "model/plan.hpp"
#include "model/subject.hpp"

namespace perfgate::runner {

/// Where the files of one side of a comparison are, and what its processes find in their
/// environment.
struct Checkout {
    std::string root;  ///< a folder that takes the place of another; empty: there is none
    /// That other folder, which the suites are in, at any depth; empty: each suite's own.
    std::string replaced = {};
    model::Variables variables = {};  ///< in addition to the suites' and in place of them
};

struct Checkouts {
    Checkout base, head;
};

/// The folder that a suite is in; absolute.
std::string folder_of_suite(const std::string& suite_file);

/// In the checkout, if it has a root; else where they are. The placement throws util::InputError
/// for what is outside of the replaced folder, if one is named.
model::Placement placement_of(const Checkout& checkout, const std::string& suite_file);

/// "/base/." and "/base/" are "/base".
std::string place_of(const std::string& folder);

// Paths of a suite as every checkout has them: what a case is measured as must not depend on where
// the checkout is.

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
