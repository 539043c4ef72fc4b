// SPDX-License-Identifier: Apache-2.0
#include "suite/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "model/baseline.hpp"
#include "suite/amount.hpp"
#include "suite/fields.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

constexpr std::size_t longest_path = 4096;
constexpr std::int64_t most_rounds = 10;
constexpr std::int64_t most_acknowledgement_days = 3650;
constexpr std::int64_t most_processes = 1000;

/// What a key's value is read from.
struct KeyValue {
    const YamlNode& node;
    std::string_view key;
    Problems& problems;
};

std::optional<std::string> word(const KeyValue& value, const std::vector<std::string>& choices) {
    const std::optional<std::size_t> choice =
        read_choice(value.node, value.key, choices, value.problems);
    if (!choice) return std::nullopt;
    return choices[*choice];
}

/// Whether the policy is `fail`; the other word depends on the verdict.
bool fails(const KeyValue& value, std::string_view other) {
    return word(value, {"fail", std::string(other)}) == "fail";
}

std::string fails_text(bool fails, std::string_view other) {
    return fails ? "fail" : std::string(other);
}

void read_on_change(const KeyValue& value, model::OnChange& out) {
    const std::optional<std::string> found = word(value, {"accept", "warn", "refuse"});
    if (!found) return;
    out = *found == "accept" ? model::OnChange::accept
          : *found == "warn" ? model::OnChange::warn
                             : model::OnChange::refuse;
}

void read_severity(const KeyValue& value, model::Severity& out) {
    const std::optional<std::string> found = word(value, {"fail", "warn"});
    if (found) out = *found == "warn" ? model::Severity::warn : model::Severity::fail;
}

void read_integer(const KeyValue& value, std::int64_t least, std::int64_t most,
                  std::string_view what, std::int64_t& out) {
    const std::optional<std::int64_t> found = integer_of(value.node);
    if (found && *found >= least && *found <= most) {
        out = *found;
    } else {
        add_wrong_type(value.node, value.key, fmt::format("{} from {} to {}", what, least, most),
                       value.problems);
    }
}

void read_false_alarms(const KeyValue& value, double& out) {
    const std::optional<double> fraction = read_fraction(value.node, value.key, value.problems);
    if (fraction && *fraction > 0 && *fraction < 1) {
        out = *fraction;
    } else if (fraction) {
        add_wrong_type(value.node, value.key, "more than 0 % and less than 100 %", value.problems);
    }
}

void read_too_good(const KeyValue& value, double& out) {
    const std::optional<double> factor = number_of(value.node);
    if (factor && std::isfinite(*factor) && *factor > 1) {
        out = *factor;
    } else {
        add_wrong_type(value.node, value.key, "a factor above 1", value.problems);
    }
}

void read_processes(const KeyValue& value, std::optional<std::int64_t>& out) {
    std::int64_t processes = 0;
    read_integer(value, 1, most_processes, "a number of processes", processes);
    if (processes > 0) out = processes;
}

bool is_on(const KeyValue& value) {
    const std::optional<bool> on = boolean_of(value.node);
    if (!on) add_wrong_type(value.node, value.key, "true or false", value.problems);
    return on.value_or(false);
}

std::optional<std::string> folder_of(const KeyValue& value) {
    return read_text(value.node, value.key, "the path of a folder", longest_path, value.problems);
}

std::string on_text(bool on) {
    return on ? "true" : "false";
}

std::string percent(double fraction) {
    return util::number_text(fraction * 100) + " %";
}

std::string processes_text(const Profile& profile) {
    if (profile.processes) return std::to_string(*profile.processes);
    return fmt::format("{} to {}", settling_processes, usual_processes);
}

/// A key, with those of the maps that it is in, and how its value is read and written.
struct ProfileKey {
    std::string_view path;
    void (*read)(const KeyValue&, Profile&);
    std::string (*in_effect)(const Profile&);
};

