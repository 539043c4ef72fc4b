// SPDX-License-Identifier: Apache-2.0
#include "review/review.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "model/baseline.hpp"
#include "review/findings.hpp"

namespace perfgate::review {

namespace {

constexpr std::array<std::string_view, 24> names{
    "suite removed",     "suite repeated",   "case removed",       "case skipped",
    "tolerance raised",  "severity lowered", "gate removed",       "relation removed",
    "measured less",     "check removed",    "case changed",       "tag removed",
    "policy lowered",    "profile removed",  "baseline removed",   "baseline raised",
    "baseline weakened", "baseline edited",  "baseline refreshed", "anchor raised",
    "not compared",      "acknowledged",     "history rewritten",  "unreadable"};
static_assert(names.size() == static_cast<std::size_t>(Loosening::unreadable) + 1);

using suite::Profile;

/// The fewest and the most processes of a case.
std::pair<std::int64_t, std::int64_t> processes_of(const Profile& profile) {
    if (profile.processes) return {*profile.processes, *profile.processes};
    return {suite::settling_processes, suite::usual_processes};
}

double creep_of(const Profile& profile) {
    return profile.creep.value_or(model::usual_creep_bound);
}

/// Which way a key of a profile is weaker. Any change of another key is listed: a person has to
/// look at it.
struct WeakerWay {
    std::string_view key;
    bool (*is_weaker)(const Profile& before, const Profile& after);
};

template <auto Member>
bool is_off(const Profile& before, const Profile& after) {
    return before.*Member && !(after.*Member);
}

template <auto Member>
bool is_off_in_policy(const Profile& before, const Profile& after) {
    return before.policy.*Member && !(after.policy.*Member);
}

template <auto Member>
bool is_milder(const Profile& before, const Profile& after) {
    return after.policy.severity.*Member > before.policy.severity.*Member;
}

template <auto Member>
bool is_more_lenient(const Profile& before, const Profile& after) {
    return after.policy.changed.*Member < before.policy.changed.*Member;
}

constexpr auto weaker_ways = std::to_array<WeakerWay>({
    {"policy.no_baseline", is_off_in_policy<&model::Policy::no_baseline_fails>},
    {"policy.inconclusive", is_off_in_policy<&model::Policy::inconclusive_fails>},
    {"policy.not_shown", is_off_in_policy<&model::Policy::not_shown_fails>},
    {"policy.too_good",
     [](const Profile& before, const Profile& after) {
         return after.policy.too_good > before.policy.too_good;
     }},
    // The rarer a false alarm may be, the more a change has to be to be found.
    {"policy.false_alarms",
     [](const Profile& before, const Profile& after) {
         return after.policy.false_alarms < before.policy.false_alarms;
     }},
    {"policy.acknowledgement_days",
     [](const Profile& before, const Profile& after) {
         return after.policy.acknowledgement_days > before.policy.acknowledgement_days;
     }},
    {"policy.severity.exact", is_milder<&model::SeverityPolicy::exact>},
    {"policy.severity.counter", is_milder<&model::SeverityPolicy::counter>},
    {"policy.severity.timing", is_milder<&model::SeverityPolicy::timing>},
    {"policy.changed.board", is_more_lenient<&model::ChangePolicy::board>},
    {"policy.changed.driver", is_more_lenient<&model::ChangePolicy::driver>},
    {"policy.changed.cuda_toolkit", is_more_lenient<&model::ChangePolicy::cuda_toolkit>},
    {"policy.changed.cupti", is_more_lenient<&model::ChangePolicy::cupti>},
    {"policy.changed.tool_version", is_more_lenient<&model::ChangePolicy::tool_version>},
    {"processes",
     [](const Profile& before, const Profile& after) {
         const auto [fewest_before, most_before] = processes_of(before);
         const auto [fewest, most] = processes_of(after);
         return fewest < fewest_before || most < most_before;
     }},
    {"creep", [](const Profile& before,
                 const Profile& after) { return creep_of(after) > creep_of(before); }},
    {"canary", is_off<&Profile::canary>},
    {"prove", is_off<&Profile::prove>},
    {"complete", is_off_in_policy<&model::Policy::complete>},
    // Nobody sees times of unchanged code then.
    {"changed_only",
     [](const Profile& before,
        const Profile& after) { return !before.changed_only && after.changed_only; }},
});

void compare(const std::string& path, const Profile& before, const Profile& after,
             Findings& findings) {
    constexpr std::string_view policy = "policy.";
    const std::map<std::string, std::string> values = suite::in_effect(after);
    for (const auto& [key, was] : suite::in_effect(before)) {
        const auto* way =
            std::find_if(weaker_ways.begin(), weaker_ways.end(),
                         [&, &name = key](const WeakerWay& each) { return each.key == name; });
        const std::string& is = values.at(key);
        const bool weaker = way == weaker_ways.end() ? was != is : way->is_weaker(before, after);
        if (!weaker) continue;
        findings.add(Loosening::policy_lowered, {path, 0},
                     key.starts_with(policy) ? key.substr(policy.size()) : key, was, is);
    }
}

void compare_profiles(const Expectations& before, const Expectations& after, Findings& findings) {
    for (const auto& [path, old_profile] : before.profiles) {
        const auto found = after.profiles.find(path);
        if (found != after.profiles.end()) {
            compare(path, old_profile, found->second, findings);
        } else if (!after.unreadable.contains(path)) {
            findings.add(Loosening::profile_removed, {path, 0}, path, "there", "gone");
        }
    }
}

std::vector<Finding> loosened(const Expectations& before, const Expectations& after) {
    Findings findings;
    compare_suites(before, after, findings);
    compare_profiles(before, after, findings);
    compare_baselines(before, after, findings);
    for (const auto& [path, why] : after.unreadable) {
        findings.add(Loosening::unreadable, {path, 0}, path, "", why);
    }
    for (const auto& [path, why] : before.unreadable) {
        if (!after.unreadable.contains(path)) {
            findings.add(Loosening::unreadable, {path, 0}, path, why, "");
        }
    }
    return std::move(findings).take();
}

std::vector<std::string> not_reviewed(const Expectations& before, const Expectations& after) {
    std::vector<std::string> notes;
    for (const std::string& line : after.left_out) notes.push_back(line);
    for (const auto& [path, profile] : after.profiles) {
        if (!before.profiles.contains(path)) {
            notes.push_back(fmt::format("{}: a new profile", path));
        }
    }
    return notes;
}

}  // namespace

std::string_view to_text(Loosening kind) {
    return names[static_cast<std::size_t>(kind)];
}

Review review(const Files& before, const Files& after, const model::WorkloadCatalogue& workloads) {
    const Expectations old_state = read_expectations(before, after, workloads);
    const Expectations new_state = read_expectations(after, before, workloads);
    return {loosened(old_state, new_state), not_reviewed(old_state, new_state)};
}

int exit_code(const Review& review, bool advisory) {
    if (!review.not_compared.empty()) return 2;
    return review.findings.empty() || advisory ? 0 : 1;
}

}  // namespace perfgate::review
