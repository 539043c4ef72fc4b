// SPDX-License-Identifier: Apache-2.0
// A case of a benchmark: a program that measures itself, and reports a result under a name and
// parameters, which are not known before it has run.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kinds/benchmark/formats/layout.hpp"
#include "kinds/command/command.hpp"

namespace perfgate::benchmark {

class Benchmark final : public command::CommandSubject {
  public:
    /// `result` is the name and axes that it reports (id_of in results.hpp); empty: it stands for
    /// all that one process reports.
    Benchmark(std::shared_ptr<const command::Command> command, Layout layout,
              std::string result = {})
        : CommandSubject(std::move(command)),
          layout_(std::move(layout)),
          result_(std::move(result)) {}

    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] const std::string& result() const { return result_; }

    std::string_view kind() const override { return "benchmark"; }
    std::string_view in_words() const override { return "a benchmark"; }
    void describe(model::CaseResult& result) const override;
    std::vector<model::MetricDefinition> own_metrics() const override;
    bool needs_gpu() const override;
    std::string group_identity() const override;
    std::string identity() const override;
    std::shared_ptr<const model::Subject> placed(const model::Placement& placement) const override;
    std::shared_ptr<const model::Subject> discovered(
        const model::DiscoveredCase& found) const override;

  private:
    Layout layout_;
    std::string result_;
};

/// Of a benchmark's case in a plan.
const Benchmark& benchmark_of(const model::Subject& subject);

}  // namespace perfgate::benchmark
