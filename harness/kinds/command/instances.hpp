// SPDX-License-Identifier: Apache-2.0
// The NVTX ranges and the kernels that a piece means, in the recordings of one run of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "activity/timeline.hpp"
#include "kinds/command/command.hpp"
#include "kinds/command/recorded.hpp"
#include "model/interval.hpp"

namespace perfgate::command {

/// Names that messages list at most.
inline constexpr std::size_t most_names = 8;

inline double as_double(std::uint64_t value) {
    return static_cast<double>(value);
}

/// An NVTX range that counts: it has ended, is wholly in the part that counts, and is none of the
/// first there that are skipped.
struct Instance {
    const activity::Timeline* timeline;
    model::Interval time;
    std::optional<std::uint32_t> thread;  ///< of which the launches count; nothing: all
    std::size_t place;  ///< among all matching ranges of the process that have ended, from 0
};

struct Instances {
    std::vector<Instance> counted;
    std::size_t matched = 0;       ///< in the part that counts, the skipped ones included
    std::size_t outside = 0;       ///< match and are not, or only partly, in that part
    std::size_t open = 0;          ///< match, begin in that part and never end
    std::set<std::string> others;  ///< names that the pattern does not match
};

Instances instances_of(const Recorded& recorded, const std::string& pattern, const Piece& piece,
                       std::int64_t skip);

/// Whether a kernel's name, as C++ writes it or as the machine code has it, and its size are meant.
class KernelPattern {
  public:
    /// The piece outlives it.
    explicit KernelPattern(const Piece& piece) : piece_(piece) {}

    bool matches(const activity::Timeline& timeline, const activity::Work& work);
    /// The sizes of kernels that only their name matches; without such kernels, names that do not.
    [[nodiscard]] const std::set<std::string>& others() const {
        return other_sizes_.empty() ? other_names_ : other_sizes_;
    }

  private:
    const Piece& piece_;
    std::unordered_map<std::string, bool> known_;
    std::set<std::string> other_names_, other_sizes_;
};

}  // namespace perfgate::command
