// SPDX-License-Identifier: Apache-2.0
// What counters are restricted to while the program runs: which NVTX ranges are open, and which
// launches count for which label.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "inject/counter_request.hpp"
#include "inject/nvtx_hooks.hpp"

namespace perfgate::inject {

class RangeWatch final : public RangeSink {
  public:
    /// Labels without `within` are ignored.
    explicit RangeWatch(const std::vector<CounterLabel>& labels);

    [[nodiscard]] bool recording() const noexcept override { return watching_; }
    activity::StringId text(std::string_view text) noexcept override;
    std::uint32_t begin(activity::StringId domain, activity::StringId name) noexcept override;
    void end(std::uint32_t id) noexcept override;

    /// Whether a range of the label is open that is none of those to skip.
    bool is_inside(std::size_t label, std::uint32_t thread);
    /// Whether memory ran out, so that ranges were missed.
    [[nodiscard]] bool failed() const { return failed_; }

    /// Around a fork, so that no other thread holds the lock in the child.
    void before_fork() { mutex_.lock(); }
    void after_fork() { mutex_.unlock(); }
    /// From here on, no range counts.
    void abandon() noexcept { watching_ = false; }

  private:
    struct Label {
        std::string within;
        bool own_thread = false;
        std::uint64_t to_skip = 0;
        std::uint64_t open = 0;
        std::map<std::uint32_t, std::uint64_t> open_by_thread;
        std::unordered_map<std::string, bool> matches;  ///< by the range's name
    };
    struct Open {
        std::uint32_t thread = 0;
        std::vector<std::size_t> labels;
    };

    std::atomic<bool> watching_{false}, failed_{false};
    std::atomic<std::uint32_t> next_{1};
    std::mutex mutex_;
    std::vector<Label> labels_;
    std::vector<std::string> texts_{std::string()};  ///< by id
    std::unordered_map<std::string, activity::StringId> ids_;
    std::unordered_map<std::uint32_t, Open> open_;  ///< by range, those that count
};

/// Which launches are counted for which label: those of its kernels after the first ones, up to its
/// number.
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
