// SPDX-License-Identifier: Apache-2.0
// A config: defaults and policy, kept in a file (`--config`), so that a gate behaves the same in CI
// and elsewhere. The command line takes precedence, also for single keys (`--set KEY=VALUE`).
//
//   backend: cuda            # auto, cuda or host
//   policy:
//     no_baseline: fail      # fail or skip
//     inconclusive: fail     # fail or pass
//     not_shown: fail        # fail or pass
//     too_good: 3            # a time that is better by more than this factor is not believed
//     false_alarms: 0.1%     # of whole runs whose times did not change
//     rounds: 2              # how often flagged cases may be measured again
//     acknowledgement_days: 90  # how far ahead the last day of an acknowledgement may be
//     severity:              # of gates whose tolerance states none: fail (the default) or warn
//       counter: warn        # so exact, timing
//     changed:               # since the baseline: accept, warn (the default) or refuse
//       board: warn
//       driver: refuse       # so cuda_toolkit, cupti, tool_version
//   junit_profile: github    # github or strict
//   baselines: baselines     # folder, as --baselines
//   out: perfgate-out        # folder, as --out
//   processes: 5             # as --processes
//   creep: 10%               # limit for the sum of accepted changes
//   canary: true             # proves after a run that the gate finds a slowdown
//   prove: true              # as --prove: proves that each gate can fail
//   changed_only: true       # as --changed-only
//   complete: true           # a suite that has a baseline and was not given is missing
//
// Every key is optional. Paths are relative to the folder that perfgate runs in, as on the command
// line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/verdict.hpp"

namespace perfgate::suite {

/// What holds if neither the profile nor the command line says.
inline constexpr std::string_view usual_backend = "auto";
inline constexpr std::string_view usual_junit_profile = "github";
inline constexpr std::string_view usual_baselines = "baselines";
inline constexpr std::string_view usual_out = "perfgate-out";
/// Batches of a case: after `settling_processes`, a case that passes has enough, and others get
/// `usual_processes`.
inline constexpr std::size_t settling_processes = 3;
inline constexpr std::size_t usual_processes = 5;

struct Profile {
    std::optional<std::string> backend;        ///< "auto", "cuda", "host"
    model::Policy policy;                      ///< keys that are left out do not fail
    std::optional<std::string> junit_profile;  ///< "github", "strict"
    std::optional<std::string> baselines;
    std::optional<std::string> out;
    std::optional<std::int64_t> processes = std::nullopt;
    std::optional<double> creep = std::nullopt;  ///< a fraction
    bool canary = false;
    bool prove = false;
    bool changed_only = false;

    bool operator==(const Profile&) const = default;
};

/// The folder of the baselines.
std::string baselines_of(const Profile& profile);

/// What each key comes to, in words, by its path ("policy.changed.board"): the default where the
/// profile does not state it.
std::map<std::string, std::string> in_effect(const Profile& profile);

/// Throws util::InputError with every problem, as parse_suite does.
Profile parse_profile(std::string_view yaml, std::string_view file);
Profile load_profile(const std::string& file);

/// Sets one key, as "policy.not_shown=fail"; the last part of its name is enough. Throws
/// util::InputError for an unknown key or a wrong value.
void set_key(Profile& profile, const std::string& assignment);

}  // namespace perfgate::suite
