// SPDX-License-Identifier: Apache-2.0
// A case of a source: a kernel of a file that its suite names, with its launch and arguments.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "model/subject.hpp"

namespace perfgate::source {

class Source final : public model::Subject {
  public:
    explicit Source(model::SourceKernel kernel) : kernel_(std::move(kernel)) {}

    std::string_view kind() const override { return "source"; }
    std::string_view in_words() const override { return "a source"; }
    void describe(model::CaseResult& result) const override { result.source = kernel_.file; }
    std::string identity() const override;
    model::SideDifferences sides() const override { return {.checkouts = true}; }
    std::shared_ptr<const model::Subject> placed(const model::Placement& placement) const override;
    std::string absent(const model::CaseSpec& spec,
                       const model::WorkloadCatalogue& offered) const override;
    const model::SourceKernel* kernel() const override { return &kernel_; }
    std::shared_ptr<const model::Subject> with_machine_code(const std::string& file) const override;

  private:
    model::SourceKernel kernel_;
};

}  // namespace perfgate::source
