// SPDX-License-Identifier: Apache-2.0
// Measuring one case with a backend: verify, warm up, record, time; and the counters of many.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "measure/backend.hpp"
#include "measure/case_settings.hpp"
#include "model/run.hpp"
#include "model/source_kernel.hpp"

namespace perfgate::measure {

/// "set-up", "code", "verify", "fill", "compile", "warm-up", "record", "time", "tear-down",
/// "counters": reported as each begins. "verify" fills and compiles, too.
using PhaseObserver = std::function<void(std::string_view phase)>;

class CaseMeasurement {
  public:
    explicit CaseMeasurement(Backend& backend);

    const Capabilities& capabilities() const { return capabilities_; }

    /// Verifies and times the case; fills status, verification, kernels, metrics. Counter metrics
    /// are left to collect_counters. Errors of the case become CaseStatus::error; DeviceLost is
    /// thrown after that is noted in `result`. With `times_only`, the result has only the new
    /// batches and readings; with `code_only`, only kernels and host code.
    void measure(model::CaseResult& result, const CaseSettings& settings,
                 const PhaseObserver& observe);

    struct CounterJob {
        model::CaseResult* result;
        CaseSettings settings;
    };
    /// Collects the counter metrics of measured cases and folds them into the results.
    void collect_counters(const std::vector<CounterJob>& jobs, const PhaseObserver& observe);

    /// As Backend has it. Throws util::Error if the case cannot be set up.
    model::CaseCode machine_code(const model::CaseResult& result, const CaseSettings& settings,
                                 const PhaseObserver& observe);

  private:
    void time_case(Case& opened, model::CaseResult& result, const CaseSettings& settings);
    /// Records a launch, if launches can be recorded, and the code that the case runs on the host.
    void record_code(Case& opened, model::CaseResult& result, const CaseSettings& settings) const;
    const model::VariantInfo& variant(const model::CaseResult& result,
                                      const CaseSettings& settings) const;
    CaseFacts facts(const model::CaseResult& result, const CaseSettings& settings) const;
    std::unique_ptr<Case> open(const model::CaseResult& result, const CaseSettings& settings) const;

    Backend& backend_;
    Capabilities capabilities_;
    bool device_warm_ = false;
};

/// What a source's case needs, which its suite states.
CaseFacts facts_of(const model::SourceKernel& kernel);

}  // namespace perfgate::measure
