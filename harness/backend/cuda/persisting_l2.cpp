// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/persisting_l2.hpp"

#include "backend/cuda/driver.hpp"

namespace perfgate::backend::cuda {

std::size_t persisting_l2_bytes() {
    std::size_t bytes = 0;
    // An error means a device without the feature (before compute capability 8.0, some MIG modes).
    const CUresult code = driver().cuCtxGetLimit(&bytes, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
    return code == CUDA_SUCCESS ? bytes : 0;
}

NothingSetAside::NothingSetAside() : bytes_(persisting_l2_bytes()) {
    constexpr const char* what = "cannot release the lines that the variant keeps in the L2 cache";
    check(driver().cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0), what);
    check(driver().cuCtxResetPersistingL2Cache(), what);
}

NothingSetAside::~NothingSetAside() {
    driver().cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, bytes_);
}

void forget_persisting_l2(CUstream stream) noexcept {
    if (persisting_l2_bytes() == 0) return;
    CUstreamAttrValue none{};
    none.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_NORMAL;
    none.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_NORMAL;
    driver().cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &none);
    driver().cuCtxResetPersistingL2Cache();
    driver().cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
}

}  // namespace perfgate::backend::cuda
