// SPDX-License-Identifier: Apache-2.0
// The builds that baselines were measured with, kept in a folder, so that a case's base can be
// measured on another machine. A build is known by the fingerprint that the baseline has of it:
// what else is in the folder, and who wrote it, does not matter. The machine code of a source is
// known by its kernel and what its variables begin with, once it has run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/catalogue.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::runner {

/// The files that a case was measured with: a plugin's modules and the libraries beside them, or
/// the machine code of a source.
struct Build {
    std::string code;  ///< fingerprint; empty: it is not known, or the case has no such files
    std::vector<std::filesystem::path> files;
};

/// The fingerprint of a build of a case that ran this code; empty as in Build.
std::string code_of_build(const model::Subject& subject, const std::vector<model::Kernel>& kernels,
                          const std::string& host_code);

/// The build of a measured case; the workloads name the files of plugins.
Build build_of(const model::Subject& subject, const model::CaseResult& result,
               const model::WorkloadCatalogue& workloads);

class KeptBuilds {
  public:
    static constexpr std::uintmax_t usual_bytes = std::uintmax_t{1} << 30;

    /// The folder need not exist. Beyond `most_bytes` it removes the builds that were kept
    /// least recently.
    explicit KeptBuilds(std::filesystem::path folder, std::uintmax_t most_bytes = usual_bytes);

    /// Keeps a build as a whole, unless it is there already. Several processes may do that at once.
    /// Returns why it is not kept, in one line; empty: it is.
    [[nodiscard]] std::string keep(const Build& build) const;

    struct Taken {
        std::vector<std::filesystem::path> files;  ///< what to load: a plugin, or machine code
        std::string problem;                       ///< why there is none, in one line
    };
    /// Copies the build into an empty folder and checks the copy: its files must be those of the
    /// fingerprint, and libraries those that the baseline names. What is not accounted for is
    /// refused with all of it.
    [[nodiscard]] Taken take(const std::string& code, const model::Libraries& libraries,
                             const std::filesystem::path& to) const;

  private:
    std::filesystem::path folder_;
    std::uintmax_t most_bytes_;
};

}  // namespace perfgate::runner
