// SPDX-License-Identifier: Apache-2.0
// A case of a source: a kernel of a file that its suite names, with its launch and arguments.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/subject.hpp"

namespace perfgate::source {

class Source final : public model::Subject {
  public:
    explicit Source(model::SourceKernel kernel) : kernel_(std::move(kernel)) {}

    std::string_view kind() const override { return "source"; }
    std::string_view in_words() const override { return "a source"; }
    /// What it works on. File, kernel, launch and compiling are code, whose changes are judged.
    model::MeasuredAs measured_as() const override;
    std::vector<model::StatedFact> stated() const override;
    void describe(model::CaseResult& result) const override { result.source = kernel_.file; }
    std::string identity() const override;
    model::SideDifferences sides() const override { return {.checkouts = true}; }
    std::shared_ptr<const model::Subject> placed(const model::Placement& placement) const override;
    std::string absent(const model::CaseSpec& spec,
                       const model::WorkloadCatalogue& offered) const override;
    const model::SourceKernel* kernel() const override { return &kernel_; }

  private:
    model::SourceKernel kernel_;
};

}  // namespace perfgate::source
