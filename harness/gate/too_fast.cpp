// SPDX-License-Identifier: Apache-2.0
#include "gate/too_fast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gate/batch_rule.hpp"
#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

double device_seconds(const model::CaseResult& result) {
    const model::MetricSeries* time = model::device_time(result);
    return time == nullptr ? 0 : estimate_of(*time) * 1e-9;
}

std::string negative(const model::MetricSeries& series, std::string_view what) {
    if (series.unit == "%" || series.unit == "ratio") return {};
    const std::vector<double> values = values_of_all_rounds(series);
    const auto least = std::min_element(values.begin(), values.end());
    if (least == values.end() || !(*least < 0)) return {};
    return fmt::format("{}{} is no amount: repair what reports it, then measure again", what,
                       model::quantity_text(*least, series.unit));
}

std::string too_fast(const model::CaseResult& result, const model::Environment& environment) {
    const double seconds = device_seconds(result);
    if (!result.work || !(seconds > 0)) return {};
    const model::Work& work = *result.work;
    const model::Ceilings& ceilings = environment.ceilings;
    const auto impossible = [&](double least_s, std::string_view amount, std::string_view rate) {
        return fmt::format(
            "too fast to be true: {} for {}, which takes at least {} at {}; does it do all of its "
            "work? If so, the plugin or the suite states too much",
            model::quantity_text(seconds * 1e9, "ns"), amount,
            model::quantity_text(least_s * 1e9, "ns"), rate);
    };
    if (ceilings.copy_bytes_per_s > 0) {
        const double uncached =
            std::max(0.0, work.bytes - static_cast<double>(environment.device.l2_bytes));
        const double least_s = uncached / ceilings.copy_bytes_per_s;
        if (least_s > ceiling_margin * seconds) {
            return impossible(
                least_s, model::quantity_text(work.bytes, "bytes"),
                fmt::format("this run's copy bandwidth of {}, with a full L2 cache",
                            model::quantity_text(ceilings.copy_bytes_per_s, "bytes/s")));
        }
    }
    const auto rate = ceilings.matrix_flops_per_s.find(work.arithmetic);
    if (rate != ceilings.matrix_flops_per_s.end() && rate->second > 0) {
        const double least_s = work.flops / rate->second;
        if (least_s > ceiling_margin * seconds) {
            return impossible(
                least_s, model::quantity_text(work.flops, "flop"),
                fmt::format("this run's {} matrix rate of {}", util::printable(work.arithmetic, 40),
                            model::quantity_text(rate->second, "flop/s")));
        }
    }
    return {};
}

}  // namespace perfgate::gate
