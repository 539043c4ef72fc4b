// SPDX-License-Identifier: Apache-2.0
#include "suite/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include "model/case.hpp"
#include "model/error.hpp"
#include "model/sha256.hpp"
#include "model/text.hpp"

namespace perfgate::suite {

namespace {

constexpr std::int64_t most_shards = 10'000;

std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// A case of the plan, and what it costs to run.
struct Item {
    std::size_t suite = 0, index = 0;
    bool runs = false;  ///< it is not known in advance to be skipped
    double cost = 0;
    std::size_t shard = 0;
};

double median(std::vector<double> values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// In the plan's order.
std::vector<Item> items_of(const model::Plan& plan, const CaseCosts& costs) {
    std::vector<Item> items;
    std::vector<std::optional<double>> known;
    std::map<std::string, std::vector<double>> by_workload;
    std::vector<double> all;
    for (std::size_t s = 0; s < plan.suites.size(); ++s) {
        const model::PlannedSuite& suite = plan.suites[s];
        for (std::size_t i = 0; i < suite.cases.size(); ++i) {
            const model::PlannedCase& planned = suite.cases[i];
            items.push_back({s, i, planned.skip_reason.empty()});
            known.emplace_back();
            if (!items.back().runs) continue;
            const auto found = costs.find({suite.name, model::case_id(planned.spec)});
            if (found == costs.end() || !(found->second > 0) || !std::isfinite(found->second)) {
                continue;
            }
            known.back() = found->second;
            by_workload[planned.spec.workload].push_back(found->second);
            all.push_back(found->second);
        }
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        Item& item = items[i];
        if (!item.runs) continue;
        const auto& workload = plan.suites[item.suite].cases[item.index].spec.workload;
        const auto alike = by_workload.find(workload);
        item.cost = known[i]                     ? *known[i]
                    : alike != by_workload.end() ? median(alike->second)
                    : !all.empty()               ? median(all)
                                                 : 1;
    }
    return items;
}

/// Cases that run come first: each shard gets one of them. The others cost almost nothing and are
/// assigned last.
void deal(const model::Plan& plan, std::vector<Item>& items, std::size_t count) {
    std::vector<Item*> order;
    order.reserve(items.size());
    for (Item& item : items) order.push_back(&item);
    const auto key = [&](const Item* item) {
        const model::PlannedSuite& suite = plan.suites[item->suite];
        return std::tuple(!item->runs, -item->cost, suite.name,
                          model::case_id(suite.cases[item->index].spec));
    };
    std::sort(order.begin(), order.end(),
              [&](const Item* left, const Item* right) { return key(left) < key(right); });
    std::vector<std::pair<double, std::size_t>> loads(count);  // seconds and cases
    for (Item* item : order) {
        const auto least = std::min_element(loads.begin(), loads.end());
        item->shard = static_cast<std::size_t>(least - loads.begin());
        least->first += item->cost;
        ++least->second;
    }
}

/// Shards are judged as one run: they must gate alike.
std::string gates_of(const model::PlannedSuite& suite) {
    model::Sha256 digest;
    for (const model::PlannedCase& planned : suite.cases) {
        for (const model::GateRule& gate : planned.gates) {
            digest.add(fmt::format(
                "{} {} {} {} {} {}{}\n", model::case_id(planned.spec), gate.metric,
                gate.tolerance.worse, gate.tolerance.better.value_or(-1), gate.tolerance.abs,
                gate.cross_board,
                gate.tolerance.severity ? fmt::format(" {}", to_text(*gate.tolerance.severity))
                                        : ""));
        }
    }
    for (const model::Relation& relation : suite.relations) {
        digest.add(model::to_text(relation) + '\n');
    }
    return digest.fingerprint();
}

model::Shard whole_of(const model::Plan& plan, const ShardChoice& choice) {
    model::Shard shard{choice.index, choice.count, {}};
    for (const model::PlannedSuite& suite : plan.suites) {
        model::ShardedSuite& whole = shard.whole.emplace_back();
        whole.name = suite.name;
        whole.partial = suite.partial;
        whole.gates = gates_of(suite);
        for (const model::PlannedCase& planned : suite.cases) {
            whole.cases.push_back(model::case_id(planned.spec));
        }
    }
    return shard;
}

}  // namespace

ShardChoice parse_shard(std::string_view text) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    const auto index = number_of(text.substr(0, slash));
    const auto count = number_of(text.substr(std::min(slash + 1, text.size())));
    if (!index || !count || *index < 1 || *index > *count || *count > most_shards) {
        throw model::InputError(
            fmt::format("--shard '{}': expected which of how many, from 1/{} on, as 2/3",
                        model::printable(text, 100), count && *count > 0 ? *count : 1));
    }
    return {*index, *count};
}

model::Shard take_shard(model::Plan& plan, const ShardChoice& choice, const CaseCosts& costs) {
    model::Shard shard = whole_of(plan, choice);
    std::vector<Item> items = items_of(plan, costs);
    const auto runnable =
        std::count_if(items.begin(), items.end(), [](const Item& item) { return item.runs; });
    if (runnable < choice.count) {
        throw model::InputError(fmt::format(
            "--shard {}/{}: {} of the {} cases run here: divide them into no more shards",
            choice.index, choice.count, runnable, items.size()));
    }
    deal(plan, items, static_cast<std::size_t>(choice.count));
    model::Plan part;
    auto item = items.begin();
    for (model::PlannedSuite& suite : plan.suites) {
        std::vector<model::PlannedCase> cases = std::move(suite.cases);
        suite.cases.clear();
        for (model::PlannedCase& planned : cases) {
            if (item->shard + 1 == static_cast<std::size_t>(choice.index)) {
                suite.cases.push_back(std::move(planned));
            }
            ++item;
        }
        suite.partial = suite.partial || suite.cases.size() != cases.size();
        if (!suite.cases.empty()) part.suites.push_back(std::move(suite));
    }
    plan = std::move(part);
    return shard;
}

}  // namespace perfgate::suite
