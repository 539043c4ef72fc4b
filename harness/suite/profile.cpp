// SPDX-License-Identifier: Apache-2.0
#include "suite/profile.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "model/file.hpp"
#include "suite/amount.hpp"
#include "suite/fields.hpp"

namespace perfgate::suite {

namespace {

constexpr std::size_t longest_path = 4096;

constexpr std::array<std::string_view, 10> profile_keys{
    "backend",   "policy", "junit_profile", "baselines", "out",
    "processes", "creep",  "canary",        "prove",     "changed_only"};
constexpr std::array<std::string_view, 9> policy_keys{
    "no_baseline", "inconclusive",         "not_shown", "too_good", "false_alarms",
    "rounds",      "acknowledgement_days", "changed",   "severity"};
constexpr std::array<std::string_view, 3> severity_keys{"exact", "counter", "timing"};
constexpr std::array<std::string_view, 5> changed_keys{"board", "driver", "cuda_toolkit", "cupti",
                                                       "tool_version"};
constexpr std::int64_t most_rounds = 10;
constexpr std::int64_t most_acknowledgement_days = 3650;
constexpr std::int64_t most_processes = 1000;

std::optional<std::string> read_word(const Fields& fields, std::string_view key,
                                     const std::vector<std::string>& choices, Problems& problems) {
    const YamlNode* node = fields.find(key);
    if (node == nullptr) return std::nullopt;
    const std::optional<std::size_t> choice = read_choice(*node, key, choices, problems);
    if (!choice) return std::nullopt;
    return choices[*choice];
}

/// Whether the policy is `fail`; the other word depends on the verdict.
bool read_fails(const Fields& fields, std::string_view key, std::string_view other,
                Problems& problems) {
    return read_word(fields, key, {"fail", std::string(other)}, problems) == "fail";
}

void read_on_change(const Fields& fields, std::string_view key, model::OnChange& out,
                    Problems& problems) {
    const std::optional<std::string> word =
        read_word(fields, key, {"accept", "warn", "refuse"}, problems);
    if (!word) return;
    out = *word == "accept" ? model::OnChange::accept
          : *word == "warn" ? model::OnChange::warn
                            : model::OnChange::refuse;
}

void read_severity(const Fields& fields, std::string_view key, model::Severity& out,
                   Problems& problems) {
    const std::optional<std::string> word = read_word(fields, key, {"fail", "warn"}, problems);
    if (word) out = *word == "warn" ? model::Severity::warn : model::Severity::fail;
}

void read_numbers(const Fields& policies, model::Policy& policy, Problems& problems) {
    if (const YamlNode* node = policies.find("false_alarms")) {
        const std::optional<double> fraction = read_fraction(*node, "false_alarms", problems);
        if (fraction && *fraction > 0 && *fraction < 1) {
            policy.false_alarms = *fraction;
        } else if (fraction) {
            add_wrong_type(*node, "false_alarms", "more than 0 % and less than 100 %", problems);
        }
    }
    if (const YamlNode* node = policies.find("too_good")) {
        const std::optional<double> factor = number_of(*node);
        if (factor && std::isfinite(*factor) && *factor > 1) {
            policy.too_good = *factor;
        } else {
            add_wrong_type(*node, "too_good", "a factor above 1", problems);
        }
    }
    if (const YamlNode* node = policies.find("rounds")) {
        const std::optional<std::int64_t> rounds = integer_of(*node);
        if (rounds && *rounds >= 0 && *rounds <= most_rounds) {
            policy.rounds = *rounds;
        } else {
            add_wrong_type(*node, "rounds", "a number of rounds from 0 to 10", problems);
        }
    }
    if (const YamlNode* node = policies.find("acknowledgement_days")) {
        const std::optional<std::int64_t> days = integer_of(*node);
        if (days && *days >= 0 && *days <= most_acknowledgement_days) {
            policy.acknowledgement_days = *days;
        } else {
            add_wrong_type(*node, "acknowledgement_days", "a number of days from 0 to 3650",
                           problems);
        }
    }
}

bool read_switch(const Fields& fields, std::string_view key, Problems& problems) {
    const YamlNode* node = fields.find(key);
    if (node == nullptr) return false;
    const std::optional<bool> on = boolean_of(*node);
    if (!on) add_wrong_type(*node, key, "true or false", problems);
    return on.value_or(false);
}

std::optional<std::string> read_folder(const Fields& fields, std::string_view key,
                                       Problems& problems) {
    const YamlNode* node = fields.find(key);
    if (node == nullptr) return std::nullopt;
    return read_text(*node, key, "the path of a folder", longest_path, problems);
}

}  // namespace

Profile parse_profile(std::string_view yaml, std::string_view file) {
    Problems problems(file);
    const YamlDocument document = read_yaml(yaml, problems);
    const Fields fields(*document.root, "a profile", profile_keys, problems);
    Profile profile;
    profile.backend = read_word(fields, "backend", {"auto", "cuda", "host"}, problems);
    if (const YamlNode* policy = fields.find("policy")) {
        const Fields policies(*policy, "'policy'", policy_keys, problems);
        profile.policy.no_baseline_fails = read_fails(policies, "no_baseline", "skip", problems);
        profile.policy.inconclusive_fails = read_fails(policies, "inconclusive", "pass", problems);
        profile.policy.not_shown_fails = read_fails(policies, "not_shown", "pass", problems);
        read_numbers(policies, profile.policy, problems);
        if (const YamlNode* severity = policies.find("severity")) {
            const Fields classes(*severity, "'severity'", severity_keys, problems);
            model::SeverityPolicy& taken = profile.policy.severity;
            read_severity(classes, "exact", taken.exact, problems);
            read_severity(classes, "counter", taken.counter, problems);
            read_severity(classes, "timing", taken.timing, problems);
        }
        if (const YamlNode* changed = policies.find("changed")) {
            const Fields changes(*changed, "'changed'", changed_keys, problems);
            model::ChangePolicy& taken = profile.policy.changed;
            read_on_change(changes, "board", taken.board, problems);
            read_on_change(changes, "driver", taken.driver, problems);
            read_on_change(changes, "cuda_toolkit", taken.cuda_toolkit, problems);
            read_on_change(changes, "cupti", taken.cupti, problems);
            read_on_change(changes, "tool_version", taken.tool_version, problems);
        }
    }
    profile.junit_profile = read_word(fields, "junit_profile", {"github", "strict"}, problems);
    profile.baselines = read_folder(fields, "baselines", problems);
    profile.out = read_folder(fields, "out", problems);
    if (const YamlNode* node = fields.find("processes")) {
        const std::optional<std::int64_t> processes = integer_of(*node);
        if (processes && *processes >= 1 && *processes <= most_processes) {
            profile.processes = processes;
        } else {
            add_wrong_type(*node, "processes", "a number of processes from 1 to 1000", problems);
        }
    }
    if (const YamlNode* node = fields.find("creep")) {
        profile.creep = read_fraction(*node, "creep", problems);
    }
    profile.canary = read_switch(fields, "canary", problems);
    profile.prove = read_switch(fields, "prove", problems);
    profile.changed_only = read_switch(fields, "changed_only", problems);
    problems.throw_if_any();
    return profile;
}

Profile load_profile(const std::string& file) {
    return parse_profile(model::read_file(file, most_yaml_bytes, "profile"), file);
}

}  // namespace perfgate::suite
