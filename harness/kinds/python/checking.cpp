// SPDX-License-Identifier: Apache-2.0
#include "kinds/python/checking.hpp"

#include <fmt/format.h>

#include "kinds/python/kernel.hpp"

namespace perfgate::python {

kinds::Findings check_kernels(const kinds::Machine& /*machine*/,
                              const std::vector<kinds::SuiteCase>& cases,
                              const std::vector<std::string>& /*architectures*/) {
    kinds::Findings found;
    for (const kinds::SuiteCase& each : cases) {
        const auto& kernel = dynamic_cast<const Kernel&>(*each.subject);
        if (kernel.open().empty()) continue;
        found.done.push_back(fmt::format("{}: {}", each.place, kernel.open()));
    }
    return found;
}

}  // namespace perfgate::python
