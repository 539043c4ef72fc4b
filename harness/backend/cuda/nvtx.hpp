// SPDX-License-Identifier: Apache-2.0
//
// NVTX ranges in the domain "perfgate", so that a timeline in nsys and the --nvtx filters of ncu
// show which case and phase is running. Free without such a tool.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace perfgate::backend::cuda {

/// A range on the calling thread, from construction to destruction. Ranges nest.
class NvtxRange {
  public:
    explicit NvtxRange(const std::string& name) {
        nvtxEventAttributes_t attributes{};
        attributes.version = NVTX_VERSION;
        attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
        attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
        attributes.message.ascii = name.c_str();
        nvtxDomainRangePushEx(domain(), &attributes);
    }
    ~NvtxRange() { nvtxDomainRangePop(domain()); }
    NvtxRange& operator=(NvtxRange&&) = delete;  // nor copied

  private:
    static nvtxDomainHandle_t domain() {
        static const nvtxDomainHandle_t handle = nvtxDomainCreateA("perfgate");
        return handle;
    }
};

}  // namespace perfgate::backend::cuda
