// SPDX-License-Identifier: Apache-2.0
// A program with NVTX ranges of every kind, linked without the CUDA driver. With the word "cuda" it
// loads the driver; "deep" opens more ranges than are recorded.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <string>

namespace {

nvtxEventAttributes_t event() {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    return attributes;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (!what.empty() && dlopen("libcuda.so.1", RTLD_NOW) == nullptr) return 3;
    if (what == "deep") {
        for (int i = 0; i < 200; ++i) nvtxRangePushA("deep");
        for (int i = 0; i < 200; ++i) nvtxRangePop();
        return 0;
    }
    nvtxRangePushW(L"wide \u00b5");
    nvtxRangePop();

    nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
    nvtxEventAttributes_t registered = event();
    registered.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    registered.message.registered = nvtxDomainRegisterStringA(domain, "forward");
    nvtxDomainRangePushEx(domain, &registered);
    // The stacks of domains are apart: this one ends although the domain's is still open.
    nvtxEventAttributes_t plain = event();
    plain.messageType = NVTX_MESSAGE_TYPE_ASCII;
    plain.message.ascii = "inner";
    nvtxRangePushEx(&plain);
    nvtxRangePushA("innermost");
    nvtxDomainRangePop(domain);
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangePop();  // none is open

    const nvtxRangeId_t id = nvtxDomainRangeStartEx(domain, &registered);
    nvtxDomainRangeEnd(domain, id);
    return 0;
}
