// SPDX-License-Identifier: Apache-2.0
#include "suite/profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "model/baseline.hpp"
#include "util/file.hpp"

namespace perfgate::suite {

namespace {

constexpr std::size_t longest_folder = 4096;

/// Where a key of the policy is.
template <auto member>
constexpr auto in_policy = in(&Profile::policy, member);

std::string processes_text(const Profile& profile) {
    if (profile.processes) return std::to_string(*profile.processes);
    return fmt::format("{} to {}", settling_processes, usual_processes);
}

/// The fewest and the most processes of a case.
std::pair<std::int64_t, std::int64_t> processes_of(const Profile& profile) {
    if (profile.processes) return {*profile.processes, *profile.processes};
    return {settling_processes, usual_processes};
}

using ProfileKey = Key<Profile>;

/// A key of the policy: `fail`, or the word for what else becomes of that verdict.
template <auto member>
ProfileKey fails(std::string_view name, const std::string& other, std::string_view help) {
    return {name, help, choice<bool>({{"fail", true}, {other, false}}), in_policy<member>,
            Weaker::less};
}

template <auto member>
ProfileKey severity_of(std::string_view metrics) {
    using model::Severity;
    return {fmt::format("policy.severity.{}", metrics),
            fmt::format("A gated {} metric is worse than a tolerance that states no severity: "
                        "`fail`, or `warn`, which is in every report and never in the exit code.",
                        metrics),
            choice<Severity>({{"fail", Severity::fail}, {"warn", Severity::warn}}),
            in(&Profile::policy, &model::Policy::severity, member), Weaker::more};
}

template <auto member>
ProfileKey on_change(std::string_view name, std::string_view what) {
    using model::OnChange;
    return {
        fmt::format("policy.changed.{}", name),
        fmt::format("{} is not the baseline's: `accept` says nothing, `warn` names it, "
                    "`refuse` compares nothing and the cases are invalid (exit code 3).",
                    what),
        choice<OnChange>(
            {{"accept", OnChange::accept}, {"warn", OnChange::warn}, {"refuse", OnChange::refuse}}),
        in(&Profile::policy, &model::Policy::changed, member), Weaker::less};
}

template <auto member>
ProfileKey folder(std::string_view name, std::string_view help, std::string_view usual) {
    return {name,
            help,
            text("the path of a folder", longest_folder),
            member,
            Weaker::any,
            [usual](const Profile& of) { return (of.*member).value_or(std::string(usual)); }};
}

/// By their paths, in the order of documents; those of one map are together.
const std::vector<ProfileKey>& profile_keys() {
    using model::ChangePolicy;
    using model::Policy;
    using model::SeverityPolicy;
    static const std::vector<ProfileKey> keys{
        {"backend",
         "What measures: `cuda` is a GPU or an error, `host` measures host variants, `auto` uses "
         "the GPU if there is one.",
         word({"auto", "cuda", "host"}), &Profile::backend, Weaker::any,
         [](const Profile& of) { return of.backend.value_or(std::string(usual_backend)); }},
        fails<&Policy::no_baseline_fails>("policy.no_baseline", "skip",
                                          "A case without baseline: exit code 4, or skipped."),
        fails<&Policy::inconclusive_fails>(
            "policy.inconclusive", "pass",
            "A case without a clear verdict, also if its code or the clock explains that it "
            "got worse: exit code 4, or a pass."),
        fails<&Policy::not_shown_fails>(
            "policy.not_shown", "pass",
            "A time that is not shown to be within its tolerance, also if the baseline's processes "
            "disagree, a higher clock may hide a regression, only the host code differs, or it is "
            "too good: exit code 4, or a pass."),
        fails<&Policy::improved_fails>(
            "policy.improved", "pass",
            "An improvement that is not accepted within `improvement_days` of the run that first "
            "noted it: exit code 4, or a note. `fail` is for the runs of the main branch, which "
            "note in the ledger what they first see."),
        {"policy.improvement_days",
         "How many days an improvement may stay unaccepted: its baseline does not see what gets "
         "worse again.",
         integer(1, 3650, "a number of days"), in_policy<&Policy::improvement_days>, Weaker::more},
        {"policy.too_good",
         "A time that is better by more than this factor may not have done its work: inconclusive, "
         "exit code 4 where `not_shown` fails, until it is accepted.",
         number(R"("exclusiveMinimum": 1)",
                [](double factor) { return std::isfinite(factor) && factor > 1; },
                "a factor above 1"),
         in_policy<&Policy::too_good>, Weaker::more},
        // The rarer a false alarm may be, the more a change has to be to be found.
        {"policy.false_alarms",
         "The share of whole runs that may fail for a time though none became slower by more than "
         "its tolerance. It is shared out over all that is judged by its spread.",
         fraction(R"("anyOf": [{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                    {"$ref": "#/definitions/percentage"}])",
                  [](double share) { return share > 0 && share < 1; },
                  "more than 0 % and less than 100 %"),
         in_policy<&Policy::false_alarms>, Weaker::less},
        {"policy.rounds", "How often flagged cases may be measured again, in fresh processes.",
         integer(0, 10, "a number of rounds"), in_policy<&Policy::rounds>, Weaker::any},
        {"policy.acknowledgement_days",
         "How many days ahead the last day of an acknowledgement (`accept --expires`) may be. One "
         "that is further ahead does not hold.",
         integer(0, 3650, "a number of days"), in_policy<&Policy::acknowledgement_days>,
         Weaker::more},
        on_change<&ChangePolicy::board>("board", "The board"),
        on_change<&ChangePolicy::driver>("driver", "The driver"),
        on_change<&ChangePolicy::cuda_toolkit>("cuda_toolkit", "The CUDA toolkit"),
        on_change<&ChangePolicy::cupti>("cupti", "CUPTI"),
        on_change<&ChangePolicy::tool_version>("tool_version", "The version of perfgate"),
        severity_of<&SeverityPolicy::exact>("exact"),
        severity_of<&SeverityPolicy::counter>("counter"),
        severity_of<&SeverityPolicy::timing>("timing"),
        {"junit_profile",
         "`github`: with file, line and properties. `strict`: validates against both common "
         "schemas.",
         word({"github", "strict"}), &Profile::junit_profile, Weaker::any,
         [](const Profile& of) {
             return of.junit_profile.value_or(std::string(usual_junit_profile));
         }},
        folder<&Profile::baselines>("baselines", "Folder of the baselines.", usual_baselines),
        folder<&Profile::out>("out", "Folder for the run's documents and reports.", usual_out),
        ProfileKey("processes",
                   "Fresh processes that each take a batch of every time; a baseline takes 20, "
                   "of programs and Python files at most 12.",
                   integer(1, 1000, "a number of processes"), &Profile::processes)
            .shows(processes_text)
            .usually(processes_text({}))
            .weaker_if([](const Profile& before, const Profile& after) {
                const auto [fewest_before, most_before] = processes_of(before);
                const auto [fewest, most] = processes_of(after);
                return fewest < fewest_before || most < most_before;
            }),
        ProfileKey(
            "plugins",
            "Files with plugins that every run loads, as with `--plugin`; relative to the folder "
            "that perfgate runs in.",
            files("plugins"), &Profile::plugins)
            .shows([](const Profile& of) {
                return of.plugins.empty() ? std::string("none")
                                          : fmt::format("{}", fmt::join(of.plugins, ", "));
            })
            .usually("none"),
        ProfileKey(
            "build",
            "Command line (`/bin/sh`) that builds a git revision for `ab --base rev:REF` and "
            "`bisect`, in the top folder of its checkout. The working tree is not built.",
            text("a command line", longest_folder), &Profile::build)
            .shows([](const Profile& of) { return of.build.value_or("none"); })
            .usually("none"),
        ProfileKey(
            "builds",
            "Folder in which `baseline refresh` keeps the builds that it measured, and from which "
            "`run` measures a base on a board that the baseline does not know. Content is checked "
            "against the baseline before it is used.",
            text("the path of a folder", longest_folder), &Profile::builds)
            .shows([](const Profile& of) { return of.builds.value_or("none"); })
            .usually("none"),
        {"creep",
         "How much worse accepted changes may make a gated metric in all, since its anchor.",
         fraction(), &Profile::creep, Weaker::more,
         [](const Profile& of) { return of.creep.value_or(model::usual_creep_bound); }},
        {"canary",
         "After a run, measure a quick case once more, made slower, and exit with 3 if the gate "
         "does not find it.",
         boolean(), &Profile::canary, Weaker::less},
        {"prove",
         "Prove on the run's document that each gate fails if its metric is worse by twice what it "
         "claims to detect, and exit with 3 if one cannot.",
         boolean(), &Profile::prove, Weaker::less},
        // Nobody sees times of unchanged code then.
        {"changed_only",
         "Measure only cases whose machine code, launch or inputs differ from the baseline's. "
         "Cases of programs are always measured.",
         boolean(), &Profile::changed_only, Weaker::more},
        {"complete",
         "A suite that has a baseline of the device and was not given to a run is missing (exit "
         "code 1). Runs with `--filter`, `--tag` or `--shard` are exempt; `compare` of all shards "
         "is not.",
         boolean(), in_policy<&Policy::complete>, Weaker::less},
    };
    return keys;
}

/// Reads the keys of a map whose paths begin with `prefix`: "", "policy.".
void read_map(const YamlNode& node, std::string_view what, const std::string& prefix,
              Profile& profile, Problems& problems) {
    std::vector<std::string> names;
    std::vector<const ProfileKey*> rows;  // of each name the first
    for (const ProfileKey& row : profile_keys()) {
        if (!row.name.starts_with(prefix)) continue;
        const std::string rest = row.name.substr(prefix.size());
        const std::string next = rest.substr(0, rest.find('.'));
        if (!names.empty() && names.back() == next) continue;
        names.push_back(next);
        rows.push_back(&row);
    }
    const Fields fields(node, what, names, problems);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const YamlNode* found = fields.find(names[i]);
        if (found == nullptr) continue;
        const std::string path = prefix + names[i];
        if (rows[i]->name == path) {
            rows[i]->read({*found, names[i], problems}, profile);
        } else {
            read_map(*found, fmt::format("'{}'", names[i]), path + '.', profile, problems);
        }
    }
}

}  // namespace

std::string baselines_of(const Profile& profile) {
    return profile.baselines.value_or(std::string(usual_baselines));
}

std::vector<KeyText> tables::profile() {
    return texts_of(profile_keys());
}

std::vector<WeakerKey> weaker_keys(const Profile& before, const Profile& after) {
    return weaker_keys(profile_keys(), before, after);
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
    for (const ProfileKey& row : profile_keys()) {
        names.push_back(row.name.substr(row.name.rfind('.') + 1));
        if (name != row.name && name != names.back()) continue;
        row.read({value, row.name, problems}, profile);
        problems.throw_if_any();
        return;
    }
    problems.add_unknown(value.at, "key", name, names, "a key of a config");
    problems.throw_if_any();
}

}  // namespace perfgate::suite
