// SPDX-License-Identifier: Apache-2.0
//
// NVTX ranges of the domain "perfgate", so that a timeline in nsys, and ncu's --nvtx filters, show
// which case and phase is running. Cost nothing without such a tool.
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
