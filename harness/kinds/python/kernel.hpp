// SPDX-License-Identifier: Apache-2.0
// A case of a workload in Python. A worker in the user's interpreter offers it like a plugin's, and
// knows all about it by its name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/catalogue.hpp"
#include "model/choices.hpp"
#include "model/subject.hpp"

namespace perfgate::python {

class Kernel final : public model::Subject {
  public:
    Kernel() = default;
    /// Of one that stands for a workload's cases (model::unknown_cases): why these are not known.
    explicit Kernel(std::string open) : open_(std::move(open)) {}

    const std::string& open() const { return open_; }
    std::string_view kind() const override { return "python"; }
    std::string_view in_words() const override { return "a Python kernel"; }
    model::SideDifferences sides() const override {
        return {.checkouts = true, .environments = true};
    }
    std::string absent(const model::CaseSpec& spec,
                       const model::WorkloadCatalogue& offered) const override {
        return model::why_not_offered(spec, offered);
    }
    /// Each process compiles and tunes anew.
    std::vector<model::MetricDefinition> own_metrics() const override {
        return {model::prepare_time_definition()};
    }

  private:
    std::string open_;
};

}  // namespace perfgate::python
