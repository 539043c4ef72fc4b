// SPDX-License-Identifier: Apache-2.0
#include "suite/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <compare>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/case.hpp"
#include "util/error.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

constexpr std::int64_t most_shards = 10'000;

std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// A case of the plan. Cases that run come first, so that each shard gets one of them; the rest of
/// the order depends on nothing but the names.
struct Item {
    bool skipped = false;  ///< known in advance
    std::string suite, id;
    std::size_t suite_index = 0, case_index = 0;  ///< in the plan

    auto operator<=>(const Item&) const = default;
};

std::vector<Item> items_of(const model::Plan& plan) {
    std::vector<Item> items;
    for (std::size_t s = 0; s < plan.suites.size(); ++s) {
        const model::PlannedSuite& suite = plan.suites[s];
        for (std::size_t c = 0; c < suite.cases.size(); ++c) {
            const model::PlannedCase& planned = suite.cases[c];
            items.push_back(
                {!planned.skip_reason.empty(), suite.name, model::case_id(planned.spec), s, c});
        }
    }
    std::sort(items.begin(), items.end());
    return items;
}

/// Shards are judged as one run: they must gate alike.
std::string gates_of(const model::PlannedSuite& suite) {
    util::Sha256 digest;
    for (const model::PlannedCase& planned : suite.cases) {
        for (const model::GateRule& gate : planned.gates) {
            digest.add(fmt::format(
                "{} {} {} {} {} {}{}\n", model::case_id(planned.spec), gate.metric,
                gate.tolerance.worse, gate.tolerance.better.value_or(-1), gate.tolerance.abs,
                gate.cross_board,
                (gate.tolerance.severity ? fmt::format(" {}", to_text(*gate.tolerance.severity))
                                         : "") +
                    (gate.tolerance.tail ? fmt::format(" tail {}", *gate.tolerance.tail) : "")));
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
        throw util::InputError(
            fmt::format("--shard '{}': expected which of how many, from 1/{} on, as 2/3",
                        util::printable(text, 100), count && *count > 0 ? *count : 1));
    }
    return {*index, *count};
}

model::Shard take_shard(model::Plan& plan, const ShardChoice& choice) {
    model::Shard shard = whole_of(plan, choice);
    const std::vector<Item> items = items_of(plan);
    const auto runnable =
        std::count_if(items.begin(), items.end(), [](const Item& item) { return !item.skipped; });
    if (runnable < choice.count) {
        throw util::InputError(fmt::format(
            "--shard {}/{}: {} of the {} cases run here: divide them into no more shards",
            choice.index, choice.count, runnable, items.size()));
    }
    std::vector<std::set<std::size_t>> kept(plan.suites.size());
    for (auto i = static_cast<std::size_t>(choice.index - 1); i < items.size();
         i += static_cast<std::size_t>(choice.count)) {
        kept[items[i].suite_index].insert(items[i].case_index);
    }
    model::Plan part;
    for (std::size_t s = 0; s < plan.suites.size(); ++s) {
        model::PlannedSuite& suite = plan.suites[s];
        std::vector<model::PlannedCase> cases = std::move(suite.cases);
        suite.cases.clear();
        for (const std::size_t index : kept[s]) suite.cases.push_back(std::move(cases[index]));
        suite.partial = suite.partial || suite.cases.size() != cases.size();
        if (!suite.cases.empty()) part.suites.push_back(std::move(suite));
    }
    plan = std::move(part);
    return shard;
}

}  // namespace perfgate::suite
