// SPDX-License-Identifier: Apache-2.0
// Differences between two recorded runs of a program, as pure functions of profiles. Whether they
// are significant cannot be known from one run each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "activity/profile.hpp"
#include "model/kernel_change.hpp"

namespace perfgate::activity {

struct Change {
    double before = 0;
    double after = 0;

    [[nodiscard]] double difference() const { return after - before; }
};

/// The program, or the ranges of one name. Times in nanoseconds.
struct PieceDifference {
    std::string name;
    Change instances;
    /// Means over the instances: 0 where there are none.
    Change gpu_time_ns, span_ns, idle_ns, kernels, copies, synchronisations;
    /// Of a range that both sides have: how its kernels changed, largest change of time first.
    std::vector<model::KernelChange> changes;
};

/// The kernels of one name.
struct KernelDifference {
    std::string name;  ///< demangled
    Change launches;
    Change total_ns;
    bool code_changed = false;  ///< both fingerprints are known, and differ
    /// Of a kernel that only one side has: the longest of those that the other side has at its
    /// position, and how many these are; 0: it was added or removed.
    std::string counterpart;
    std::size_t counterparts = 0;
};

struct ProfileDifference {
    /// One line each: recordings that are not complete, what could not be compared.
    std::vector<std::string> notes;
    bool calls_on_record = true;  ///< on both sides; otherwise `synchronisations` say nothing
    PieceDifference program;
    std::vector<PieceDifference> ranges;    ///< largest difference in GPU time first
    std::vector<KernelDifference> kernels;  ///< the same; those without any difference left out
};

/// Processes of one run are added up.
ProfileDifference difference(const std::vector<Profile>& before, const std::vector<Profile>& after);

}  // namespace perfgate::activity
