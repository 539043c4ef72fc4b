// SPDX-License-Identifier: Apache-2.0
// What the host did while the GPU was idle, by samples of its stacks (stacks/). Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "activity/profile.hpp"
#include "activity/timeline.hpp"

namespace perfgate::activity {

/// "running", "waiting for a lock".
std::string_view to_text(HostState state);

/// Time in which the thread that would submit work is looked at.
struct HostPiece {
    Interval time;
    std::uint32_t thread = 0;
};

/// The gaps, each with the thread that launched what ended it; where that is not known, the main
/// one.
std::vector<HostPiece> host_pieces(const Timeline& timeline, std::span<const Interval> gaps);

class HostSamples {
  public:
    /// The timeline must outlive it.
    explicit HostSamples(const Timeline& timeline);

    [[nodiscard]] bool empty() const { return by_thread_.empty(); }

    /// What the pieces' threads did in them, and what ran meanwhile.
    [[nodiscard]] HostStacks in(std::span<const HostPiece> pieces) const;
    /// The same as a tree of functions, outermost first.
    [[nodiscard]] std::vector<FlameFrame> flame(std::span<const HostPiece> pieces) const;

    /// "train > fetch": the functions of a stack, outermost first.
    [[nodiscard]] std::string stack_text(std::uint32_t frame) const;

  private:
    /// A frame with what its thread did: a HostState, or behind these the name of a CUDA call.
    using Doing = std::pair<std::uint32_t, std::uint32_t>;
    using Times = std::map<Doing, std::uint64_t>;
    using Thread = std::pair<std::uint32_t, std::uint32_t>;  ///< and its process

    [[nodiscard]] Times times(std::span<const HostPiece> pieces) const;
    [[nodiscard]] std::string doing_text(std::uint32_t doing) const;
    [[nodiscard]] HostActivity activity_of(std::uint32_t frame) const;
    [[nodiscard]] bool is_own(std::uint32_t frame) const;
    [[nodiscard]] bool is_of_system(std::uint32_t frame) const;
    [[nodiscard]] std::string function(std::uint32_t frame) const;

    const Timeline& timeline_;
    std::uint32_t process_ = 0;
    std::map<Thread, std::vector<const HostSample*>> by_thread_;
};

/// "81 % in Loader.__next__ → Queue.get, waiting for data, 12 % in Images.__getitem__; meanwhile
/// …"; empty where nothing is known.
std::string host_text(const HostStacks& stacks, std::size_t most = 2);

}  // namespace perfgate::activity
