// SPDX-License-Identifier: Apache-2.0
#include "measure/shared.hpp"

#include <string>

namespace perfgate::measure {

void Shared::tell(const Item& item, std::string_view phase) {
    if (!options.progress) return;
    const std::string id = model::case_id(item.planned->spec);
    const std::lock_guard lock(progress_);
    options.progress({*item.suite, id, phase, done, total});
}

}  // namespace perfgate::measure
