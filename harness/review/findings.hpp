// SPDX-License-Identifier: Apache-2.0
// Collects findings: cases with the same change share one finding.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "review/expectations.hpp"
#include "review/finding.hpp"

namespace perfgate::review {

class Findings {
  public:
    /// `case_id` empty: it is about no case.
    void add(Loosening kind, const model::SourcePlace& place, const std::string& subject,
             const std::string& before, const std::string& after, const std::string& case_id = {}) {
        std::set<std::string>& cases =
            found_[{kind, place.file, place.line, subject, before, after}];
        if (!case_id.empty()) cases.insert(case_id);
    }

    std::vector<Finding> take() && {
        std::vector<Finding> findings;
        for (const auto& [key, cases] : found_) {
            const auto& [kind, file, line, subject, before, after] = key;
            findings.push_back(
                {kind, {file, line}, subject, before, after, {cases.begin(), cases.end()}});
        }
        return findings;
    }

  private:
    using Key =
        std::tuple<Loosening, std::string, std::int64_t, std::string, std::string, std::string>;
    std::map<Key, std::set<std::string>> found_;
};

void compare_suites(const Expectations& before, const Expectations& after, Findings& findings);
void compare_baselines(const Expectations& before, const Expectations& after, Findings& findings);

}  // namespace perfgate::review
