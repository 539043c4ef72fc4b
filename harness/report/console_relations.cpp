// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "report/console_text.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

using model::Verdict;

void write_relations(const model::SuiteVerdict& suite, bool list_all, std::size_t most_rows,
                     ConsoleText& text) {
    std::vector<const model::RelationVerdict*> listed;
    std::map<std::string, std::string> first_reasons;  // of each relation that was skipped
    std::map<std::string, std::size_t> skipped;
    for (const model::RelationVerdict& relation : suite.relations) {
        if (list_all || needs_attention(relation.verdict)) {
            listed.push_back(&relation);
        } else if (relation.verdict == Verdict::skipped) {
            const auto reason =
                first_reasons.try_emplace(relation.relation, relation.sentence).first;
            ++skipped[log_line(relation.relation + ": " + reason->second)];
        }
    }
    std::stable_sort(listed.begin(), listed.end(), [](const auto* left, const auto* right) {
        return severity(left->verdict) > severity(right->verdict);
    });
    const std::size_t rows = std::min(listed.size(), most_rows);
    for (std::size_t i = 0; i < rows; ++i) {
        const model::RelationVerdict& relation = *listed[i];
        // Without values the sentence does not say what was expected.
        const std::string name = relation.left ? "" : relation_name(relation) + ": ";
        text.labelled(style_of(relation.verdict), std::string(relation_word(relation.verdict)),
                      log_line(name + relation.sentence));
    }
    if (listed.size() > rows) {
        text.append(fmt::format("{} more relations; --json, --junit and --csv have all\n",
                                listed.size() - rows));
    }
    text.counted("relation skipped", skipped);
}

}  // namespace perfgate::report
