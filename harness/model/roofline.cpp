// SPDX-License-Identifier: Apache-2.0
#include "model/roofline.hpp"

#include <fmt/format.h>

#include <cmath>

#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::model {

namespace {

constexpr std::string_view copy_ceiling = "copy", link_ceiling = "link";

/// The first measured time: without kernel records there is only the span.
constexpr const char* times[] = {"gpu_time", "gpu_span"};

/// The rate for work of this arithmetic type, per second; 0 if there is none.
double matrix_rate(const Work& work, const Ceilings& ceilings) {
    const auto found = ceilings.matrix_flops_per_s.find(work.arithmetic);
    return found != ceilings.matrix_flops_per_s.end() && found->second > 0 ? found->second : 0;
}

}  // namespace

std::string_view to_text(Bound bound) {
    return util::word_of<Bound::link>(bound, {"memory", "compute", "neither", "link"});
}

std::string_view bound_word(Bound bound) {
    return bound == Bound::neither ? "latency" : to_text(bound);
}

std::optional<Bound> bound_named(std::string_view word) {
    for (const Bound bound : {Bound::memory, Bound::compute, Bound::neither}) {
        if (bound_word(bound) == word) return bound;
    }
    return std::nullopt;
}

std::optional<Bound> expected_bound(const Relation& relation) {
    if (!compares_property(relation, bound_operand)) return std::nullopt;
    const double number = std::get<double>(relation.right.front());
    for (const Bound bound : {Bound::memory, Bound::compute, Bound::neither}) {
        if (number == static_cast<double>(bound)) return bound;
    }
    return std::nullopt;
}

const MetricSeries* device_time(const CaseResult& result) {
    for (const char* metric : times) {
        const auto found = result.metrics.find(metric);
        if (found != result.metrics.end() && found->second.unit == "ns") return &found->second;
    }
    return nullptr;
}

std::string missing_ceiling(const Work& work, const Ceilings& ceilings) {
    const std::string why =
        ceilings.problem.empty() ? "" : ": " + util::printable(ceilings.problem, 300);
    if (!(ceilings.copy_bytes_per_s > 0)) return "the run has no copy bandwidth" + why;
    if (!(work.flops > 0) || matrix_rate(work, ceilings) > 0) return {};
    if (work.arithmetic.empty()) {
        return fmt::format("the workload states operations but not their type: {}",
                           where_to_state_work);
    }
    return fmt::format("the run has no matrix rate of {}{}", util::printable(work.arithmetic, 40),
                       why);
}

std::optional<CeilingShare> ceiling_share(const CaseResult& result, const Ceilings& ceilings) {
    const auto bus = result.metrics.find("bus_bandwidth");
    if (bus != result.metrics.end() && ceilings.link_bytes_per_s > 0 && bus->second.value > 0) {
        const double share = bus->second.value / ceilings.link_bytes_per_s;
        return CeilingShare{share >= near_share ? Bound::link : Bound::neither,
                            std::string(link_ceiling), share};
    }
    const MetricSeries* time = device_time(result);
    if (!result.work || time == nullptr) return std::nullopt;
    return ceiling_share(*result.work, time->value * 1e-9, ceilings);
}

std::optional<CeilingShare> ceiling_share(const Work& work, double seconds,
                                          const Ceilings& ceilings) {
    if (!(seconds > 0) || !missing_ceiling(work, ceilings).empty()) return std::nullopt;
    const double memory = work.bytes / ceilings.copy_bytes_per_s;
    const double compute = work.flops > 0 ? work.flops / matrix_rate(work, ceilings) : 0;
    CeilingShare share;
    share.ceiling = memory >= compute ? std::string(copy_ceiling) : work.arithmetic;
    share.share = std::fmax(memory, compute) / seconds;
    if (!(share.share > 0) || !std::isfinite(share.share)) return std::nullopt;
    if (share.share >= near_share) {
        share.bound = memory >= compute ? Bound::memory : Bound::compute;
    }
    return share;
}

std::string in_words(const CeilingShare& share) {
    if (share.ceiling == link_ceiling) {
        return fmt::format("{:.0f} % of the links' bandwidth", share.share * 100);
    }
    const std::string ceiling = share.ceiling == copy_ceiling
                                    ? "copy bandwidth"
                                    : util::printable(share.ceiling, 40) + " matrix rate";
    // The copy is larger than the L2 cache, the case need not be.
    const bool from_cache = share.ceiling == copy_ceiling && std::round(share.share * 100) > 100;
    const std::string of = fmt::format("{:.0f} % of {}{}", share.share * 100, ceiling,
                                       from_cache ? " (partly from cache)" : "");
    if (share.bound == Bound::neither) return of + ", far from both ceilings";
    return fmt::format("{}, {}-bound", of, to_text(share.bound));
}

std::string in_words(const Ceilings& ceilings) {
    std::string text;
    const auto add = [&](std::string_view name, double value, std::string_view unit) {
        if (!(value > 0)) return;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", util::printable(name, 40),
                            quantity_text(value, unit));
    };
    add(copy_ceiling, ceilings.copy_bytes_per_s, "bytes/s");
    for (const auto& [type, rate] : ceilings.matrix_flops_per_s) add(type, rate, "flop/s");
    add(link_ceiling, ceilings.link_bytes_per_s, "bytes/s");
    return text;
}

}  // namespace perfgate::model
