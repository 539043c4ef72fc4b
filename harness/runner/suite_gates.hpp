// SPDX-License-Identifier: Apache-2.0
// What suites say now of cases that were measured before: their gates are not part of what was
// measured, so a run need not be taken again for another tolerance.
#pragma once

#include <string>
#include <vector>

#include "model/catalogue.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"
#include "suite/suite.hpp"

namespace perfgate::runner {

/// A tolerance that is to be at least this.
struct WantedTolerance {
    std::string suite, id, metric;
    double amount = 0;    ///< fraction of the baseline, of a share percentage points
    bool points = false;  ///< it is points

    bool operator==(const WantedTolerance&) const = default;
};

/// As suites have it: "35%", "2.5pt".
std::string tolerance_text(const WantedTolerance& wanted);

class SuiteGates {
  public:
    /// Reads the files; `plugins` are those that the suites need besides the bundled ones.
    SuiteGates(const std::vector<std::string>& files, const std::vector<std::string>& plugins);

    /// Gives the cases of the run the gates and tags of the suites of the same names. A case that
    /// its suite no longer has leaves the run; a suite with cases that the run lacks is `partial`.
    /// Throws util::InputError for a suite that the run does not have, and for a case that the
    /// suite now measures as something else.
    void take(model::Run& run) const;

    /// Raises tolerances in the texts: where an entry states it for no other case, else by an
    /// override for the case. Throws util::InputError if that has not the meaning it should.
    void raise(const std::vector<WantedTolerance>& wanted, const model::Run& run);

    /// Writes the files whose text has changed. Throws util::InputError for one that somebody else
    /// has changed meanwhile, util::Error where it cannot write.
    void write() const;

  private:
    struct Text {
        std::string file, text, name;
        std::string read;  ///< what the file had
    };

    suite::Suite parsed(const Text& suite, const model::Run& run) const;
    model::PlannedSuite planned(const Text& suite, const model::Run& run) const;
    void raise(Text& suite, const std::vector<WantedTolerance>& wanted,
               const model::Run& run) const;

    std::vector<Text> suites_;
    model::WorkloadCatalogue workloads_;
};

}  // namespace perfgate::runner
