// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/persisting_l2.hpp"

#include "backend/cuda/driver.hpp"

namespace perfgate::backend::cuda {

PersistingL2::PersistingL2(CUstream stream) : stream_(stream), usual_bytes_(bytes()) {}

std::size_t PersistingL2::bytes() const {
    std::size_t bytes = 0;
    // An error means a device without the feature (before compute capability 8.0, some MIG modes).
    const CUresult code = driver().cuCtxGetLimit(&bytes, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
    return code == CUDA_SUCCESS ? bytes : 0;
}

bool PersistingL2::has_window() const {
    CUstreamAttrValue value{};
    const CUresult code =
        driver().cuStreamGetAttribute(stream_, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value);
    return code == CUDA_SUCCESS && value.accessPolicyWindow.num_bytes > 0;
}

bool PersistingL2::in_use() const {
    return bytes() != usual_bytes_ || has_window();
}

void PersistingL2::release() const {
    check(driver().cuCtxResetPersistingL2Cache(),
          "cannot release the lines that the variant keeps in the L2 cache");
}

void PersistingL2::restore() const noexcept {
    if (!in_use()) return;
    CUstreamAttrValue none{};
    none.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_NORMAL;
    none.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_NORMAL;
    driver().cuStreamSetAttribute(stream_, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &none);
    driver().cuCtxResetPersistingL2Cache();
    driver().cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, usual_bytes_);
}

}  // namespace perfgate::backend::cuda
