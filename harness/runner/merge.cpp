// SPDX-License-Identifier: Apache-2.0
#include "runner/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "model/case.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

using model::CaseResult;
using model::Run;
using model::Shard;

template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> why, Values&&... values) {
    throw util::InputError("the runs cannot be merged: " +
                           fmt::format(why, std::forward<Values>(values)...));
}

void require_shard(const NamedRun& named) {
    if (!named.run.shard) {
        refuse(
            "{} is not a shard: measure each part with --shard; two runs are compared with --base "
            "and --head",
            util::printable(named.file));
    }
    if (named.run.interrupted) {
        refuse("{} (shard {}/{}) was interrupted: measure it again, or --resume it",
               util::printable(named.file), named.run.shard->index, named.run.shard->count);
    }
}

std::int64_t index_of(const NamedRun& named) {
    return named.run.shard ? named.run.shard->index : 0;
}

/// The first name in which the suites differ, for the message.
std::string difference(const Shard& first, const Shard& other) {
    if (first.count != other.count) {
        return fmt::format("one is of {} shards, the other of {}", first.count, other.count);
    }
    for (std::size_t i = 0; i < std::max(first.whole.size(), other.whole.size()); ++i) {
        if (i >= first.whole.size() || i >= other.whole.size()) {
            const Shard& more = i < first.whole.size() ? first : other;
            return fmt::format("only one is of suite '{}'", util::printable(more.whole[i].name));
        }
        const model::ShardedSuite& left = first.whole[i];
        const model::ShardedSuite& right = other.whole[i];
        if (left == right) continue;
        if (left.name != right.name) {
            return fmt::format("one is of suite '{}', the other of '{}'",
                               util::printable(left.name), util::printable(right.name));
        }
        const auto [one, two] = std::mismatch(left.cases.begin(), left.cases.end(),
                                              right.cases.begin(), right.cases.end());
        if (one == left.cases.end() && two == right.cases.end()) {
            if (left.partial == right.partial) {
                return fmt::format("suite '{}' has different tolerances or relations",
                                   util::printable(left.name));
            }
            return fmt::format("suite '{}' was filtered in one", util::printable(left.name));
        }
        return fmt::format("suite '{}' differs from case '{}' on", util::printable(left.name),
                           util::printable(one == left.cases.end() ? *two : *one));
    }
    return {};
}

void require_alike(const NamedRun& first, const NamedRun& other) {
    const auto require = [&](std::string_view what, const std::string& then,
                             const std::string& now) {
        if (then == now) return;
        refuse("{} is '{}' in {} and '{}' in {}", what, util::printable(then),
               util::printable(first.file), util::printable(now), util::printable(other.file));
    };
    const auto yes_no = [](bool value) { return std::string(value ? "yes" : "no"); };
    const model::Environment& then = first.run.environment;
    const model::Environment& now = other.run.environment;
    require("the backend", first.run.backend, other.run.backend);
    require("device.key", then.device.key, now.device.key);
    require("driver", then.driver, now.driver);
    require("cuda_toolkit", then.cuda_toolkit, now.cuda_toolkit);
    require("cupti", then.cupti, now.cupti);
    require("tool_version", first.run.tool_version, other.run.tool_version);
    require("git_revision", first.run.git_revision, other.run.git_revision);
    require("verify_only", yes_no(first.run.verify_only), yes_no(other.run.verify_only));
    const std::string different = difference(*first.run.shard, *other.run.shard);
    if (!different.empty()) {
        refuse("{} and {} are not of the same suites: {}", util::printable(first.file),
               util::printable(other.file), different);
    }
    if (first.run.selections != other.run.selections) {
        refuse("{} and {} were selected with different --filter or --tag",
               util::printable(first.file), util::printable(other.file));
    }
}

/// All cases of a plugin's variant have the fingerprint of the same files. Where it differs between
/// shards, the plugin was built again: a note in the first case says so if the revision does not
/// tell that it was from the same code.
void note_other_builds(std::vector<NamedRun>& shards) {
    struct Built {
        std::string code;
        const NamedRun* named;
    };
    std::map<std::pair<std::string, std::string>, Built> by_variant;
    for (NamedRun& named : shards) {
        if (model::names_a_commit(named.run.git_revision)) return;
        for (model::SuiteResult& suite : named.run.suites) {
            for (CaseResult& result : suite.cases) {
                // Of a source it is of the launch, which each case has its own.
                if (result.host_code.empty() || !result.source.empty()) continue;
                Built& built = by_variant
                                   .try_emplace({result.spec.workload, result.spec.variant},
                                                Built{result.host_code, &named})
                                   .first->second;
                if (built.code == result.host_code) continue;
                result.notes.push_back(fmt::format(
                    "{} and {} measured different builds of {}/{}, maybe of different code",
                    util::printable(built.named->file), util::printable(named.file),
                    util::printable(result.spec.workload), util::printable(result.spec.variant)));
                built = {result.host_code, &named};
            }
        }
    }
}

