// SPDX-License-Identifier: Apache-2.0
//
// NVTX ranges in the domain "perfgate", so that a timeline in nsys and the --nvtx filters of ncu
// show which case and phase is running. Free without such a tool.
#pragma once

#include <string>

namespace perfgate::backend::cuda {

/// A range on the calling thread, from construction to destruction. Ranges nest.
class NvtxRange {
  public:
    explicit NvtxRange(const std::string& name);
    ~NvtxRange();
    NvtxRange(const NvtxRange&) = delete;
    NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace perfgate::backend::cuda
