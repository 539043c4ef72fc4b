// SPDX-License-Identifier: Apache-2.0
// CUPTI's PC sampling: where the warps of a context's kernels are at regular times, and what they
// wait for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/api.hpp"

namespace perfgate::cupti {

/// So many samples were of an instruction, for one reason.
struct PcSample {
    std::string_view function;  ///< mangled
    std::uint64_t offset = 0;   ///< of the instruction, bytes
    std::string_view reason;    ///< "long_scoreboard"; "selected": the warp was issued
    std::int64_t count = 0;
};

/// Sampling is enabled on the context during its lifetime. All functions but the destructor throw
/// util::Error.
class PcSampling {
  public:
    using Visit = std::function<void(const PcSample&)>;

    /// After load_counters(); the Api outlives it. A sample of each SM every 2^`period` cycles.
    PcSampling(const Api& api, CUcontext context, std::uint32_t period);
    ~PcSampling();
    PcSampling& operator=(PcSampling&&) = delete;  // nor copied

    /// CUPTI samples the launches between start() and stop(). The context is idle at both.
    void start();
    void stop(const Visit& visit);
    /// What CUPTI put aside when a module was loaded or unloaded, before it does so again.
    void take_put_aside(const Visit& visit);
    /// Ends it.
    void finish(const Visit& visit);

    /// Of the hardware, so far: also those of functions without a name, and those that are lost.
    [[nodiscard]] std::int64_t all() const { return all_; }
    /// How many of them are lost.
    [[nodiscard]] std::int64_t dropped() const { return dropped_; }
    /// Others are missing, and nobody knows how many: a buffer was full.
    [[nodiscard]] bool overflowed() const { return overflowed_; }

  private:
    struct Buffer;

    template <class Params>
    Params params(std::size_t size) const;
    void configure(std::uint32_t period);
    void read_reasons();
    void take(Buffer& buffer, const Visit& visit);
    void disable();

    const Api& api_;
    CUcontext context_;
    std::vector<std::uint32_t> reasons_;  ///< their numbers
    std::map<std::uint32_t, std::string> names_;
    std::unique_ptr<Buffer> configured_, fetched_;
    std::int64_t all_ = 0, dropped_ = 0;
    bool enabled_ = false, overflowed_ = false;
};

}  // namespace perfgate::cupti
