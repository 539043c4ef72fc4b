// SPDX-License-Identifier: Apache-2.0
// The cases of a suite: every combination of an entry's matrix, with its variants and cache states.
#pragma once

#include <cstddef>
#include <vector>

#include "suite/command_reader.hpp"
#include "suite/entry_reader.hpp"
#include "suite/matrix.hpp"
#include "suite/problems.hpp"
#include "suite/suite.hpp"

namespace perfgate::suite {

class CaseBuilder {
  public:
    /// Adds to the cases and commands of `suite`.
    CaseBuilder(Suite& suite, Work& work, Problems& problems)
        : suite_(suite), work_(work), problems_(problems) {}

    /// The cases of a plugin's or a source's workload; `entry` is the entry's index in the suite.
    void add(const ReadEntry& read, std::size_t entry);

    /// The cases of a program: a command for each combination, a case for each of its labels, whose
    /// entries begin at `first_entry`.
    void add(const ReadCommand& read, const Matrix& matrix, std::size_t first_entry);

  private:
    std::vector<model::Cache> caches_of(const ReadEntry& read, const Entry& entry,
                                        const model::VariantInfo& variant) const;
    /// Accounts for `groups` times the combinations of the matrix.
    void count(const Matrix& matrix, std::size_t groups, Position at);
    [[noreturn]] void refuse_product(const Matrix& matrix, std::size_t groups, Position at);
    /// `first`: the first case that the matrix may have made.
    void check_excludes(const Matrix& matrix, const std::vector<bool>& used_excludes,
                        std::size_t first, Position at);
    void add_case(model::CaseSpec spec, Position at, const model::WorkloadInfo& workload,
                  const model::VariantInfo& variant, std::size_t entry);

    Suite& suite_;
    Work& work_;
    Problems& problems_;
    std::size_t combinations_ = 0;  ///< of all entries
};

}  // namespace perfgate::suite
