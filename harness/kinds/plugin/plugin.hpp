// SPDX-License-Identifier: Apache-2.0
// A case of a plugin's workload. A worker that has loaded the plugin knows all about it by its
// name.
#pragma once

#include <string>

#include "model/catalogue.hpp"
#include "model/subject.hpp"

namespace perfgate::plugin {

class Plugin final : public model::Subject {
  public:
    std::string_view kind() const override { return "plugin"; }
    std::string_view in_words() const override { return "a kernel plugin"; }
    model::SideDifferences sides() const override { return {.builds = true}; }
    std::string absent(const model::CaseSpec& spec,
                       const model::WorkloadCatalogue& offered) const override {
        return model::why_not_offered(spec, offered);
    }
};

}  // namespace perfgate::plugin
