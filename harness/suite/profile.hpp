// SPDX-License-Identifier: Apache-2.0
// A config: defaults and policy, kept in a file (`--config`), so that a gate behaves the same in CI
// and elsewhere. The command line takes precedence, also for single keys (`--set KEY=VALUE`).
//
// Every key is optional. Paths are relative to the folder that perfgate runs in, as on the command
// line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/verdict.hpp"
#include "suite/keys.hpp"

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
    std::vector<std::string> plugins = {};
    std::optional<double> creep = std::nullopt;  ///< a fraction
    bool canary = false;
    bool prove = false;
    bool changed_only = false;
    std::optional<std::string> build = std::nullopt;
    std::optional<std::string> builds = std::nullopt;

    bool operator==(const Profile&) const = default;
};

/// The folder of the baselines.
std::string baselines_of(const Profile& profile);

/// The keys by which the later profile is weaker; the key of a map's key is its path
/// ("policy.changed.board"). Any change counts of those of which no value is weaker.
std::vector<WeakerKey> weaker_keys(const Profile& before, const Profile& after);

/// Throws util::InputError with every problem, as parse_suite does.
Profile parse_profile(std::string_view yaml, std::string_view file);
Profile load_profile(const std::string& file);

/// Sets one key, as "policy.not_shown=fail"; the last part of its name is enough. Throws
/// util::InputError for an unknown key or a wrong value.
void set_key(Profile& profile, const std::string& assignment);

}  // namespace perfgate::suite
