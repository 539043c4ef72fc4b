// SPDX-License-Identifier: Apache-2.0
// A search as a document: what was decided, for a restart, and what was found, for other programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bisect/decision.hpp"
#include "bisect/search.hpp"

namespace perfgate::bisect {

/// One commit, built, measured and decided about.
struct Step {
    std::string commit;
    Decision decision = Decision::undecided;
    std::string why;               ///< of a commit that is skipped
    std::optional<double> change;  ///< as a fraction of GOOD; absent: it was not measured
    std::int64_t pairs = 0;        ///< of processes
    double wall_s = 0;             ///< with the build

    bool operator==(const Step&) const = default;
};

enum class Outcome {
    running,    ///< the search is not over
    not_shown,  ///< BAD is not shown to be slower than GOOD
    found,      ///< one commit
    one_of,     ///< one of several, because their neighbours were skipped
};

std::string_view to_text(Outcome outcome);

struct SearchDocument {
    std::string good, bad;  ///< commits
    /// Fingerprint of what else decides: with another suite, selection, build, backend, plugin or
    /// level of false alarms it is another search.
    std::string settings;
    std::string device;  ///< key
    std::optional<Target> target;
    std::vector<Step> steps;  ///< in the order in which they were taken
    Outcome outcome = Outcome::running;
    std::vector<std::string> commits;  ///< the culprit, or those that may be, oldest first

    bool operator==(const SearchDocument&) const = default;
};

/// JSON, schema "perfgate.bisect" version 1.
std::string write_search(const SearchDocument& search);
/// Throws util::InputError.
SearchDocument parse_search(std::string json, std::string_view source);

}  // namespace perfgate::bisect
