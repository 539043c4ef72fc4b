// SPDX-License-Identifier: Apache-2.0
#include "bisect/search.hpp"

#include <utility>

#include "document/archive.hpp"
#include "util/text.hpp"

namespace perfgate::bisect {

std::string_view to_text(Decision decision) {
    return util::word_of<Decision::broken>(decision,
                                           {"not slower", "slower", "undecided", "broken"});
}

Candidates candidates(std::span<const std::optional<Decision>> decisions) {
    Candidates found{0, 0};
    while (found.last + 1 < decisions.size() && decisions[found.last] != Decision::slower) {
        ++found.last;
    }
    for (std::size_t i = 0; i < found.last; ++i) {
        if (decisions[i] == Decision::not_slower) found.first = i + 1;
    }
    return found;
}

std::optional<std::size_t> next_commit(std::span<const std::optional<Decision>> decisions) {
    const Candidates among = candidates(decisions);
    // The last one is known to be slow.
    const auto distance = [&](std::size_t i) {
        const std::size_t doubled = 2 * i + 1;
        const std::size_t middle = among.first + among.last;
        return doubled > middle ? doubled - middle : middle - doubled;
    };
    std::optional<std::size_t> best;
    for (std::size_t i = among.first; i < among.last; ++i) {
        if (decisions[i]) continue;
        if (!best || distance(i) < distance(*best)) best = i;
    }
    return best;
}

std::string_view to_text(Outcome outcome) {
    return util::word_of<Outcome::one_of>(outcome, {"running", "not shown", "found", "one of"});
}

}  // namespace perfgate::bisect

namespace perfgate::document {

template <>
inline constexpr JsonLayout layout_of<bisect::SearchDocument> = JsonLayout::lines;

}  // namespace perfgate::document

namespace perfgate::bisect {

namespace {

constexpr document::Schema search_schema{"perfgate.bisect", 1, 1};

}  // namespace

PERFGATE_FIELDS(Target, required(suite), named(required, "case", id),
                required(metric, unit, good, bad), optional(bad_spread))

PERFGATE_FIELDS(Step, required(commit, decision), optional(why, change, pairs, wall_s))

PERFGATE_FIELDS(SearchDocument, required(good, bad, settings), optional(device), required(outcome),
                with(optional, commits, document::lines), optional(target),
                with(always, steps, document::lines))

std::string write_search(const SearchDocument& search) {
    return write_document(search_schema, search);
}

SearchDocument parse_search(std::string json, std::string_view source) {
    document::JsonDocument document(std::move(json), std::string(source));
    SearchDocument search;
    read_document(document, search_schema, search);
    return search;
}

}  // namespace perfgate::bisect
