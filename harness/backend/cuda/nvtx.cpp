// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nvtx.hpp"

#include <nvtx3/nvToolsExt.h>

namespace perfgate::backend::cuda {
namespace {

nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t handle = nvtxDomainCreateA("perfgate");
    return handle;
}

}  // namespace

NvtxRange::NvtxRange(const std::string& name) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name.c_str();
    nvtxDomainRangePushEx(domain(), &attributes);
}

NvtxRange::~NvtxRange() {
    nvtxDomainRangePop(domain());
}

}  // namespace perfgate::backend::cuda
