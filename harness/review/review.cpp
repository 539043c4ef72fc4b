// SPDX-License-Identifier: Apache-2.0
#include "review/review.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace perfgate::review {

namespace {

constexpr std::array<std::string_view, 24> names{
    "suite removed",     "suite repeated",   "case removed",       "case skipped",
    "tolerance raised",  "severity lowered", "gate removed",       "relation removed",
    "measured less",     "check removed",    "case changed",       "tag removed",
    "policy lowered",    "config removed",   "baseline removed",   "baseline raised",
    "baseline weakened", "baseline edited",  "baseline refreshed", "anchor raised",
    "not compared",      "acknowledged",     "history rewritten",  "unreadable"};
static_assert(names.size() == static_cast<std::size_t>(Loosening::unreadable) + 1);

void compare(const std::string& path, const suite::Profile& before, const suite::Profile& after,
             Findings& findings) {
    constexpr std::string_view policy = "policy.";
    for (const suite::WeakerKey& one : suite::weaker_keys(before, after)) {
        findings.add(Loosening::policy_lowered, {path, 0},
                     one.key.starts_with(policy) ? one.key.substr(policy.size()) : one.key, one.was,
                     one.is);
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

/// How far results may be off from their references.
void compare_python(const Expectations& before, const Expectations& after, Findings& findings) {
    const auto compare = [&](const python::DeclaredWorkload& was, const std::string& path,
                             const std::vector<python::DeclaredWorkload>& workloads) {
        for (const python::DeclaredWorkload& is : workloads) {
            if (is.info.name != was.info.name) continue;
            for (const auto& one : python::looser_tolerances(was.tolerances, is.tolerances)) {
                const auto line = static_cast<std::int64_t>(one.line == 0 ? is.line : one.line);
                findings.add(Loosening::tolerance_raised, {path, line}, one.name, one.was, one.is,
                             is.info.name);
            }
        }
    };
    for (const auto& [path, workloads] : before.python) {
        const auto same = after.python.find(path);
        for (const python::DeclaredWorkload& was : workloads) {
            if (same != after.python.end()) {
                compare(was, path, same->second);
                continue;
            }
            for (const auto& [other, of_other] : after.python) compare(was, other, of_other);
        }
    }
}

std::vector<Finding> loosened(const Expectations& before, const Expectations& after) {
    Findings findings;
    compare_suites(before, after, findings);
    compare_python(before, after, findings);
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
            notes.push_back(fmt::format("{}: a new config", path));
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