/// Each of them once.
void require_all(const std::vector<NamedRun>& shards) {
    std::map<std::int64_t, const NamedRun*> found;
    for (const NamedRun& named : shards) {
        const auto [place, is_new] = found.emplace(named.run.shard->index, &named);
        if (!is_new) {
            refuse("{} and {} are both shard {}/{}", util::printable(place->second->file),
                   util::printable(named.file), named.run.shard->index, named.run.shard->count);
        }
    }
    std::string missing;
    const std::int64_t count = shards.front().run.shard->count;
    for (std::int64_t index = 1; index <= count; ++index) {
        if (!found.contains(index)) {
            missing += fmt::format("{}{}", missing.empty() ? "" : ", ", index);
        }
    }
    if (!missing.empty()) {
        refuse("of {} shards these are missing: {}", count, missing);
    }
}

/// By id; each case and the file it is from.
using FoundCases = std::map<std::string, std::pair<CaseResult, std::string>>;

/// The cases of a suite in its own order.
std::vector<CaseResult> in_order(const model::ShardedSuite& whole, FoundCases& found) {
    std::vector<CaseResult> cases;
    for (const std::string& id : whole.cases) {
        const auto place = found.find(id);
        if (place == found.end()) {
            refuse("no shard has case {} of suite '{}': one of them was filtered since",
                   util::printable(id), util::printable(whole.name));
        }
        cases.push_back(std::move(place->second.first));
        found.erase(place);
    }
    if (!found.empty()) {
        const auto& [id, from] = *found.begin();
        refuse("{} has case {}, which suite '{}' does not", util::printable(from.second),
               util::printable(id), util::printable(whole.name));
    }
    return cases;
}

model::SuiteResult merged_suite(const model::ShardedSuite& whole, std::vector<NamedRun>& shards) {
    model::SuiteResult merged;
    FoundCases found;
    for (NamedRun& named : shards) {
        for (model::SuiteResult& suite : named.run.suites) {
            if (suite.name != whole.name) continue;
            for (CaseResult& result : suite.cases) {
                std::string id = model::case_id(result.spec);
                const auto [place, is_new] =
                    found.emplace(id, std::pair{std::move(result), named.file});
                if (!is_new) {
                    refuse(
                        "{} and {} both have case {} of suite '{}': measure all shards with the "
                        "same suites, plugins and options",
                        util::printable(place->second.second), util::printable(named.file),
                        util::printable(id), util::printable(whole.name));
                }
            }
            suite.cases.clear();
            if (merged.name.empty()) merged = suite;
        }
    }
    merged.name = whole.name;
    merged.partial = whole.partial;
    merged.cases = in_order(whole, found);
    return merged;
}

void add_times(const Run& from, Run& to) {
    to.wall_s += from.wall_s;
    for (const auto& [phase, seconds] : from.phase_s) to.phase_s[phase] += seconds;
    to.started_at = std::min(to.started_at, from.started_at);
}

void add_definitions(const NamedRun& from, Run& to) {
    for (const auto& [name, definition] : from.run.metric_definitions) {
        const auto [place, is_new] = to.metric_definitions.emplace(name, definition);
        if (is_new || place->second == definition) continue;
        refuse("{} defines {} differently than the shards before it", util::printable(from.file),
               util::printable(name));
    }
}

}  // namespace

Run merge_shards(std::vector<NamedRun> shards) {
    if (shards.empty()) refuse("there are none");
    for (const NamedRun& named : shards) require_shard(named);
    for (const NamedRun& named : shards) require_alike(shards.front(), named);
    require_all(shards);
    // The result does not depend on the order of the arguments.
    std::ranges::sort(shards, [](const NamedRun& left, const NamedRun& right) {
        return index_of(left) < index_of(right);
    });

    note_other_builds(shards);
    std::vector<model::SuiteResult> suites;
    const std::vector<model::ShardedSuite> whole = shards.front().run.shard->whole;
    suites.reserve(whole.size());
    for (const model::ShardedSuite& suite : whole) suites.push_back(merged_suite(suite, shards));
    Run merged = std::move(shards.front().run);
    for (std::size_t i = 1; i < shards.size(); ++i) {
        add_times(shards[i].run, merged);
        add_definitions(shards[i], merged);
        if (shards[i].run.options != merged.options) merged.options.clear();
    }
    merged.suites = std::move(suites);
    merged.shard.reset();
    return merged;
}

}  // namespace perfgate::runner
