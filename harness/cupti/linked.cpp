// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include "cupti/api.hpp"

namespace perfgate::cupti {

const Api& linked(bool counters) {
    static const Api api = [] {
        Api own;
#define PERFGATE_CUPTI_TAKE(name) own.name = &::name;
        PERFGATE_CUPTI_FUNCTIONS(PERFGATE_CUPTI_TAKE)
        PERFGATE_CUPTI_COUNTER_FUNCTIONS(PERFGATE_CUPTI_TAKE)
#undef PERFGATE_CUPTI_TAKE
        Dl_info file{};
        if (dladdr(reinterpret_cast<void*>(own.cuptiGetVersion), &file) != 0) {
            own.path = file.dli_fname;
        }
        check(own, own.cuptiGetVersion(&own.version), "cannot read CUPTI's version");
        return own;
    }();
    if (counters) {
        static const bool preloaded = (preload_metric_libraries(api), true);
        (void)preloaded;
    }
    return api;
}

}  // namespace perfgate::cupti
