// SPDX-License-Identifier: Apache-2.0
#include "suite/profile.hpp"

#include <array>
#include <vector>

#include "model/file.hpp"
#include "suite/fields.hpp"

namespace perfgate::suite {

namespace {

constexpr std::size_t longest_path = 4096;

constexpr std::array<std::string_view, 5> profile_keys{"backend", "policy", "junit_profile",
                                                       "baselines", "out"};
constexpr std::array<std::string_view, 2> policy_keys{"no_baseline", "inconclusive"};

std::optional<std::string> read_word(const Fields& fields, std::string_view key,
                                     const std::vector<std::string>& choices, Problems& problems) {
    const YamlNode* node = fields.find(key);
    if (node == nullptr) return std::nullopt;
    const std::optional<std::size_t> choice = read_choice(*node, key, choices, problems);
    if (!choice) return std::nullopt;
    return choices[*choice];
}

/// Whether the policy says `fail`; the other word depends on the verdict.
bool read_fails(const Fields& fields, std::string_view key, std::string_view other,
                Problems& problems) {
    return read_word(fields, key, {"fail", std::string(other)}, problems) == "fail";
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
    }
    profile.junit_profile = read_word(fields, "junit_profile", {"github", "strict"}, problems);
    profile.baselines = read_folder(fields, "baselines", problems);
    profile.out = read_folder(fields, "out", problems);
    problems.throw_if_any();
    return profile;
}

Profile load_profile(const std::string& file) {
    return parse_profile(model::read_file(file, most_yaml_bytes, "profile"), file);
}

}  // namespace perfgate::suite
