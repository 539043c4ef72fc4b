// SPDX-License-Identifier: Apache-2.0
// Which launches are counted for which label: those of its kernels after the first ones, up to its
// number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "inject/counter_request.hpp"
#include "inject/range_watch.hpp"

namespace perfgate::inject {

class LabelStates {
  public:
    LabelStates(const std::vector<CounterLabel>& labels, RangeWatch& ranges);

    /// The labels whose pattern the kernel's name matches.
    const std::vector<std::size_t>& matching(const std::string& symbol);
    /// The labels that this launch, which is the next one, is to be counted for.
    std::vector<std::size_t> due(const std::string& symbol, const model::LaunchSize& size,
                                 std::uint32_t thread);
    /// Whether the label tells sizes apart.
    [[nodiscard]] bool needs_size(std::size_t label) const {
        return !states_[label].label.size.is_any();
    }

    /// One launch was counted for the label.
    void count(std::size_t label);
    /// Nothing more is counted for the label.
    void finish(std::size_t label);
    /// As finish(); false if the label was refused before.
    bool refuse(std::size_t label);

    /// Nothing more is counted for any label.
    [[nodiscard]] bool all_done() const { return open_ == 0; }

  private:
    struct State {
        CounterLabel label;
        std::uint64_t matched = 0, counted = 0;
        bool done = false, refused = false;
    };

    RangeWatch& ranges_;
    std::vector<State> states_;
    std::size_t open_;
    std::unordered_map<std::string, std::vector<std::size_t>> matching_;
};

/// The name of a kernel, for messages.
std::string readable(const std::string& symbol);

}  // namespace perfgate::inject
