// SPDX-License-Identifier: Apache-2.0
// Workflow commands of GitHub Actions: each marks a line with the results of its cases. It is the
// line that got slower, or at which the source of a changed kernel begins, where that is known,
// else one of the suite. GitHub silently drops more than ten annotations of a kind per step: cases
// of the same line share one, the worst come first, and the last one counts what has none.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/formats.hpp"
#include "report/joined.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"
#include "report/workflow_command.hpp"

namespace perfgate::report {

namespace {

using model::Verdict;

constexpr std::size_t longest_message = 2500;  ///< of the 4,096 characters that GitHub shows
constexpr std::size_t longest_annotation = 1000;
constexpr std::size_t longest_title = 150;
constexpr std::size_t most_others = 5;

/// The annotation of a line.
struct Remark {
    Verdict verdict = Verdict::pass;
    std::string title;               ///< plain
    std::vector<std::string> lines;  ///< plain
};

struct Group {
    model::SourcePlace place;
    std::vector<Remark> remarks;
};

/// Groups by place, in order of first appearance.
class Groups {
  public:
    void add(const model::SourcePlace& place, Remark remark) {
        const auto [known, fresh] = index_.try_emplace(place, groups_.size());
        if (fresh) groups_.push_back({place, {}});
        groups_[known->second].remarks.push_back(std::move(remark));
    }

    /// The places with their annotations.
    std::vector<Group> worst_first() && {
        for (Group& group : groups_) {
            std::stable_sort(group.remarks.begin(), group.remarks.end(),
                             [](const Remark& left, const Remark& right) {
                                 return severity(left.verdict) > severity(right.verdict);
                             });
        }
        std::stable_sort(groups_.begin(), groups_.end(), [](const Group& left, const Group& right) {
            return severity(left.remarks.front().verdict) > severity(right.remarks.front().verdict);
        });
        return std::move(groups_);
    }

  private:
    std::map<model::SourcePlace, std::size_t> index_;
    std::vector<Group> groups_;
};

/// The worst result of a place, then the others.
std::string message_of(const Group& group, std::size_t places_left_out) {
    std::vector<std::string> lines;
    for (const std::string& line : group.remarks.front().lines) {
        lines.push_back(plain_line(line, longest_annotation));
    }
    std::string text = first_lines(lines, longest_message);
    const std::size_t listed = std::min(group.remarks.size(), 1 + most_others);
    for (std::size_t i = 1; i < listed; ++i) text += "also " + group.remarks[i].title + '\n';
    if (group.remarks.size() > listed) {
        text += fmt::format("and {} more here\n", group.remarks.size() - listed);
    }
    if (places_left_out > 0) {
        text += fmt::format("{} more {} no annotation: see the other reports\n", places_left_out,
                            places_left_out == 1 ? "place has" : "places have");
    }
    text.pop_back();
    return text;
}

void append(std::string& out, std::string_view kind, Groups groups) {
    const std::vector<Group> sorted = std::move(groups).worst_first();
    for (std::size_t i = 0; i < std::min(sorted.size(), most_annotations); ++i) {
        const Group& group = sorted[i];
        const bool last = i + 1 == most_annotations;
        std::string title = group.remarks.front().title;
        if (group.remarks.size() > 1) {
            title += fmt::format(", and {} more", group.remarks.size() - 1);
        }
        out += workflow_command(kind, group.place, title,
                                message_of(group, last ? sorted.size() - most_annotations : 0));
    }
}

/// Whether it deserves a notice although it is not a failure.
bool is_worth_a_warning(Verdict verdict) {
    return verdict == Verdict::inconclusive || verdict == Verdict::no_baseline ||
           verdict == Verdict::warned;
}

}  // namespace

std::string write_annotations(const model::VerdictDocument& document, const model::Run& run,
                              const Options& /*options*/) {
    Groups errors;
    Groups warnings;
    const auto groups_for = [&](model::Outcome outcome, Verdict verdict) -> Groups* {
        if (is_bad(outcome)) return &errors;
        return is_worth_a_warning(verdict) ? &warnings : nullptr;
    };
    for (const JoinedSuite& suite : join(document, run)) {
        for (const JoinedCase& joined : suite.cases) {
            const model::CaseVerdict& verdict = *joined.verdict;
            Groups* groups = groups_for(outcome_of(verdict, document.policy), verdict.verdict);
            if (groups == nullptr || is_only_counted(verdict, document.policy)) continue;
            std::vector<std::string> lines = reasons(verdict, document.policy);
            if (is_explained(joined)) {
                lines.insert(lines.begin(), short_reason(joined, true));
            }
            for (std::string& why : why_lines(verdict)) lines.push_back(std::move(why));
            const model::SourcePlace line = line_to_look_at(joined);
            if (line.line > 0 && verdict.place.line > 0) {
                lines.push_back("case in " + place_text(verdict.place));
            }
            groups->add(line.line > 0 ? line : verdict.place,
                        {verdict.verdict,
                         fmt::format("{}: {}", plain_line(verdict.id, longest_title),
                                     to_text(verdict.verdict)),
                         std::move(lines)});
        }
        for (const model::RelationVerdict& relation : suite.verdict->relations) {
            Groups* groups =
                groups_for(outcome_of(relation.verdict, document.policy), relation.verdict);
            if (groups == nullptr) continue;
            groups->add(relation.place,
                        {relation.verdict,
                         fmt::format("{}: {}", plain_line(relation_name(relation), longest_title),
                                     relation_word(relation.verdict)),
                         {relation.sentence}});
        }
    }
    std::string out;
    append(out, "error", std::move(errors));
    append(out, "warning", std::move(warnings));
    return out +
           workflow_command(
               "notice", {}, "perfgate",
               fmt::format("{}{}{}{}{}; exit {}", plain_line(document.summary, longest_annotation),
                           document.summary.empty() ? "" : "\n", counts_text(document),
                           document.verify_only ? "; " : "",
                           document.verify_only ? verify_only_text : "", document.exit_code));
}

}  // namespace perfgate::report