constexpr auto profile_keys = std::to_array<ProfileKey>({
    {"backend",
     [](const KeyValue& value, Profile& to) {
         to.backend = word(value, {"auto", "cuda", "host"});
     },
     [](const Profile& of) { return of.backend.value_or(std::string(usual_backend)); }},
    {"policy.no_baseline",
     [](const KeyValue& value, Profile& to) { to.policy.no_baseline_fails = fails(value, "skip"); },
     [](const Profile& of) { return fails_text(of.policy.no_baseline_fails, "skip"); }},
    {"policy.inconclusive",
     [](const KeyValue& value, Profile& to) {
         to.policy.inconclusive_fails = fails(value, "pass");
     },
     [](const Profile& of) { return fails_text(of.policy.inconclusive_fails, "pass"); }},
    {"policy.not_shown",
     [](const KeyValue& value, Profile& to) { to.policy.not_shown_fails = fails(value, "pass"); },
     [](const Profile& of) { return fails_text(of.policy.not_shown_fails, "pass"); }},
    {"policy.too_good",
     [](const KeyValue& value, Profile& to) { read_too_good(value, to.policy.too_good); },
     [](const Profile& of) { return util::number_text(of.policy.too_good); }},
    {"policy.false_alarms",
     [](const KeyValue& value, Profile& to) { read_false_alarms(value, to.policy.false_alarms); },
     [](const Profile& of) { return percent(of.policy.false_alarms); }},
    {"policy.rounds",
     [](const KeyValue& value, Profile& to) {
         read_integer(value, 0, most_rounds, "a number of rounds", to.policy.rounds);
     },
     [](const Profile& of) { return std::to_string(of.policy.rounds); }},
    {"policy.acknowledgement_days",
     [](const KeyValue& value, Profile& to) {
         read_integer(value, 0, most_acknowledgement_days, "a number of days",
                      to.policy.acknowledgement_days);
     },
     [](const Profile& of) { return std::to_string(of.policy.acknowledgement_days); }},
    {"policy.changed.board",
     [](const KeyValue& value, Profile& to) { read_on_change(value, to.policy.changed.board); },
     [](const Profile& of) { return std::string(model::to_text(of.policy.changed.board)); }},
    {"policy.changed.driver",
     [](const KeyValue& value, Profile& to) { read_on_change(value, to.policy.changed.driver); },
     [](const Profile& of) { return std::string(model::to_text(of.policy.changed.driver)); }},
    {"policy.changed.cuda_toolkit",
     [](const KeyValue& value, Profile& to) {
         read_on_change(value, to.policy.changed.cuda_toolkit);
     },
     [](const Profile& of) { return std::string(model::to_text(of.policy.changed.cuda_toolkit)); }},
    {"policy.changed.cupti",
     [](const KeyValue& value, Profile& to) { read_on_change(value, to.policy.changed.cupti); },
     [](const Profile& of) { return std::string(model::to_text(of.policy.changed.cupti)); }},
    {"policy.changed.tool_version",
     [](const KeyValue& value, Profile& to) {
         read_on_change(value, to.policy.changed.tool_version);
     },
     [](const Profile& of) { return std::string(model::to_text(of.policy.changed.tool_version)); }},
    {"policy.severity.exact",
     [](const KeyValue& value, Profile& to) { read_severity(value, to.policy.severity.exact); },
     [](const Profile& of) { return std::string(to_text(of.policy.severity.exact)); }},
    {"policy.severity.counter",
     [](const KeyValue& value, Profile& to) { read_severity(value, to.policy.severity.counter); },
     [](const Profile& of) { return std::string(to_text(of.policy.severity.counter)); }},
    {"policy.severity.timing",
     [](const KeyValue& value, Profile& to) { read_severity(value, to.policy.severity.timing); },
     [](const Profile& of) { return std::string(to_text(of.policy.severity.timing)); }},
    {"junit_profile",
     [](const KeyValue& value, Profile& to) {
         to.junit_profile = word(value, {"github", "strict"});
     },
     [](const Profile& of) { return of.junit_profile.value_or(std::string(usual_junit_profile)); }},
    {"baselines", [](const KeyValue& value, Profile& to) { to.baselines = folder_of(value); },
     [](const Profile& of) { return baselines_of(of); }},
    {"out", [](const KeyValue& value, Profile& to) { to.out = folder_of(value); },
     [](const Profile& of) { return of.out.value_or(std::string(usual_out)); }},
    {"processes", [](const KeyValue& value, Profile& to) { read_processes(value, to.processes); },
     [](const Profile& of) { return processes_text(of); }},
    {"creep",
     [](const KeyValue& value, Profile& to) {
         to.creep = read_fraction(value.node, value.key, value.problems);
     },
     [](const Profile& of) { return percent(of.creep.value_or(model::usual_creep_bound)); }},
    {"canary", [](const KeyValue& value, Profile& to) { to.canary = is_on(value); },
     [](const Profile& of) { return on_text(of.canary); }},
    {"prove", [](const KeyValue& value, Profile& to) { to.prove = is_on(value); },
     [](const Profile& of) { return on_text(of.prove); }},
    {"changed_only", [](const KeyValue& value, Profile& to) { to.changed_only = is_on(value); },
     [](const Profile& of) { return on_text(of.changed_only); }},
    {"complete", [](const KeyValue& value, Profile& to) { to.policy.complete = is_on(value); },
     [](const Profile& of) { return on_text(of.policy.complete); }},
});

