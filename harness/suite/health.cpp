// SPDX-License-Identifier: Apache-2.0
#include "suite/label_reader.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "suite/amount.hpp"
#include "suite/keys.hpp"

namespace perfgate::suite {

namespace {

struct HealthGate {
    std::string_view name;        ///< as in `health: {step: {NAME: LIMIT}}`
    std::string_view left;        ///< an expression, "{0}" for the range
    std::string_view comparator;  ///< with the limit, what is expected
    std::string_view limit;       ///< if the suite states none
    std::string_view unit;        ///< of limits: a metric's
    std::string_view reason;
};

constexpr HealthGate health_gates[] = {
    {"pageable_copies", "{0}.pageable_copies", "<=", "0", "count",
     "a copy of pageable memory is staged by the driver and holds up the host: allocate that "
     "memory pinned"},
    {"syncs", "{0}.syncs", "<=", "0", "count",
     "while the host waits for the device it launches nothing, so the device runs empty "
     "afterwards: read results later, or once for many steps"},
    {"idle_share", "{0}.idle_share", "<=", "10%", "%",
     "the device waits for the host: launch less often (CUDA graphs, fused kernels) or prepare "
     "data in other threads"},
    {"underfilled_share", "{0}.underfilled_share", "<=", "50%", "%",
     "kernels with fewer blocks than half of the SMs keep the device busy but not full: give them "
     "more work at a time, or run them at the same time on several streams"},
    {"exposed_communication_share", "{0}.exposed_communication_share", "<=", "10%", "%",
     "communication that no computation overlaps leaves the SMs idle: start it earlier, or divide "
     "it into pieces"},
    {"time_per_launch", "{0}.gpu_time / {0}.host_launches", ">=", "10us", "ns",
     "a launch costs the host several microseconds, so launches of less work make the host the "
     "limit: fuse kernels or launch a CUDA graph"},
};

bool is_none(const YamlNode& node) {
    return node.kind == YamlNode::Kind::scalar && node.plain && node.text == "none";
}

/// The text of the limit; nothing (and a problem) if it is no amount of the gate's kind.
std::optional<std::string> read_limit(const YamlNode& node, const HealthGate& gate,
                                      Problems& problems) {
    const std::size_t before = problems.count();
    const std::optional<Amount> amount = read_amount(node, gate.name, problems);
    const bool fits = amount && (!amount->unit.empty() || gate.unit != "ns") &&
                      in_unit(*amount, gate.unit).has_value();
    if (fits) return node.text;
    if (problems.count() == before) {
        add_wrong_type(node, gate.name, fmt::format("a limit such as {}, or none", gate.limit),
                       problems);
    }
    return std::nullopt;
}

}  // namespace

std::vector<KeyText> tables::health() {
    std::vector<KeyText> keys;
    for (const HealthGate& gate : health_gates) {
        keys.push_back({std::string(gate.name),
                        fmt::format("`{}`: {}.", gate.comparator, gate.reason),
                        defined("health_limit"), false, std::string(gate.limit)});
    }
    return keys;
}

std::vector<StatedRelation> health_of(std::string_view range, const YamlNode* limits, Position at,
                                      Problems& problems) {
    std::optional<Fields> fields;
    if (limits != nullptr) {
        fields.emplace(*limits, "a range of 'health'", key_names(tables::health()), problems);
    }
    std::vector<StatedRelation> relations;
    for (const HealthGate& gate : health_gates) {
        const YamlNode* stated = fields ? fields->find(gate.name) : nullptr;
        if (stated != nullptr && is_none(*stated)) continue;
        std::optional<std::string> limit{gate.limit};
        if (stated != nullptr) limit = read_limit(*stated, gate, problems);
        if (!limit) continue;
        relations.push_back({fmt::format(fmt::runtime(gate.left), range),
                             fmt::format("{} {}", gate.comparator, *limit),
                             std::string(gate.reason), stated != nullptr ? stated->at : at});
    }
    return relations;
}

}  // namespace perfgate::suite
