// SPDX-License-Identifier: Apache-2.0
// NVTX ranges without CUPTI: takes the range functions of each copy of NVTX in the process.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <string_view>

#include "activity/record.hpp"

namespace perfgate::inject {

/// What is done with ranges. All functions may be called from any thread, until the process ends.
class RangeSink {
  public:
    virtual ~RangeSink() = default;

    /// Whether ranges are still of use.
    [[nodiscard]] virtual bool recording() const noexcept = 0;
    /// An id for a name.
    virtual activity::StringId text(std::string_view text) noexcept = 0;
    /// The id of the new range, not 0.
    virtual std::uint32_t begin(activity::StringId domain, activity::StringId name) noexcept = 0;
    virtual void end(std::uint32_t id) noexcept = 0;
};

/// `sink` is the same in each call, and never destroyed. Nonzero if the functions were taken.
int take_ranges(NvtxGetExportTableFunc_t export_table, RangeSink& sink) noexcept;

}  // namespace perfgate::inject
