// SPDX-License-Identifier: Apache-2.0
#include "bisect/search_document.hpp"

#include <utility>

#include "document/archive.hpp"
#include "util/word_of.hpp"

namespace perfgate::bisect {

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