/// The next part of the paths that begin with `prefix`, in the table's order.
std::vector<std::string_view> keys_in(std::string_view prefix) {
    std::vector<std::string_view> found;
    for (const ProfileKey& key : profile_keys) {
        if (!key.path.starts_with(prefix)) continue;
        const std::string_view rest = key.path.substr(prefix.size());
        const std::string_view next = rest.substr(0, rest.find('.'));
        if (found.empty() || found.back() != next) found.push_back(next);
    }
    return found;
}

/// Reads the keys of a map whose paths begin with `prefix`: "", "policy.".
void read_map(const YamlNode& node, std::string_view what, const std::string& prefix,
              Profile& profile, Problems& problems) {
    const std::vector<std::string_view> names = keys_in(prefix);
    const Fields fields(node, what, names, problems);
    for (const std::string_view name : names) {
        const YamlNode* found = fields.find(name);
        if (found == nullptr) continue;
        const std::string path = prefix + std::string(name);
        const auto* key = std::find_if(profile_keys.begin(), profile_keys.end(),
                                       [&](const ProfileKey& each) { return each.path == path; });
        if (key != profile_keys.end()) {
            key->read({*found, name, problems}, profile);
        } else {
            read_map(*found, fmt::format("'{}'", name), path + '.', profile, problems);
        }
    }
}

}  // namespace

std::string baselines_of(const Profile& profile) {
    return profile.baselines.value_or(std::string(usual_baselines));
}

std::map<std::string, std::string> in_effect(const Profile& profile) {
    std::map<std::string, std::string> values;
    for (const ProfileKey& key : profile_keys) values.emplace(key.path, key.in_effect(profile));
    return values;
}

Profile parse_profile(std::string_view yaml, std::string_view file) {
    Problems problems(file);
    const YamlDocument document = read_yaml(yaml, problems);
    Profile profile;
    read_map(*document.root, "a config", "", profile, problems);
    problems.throw_if_any();
    return profile;
}

Profile load_profile(const std::string& file) {
    return parse_profile(util::read_file(file, most_yaml_bytes, "config"), file);
}

void set_key(Profile& profile, const std::string& assignment) {
    const std::size_t end = assignment.find('=');
    Problems problems("--set " + assignment);
    YamlNode value;
    value.kind = YamlNode::Kind::scalar;
    value.at = {0, 0};
    value.plain = true;
    if (end == std::string::npos || end + 1 == assignment.size()) {
        problems.fail(value.at, "expected KEY=VALUE");
    }
    const std::string name = assignment.substr(0, end);
    value.text = assignment.substr(end + 1);
    std::vector<std::string> names;
    for (const ProfileKey& key : profile_keys) {
        const std::string path(key.path);
        names.push_back(path.substr(path.rfind('.') + 1));
        if (name != path && name != names.back()) continue;
        key.read({value, key.path, problems}, profile);
        problems.throw_if_any();
        return;
    }
    problems.add_unknown(value.at, "key", name, names, "a key of a config");
    problems.throw_if_any();
}

}  // namespace perfgate::suite
