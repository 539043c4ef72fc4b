// SPDX-License-Identifier: Apache-2.0
// Which NVTX ranges are open while the program runs, as far as counters are restricted to them.
#pragma once

#include <atomic>
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

}  // namespace perfgate::inject
