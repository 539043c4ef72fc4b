// SPDX-License-Identifier: Apache-2.0
#include "report/reporter.hpp"

namespace perfgate::report {

bool is_web_address(std::string_view text) {
    constexpr std::size_t longest = 2000;
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#[]@!$&'()*+,;=%";
    const std::size_t scheme = text.starts_with("https://")  ? 8
                               : text.starts_with("http://") ? 7
                                                             : 0;
    return scheme > 0 && text.size() > scheme && text.size() <= longest &&
           text.find_first_not_of(allowed) == std::string_view::npos;
}

std::optional<JunitProfile> find_junit_profile(std::string_view name) {
    if (name == "github") return JunitProfile::github;
    if (name == "strict") return JunitProfile::strict;
    return std::nullopt;
}

}  // namespace perfgate::report
