// SPDX-License-Identifier: Apache-2.0
#include "kinds/plugin/plugin.hpp"

#include "model/catalogue.hpp"

namespace perfgate::plugin {

std::string Plugin::absent(const model::CaseSpec& spec,
                           const model::WorkloadCatalogue& offered) const {
    return model::why_not_offered(spec, offered);
}

}  // namespace perfgate::plugin
