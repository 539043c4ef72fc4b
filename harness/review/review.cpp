// SPDX-License-Identifier: Apache-2.0
#include "review/review.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "model/text.hpp"
#include "review/findings.hpp"

namespace perfgate::review {

namespace {

constexpr std::array<std::string_view, 24> names{
    "suite removed",     "case removed",    "case skipped",       "tolerance raised",
    "severity lowered",  "gate removed",    "relation removed",   "measured less",
    "check removed",     "program changed", "source changed",     "tag removed",
    "policy lowered",    "profile removed", "baseline removed",   "baseline raised",
    "baseline weakened", "baseline edited", "baseline refreshed", "anchor raised",
    "not compared",      "acknowledged",    "history rewritten",  "unreadable"};
static_assert(names.size() == static_cast<std::size_t>(Loosening::unreadable) + 1);

std::string percent(double fraction) {
    return model::number_text(fraction * 100) + " %";
}

class ProfileComparison {
  public:
    ProfileComparison(const std::string& path, Findings& findings)
        : place_{path, 0}, findings_(findings) {}

    void compare(const suite::Profile& before, const suite::Profile& after) {
        const model::Policy& old_policy = before.policy;
        const model::Policy& new_policy = after.policy;
        lowered(old_policy.no_baseline_fails && !new_policy.no_baseline_fails, "no_baseline",
                "fail", "skip");
        lowered(old_policy.inconclusive_fails && !new_policy.inconclusive_fails, "inconclusive",
                "fail", "pass");
        lowered(old_policy.not_shown_fails && !new_policy.not_shown_fails, "not_shown", "fail",
                "pass");
        // The rarer a false alarm may be, the more a change has to be to be found.
        lowered(new_policy.acknowledgement_days > old_policy.acknowledgement_days,
                "acknowledgement_days", std::to_string(old_policy.acknowledgement_days),
                std::to_string(new_policy.acknowledgement_days));
        lowered(new_policy.false_alarms < old_policy.false_alarms, "false_alarms",
                percent(old_policy.false_alarms), percent(new_policy.false_alarms));
        lowered(new_policy.too_good > old_policy.too_good, "too_good",
                model::number_text(old_policy.too_good), model::number_text(new_policy.too_good));
        severity("exact", old_policy.severity.exact, new_policy.severity.exact);
        severity("counter", old_policy.severity.counter, new_policy.severity.counter);
        severity("timing", old_policy.severity.timing, new_policy.severity.timing);
        const model::ChangePolicy& was = old_policy.changed;
        const model::ChangePolicy& is = new_policy.changed;
        changed("changed.board", was.board, is.board);
        changed("changed.driver", was.driver, is.driver);
        changed("changed.cuda_toolkit", was.cuda_toolkit, is.cuda_toolkit);
        changed("changed.cupti", was.cupti, is.cupti);
        changed("changed.tool_version", was.tool_version, is.tool_version);
        other("backend", before.backend, after.backend);
        other("baselines", before.baselines, after.baselines);
        other("junit_profile", before.junit_profile, after.junit_profile);
        lowered(before.processes && after.processes.value_or(0) < *before.processes, "processes",
                before.processes ? fmt::format("{}", *before.processes) : "",
                after.processes ? fmt::format("{}", *after.processes) : "not set");
        lowered(before.creep && (!after.creep || *after.creep > *before.creep), "creep",
                before.creep ? percent(*before.creep) : "",
                after.creep ? percent(*after.creep) : "not set");
        lowered(before.canary && !after.canary, "canary", "true", "false");
        lowered(before.prove && !after.prove, "prove", "true", "false");
        // Times of unchanged code are then nobody's to see.
        lowered(!before.changed_only && after.changed_only, "changed_only", "false", "true");
    }

  private:
    void lowered(bool is_lowered, const std::string& key, const std::string& before,
                 const std::string& after) {
        if (is_lowered) findings_.add(Loosening::policy_lowered, place_, key, before, after);
    }

    void severity(const std::string& key, model::Severity before, model::Severity after) {
        lowered(after > before, "severity." + key, std::string(to_text(before)),
                std::string(to_text(after)));
    }

    void changed(const std::string& key, model::OnChange before, model::OnChange after) {
        lowered(after < before, key, std::string(model::to_text(before)),
                std::string(model::to_text(after)));
    }

    /// If the values have no order, a person has to look at any change.
    void other(const std::string& key, const std::optional<std::string>& before,
               const std::optional<std::string>& after) {
        lowered(before != after, key, before.value_or("not set"), after.value_or("not set"));
    }

    model::SourcePlace place_;
    Findings& findings_;
};

void compare_profiles(const Expectations& before, const Expectations& after, Findings& findings) {
    for (const auto& [path, old_profile] : before.profiles) {
        const auto found = after.profiles.find(path);
        if (found != after.profiles.end()) {
            ProfileComparison(path, findings).compare(old_profile, found->second);
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
        const auto old_profile = before.profiles.find(path);
        if (old_profile == before.profiles.end()) {
            notes.push_back(fmt::format("{}: a new profile", path));
        } else if (old_profile->second.policy.rounds != profile.policy.rounds) {
            notes.push_back(fmt::format("{}: rounds {} → {}", path,
                                        old_profile->second.policy.rounds, profile.policy.rounds));
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
    return review.findings.empty() || advisory ? 0 : 1;
}

}  // namespace perfgate::review
