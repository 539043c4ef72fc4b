// SPDX-License-Identifier: Apache-2.0
// CUPTI's Host API: which metrics a chip has, how many passes they take, and the values in a
// counter-data image. Needs no GPU and no driver, so suites can be validated and recorded images
// decoded anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cupti/counters.hpp"
#include "measure/backend.hpp"

namespace perfgate::backend::cuda {

/// CUPTI's chip names: "GV100" … "GB20B".
std::vector<std::string> supported_chips();

struct MetricInfo {
    std::string description;
    std::string unit;  ///< CUPTI's spelling of the dimension: "nanosecond", "byte", …
    CUpti_MetricType kind = CUPTI_METRIC_TYPE_COUNTER;
};

/// A compiled configuration of metrics for one chip.
struct CounterConfig {
    std::vector<std::string> metrics;  ///< in the order in which values are returned
    std::vector<std::uint8_t> image;
    std::size_t passes = 0;
};

class HostEvaluator {
  public:
    /// `availability`: CUPTI's image of what the current device can count; empty to assume
    /// everything that the chip has. Throws cupti::Error for an unknown chip.
    explicit HostEvaluator(std::string chip, std::vector<std::uint8_t> availability = {});

    [[nodiscard]] const std::string& chip() const { return chip_; }

    /// Whether CUPTI can schedule this full metric name ("dram__bytes.sum") on the chip.
    [[nodiscard]] bool metric_exists(const std::string& metric) const;
    /// Empty for a name that CUPTI does not know.
    [[nodiscard]] std::optional<MetricInfo> describe(const std::string& metric) const;
    /// Names without roll-up ("dram__bytes"), for suggestions and listings.
    [[nodiscard]] std::vector<std::string> base_metrics(CUpti_MetricType kind) const;

    /// The metrics, in their order, divided into those that one configuration can have: CUPTI does
    /// not count NVLink and PCIe together with the SMs. Throws as configure().
    [[nodiscard]] std::vector<std::vector<std::string>> groups(
        const std::vector<std::string>& metrics) const;
    /// Throws util::Error naming the metrics that the chip does not have, and cupti::Error if one
    /// configuration cannot have all of them.
    [[nodiscard]] CounterConfig configure(const std::vector<std::string>& metrics) const;
    /// The passes of all groups() together.
    [[nodiscard]] std::size_t passes(const std::vector<std::string>& metrics) const;

    /// The values of one range of a decoded counter-data image, in the order of `metrics`. NaN
    /// means that the unit was shared or unavailable during recording. CUPTI does not check `range`
    /// against the image: the caller knows how many ranges were recorded.
    [[nodiscard]] std::vector<double> evaluate(std::span<const std::uint8_t> counter_data,
                                               std::size_t range,
                                               const std::vector<std::string>& metrics) const;

  private:
    struct Probe;
    [[nodiscard]] std::unique_ptr<cupti::HostObject> new_object() const;
    /// Throws util::Error naming those that the chip does not have.
    void require(const std::vector<std::string>& metrics) const;

    std::string chip_;
    std::vector<std::uint8_t> availability_;
    std::shared_ptr<cupti::HostObject>
        object_;                    // for queries and evaluation; never gets a bad name added
    std::shared_ptr<Probe> probe_;  // cache of which names can be scheduled
};

/// What chips can count, for validating suites and listing metrics on a machine without a GPU.
class HostCounterCatalogue : public measure::CounterCatalogue {
  public:
    std::vector<std::string> chips() override;
    bool exists(const std::string& chip, const std::string& counter) override;
    std::size_t passes(const std::string& chip, const std::vector<std::string>& counters) override;
    Description describe(const std::string& chip, const std::string& counter) override;

  private:
    /// Throws util::InputError naming the chips for one that CUPTI does not know.
    HostEvaluator& evaluator(const std::string& chip);
    std::map<std::string, std::unique_ptr<HostEvaluator>> evaluators_;
};

}  // namespace perfgate::backend::cuda
