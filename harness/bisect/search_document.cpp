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

template <class Archive>
void describe(Archive& archive, document::Described<Archive, Target>& target) {
    archive.required("suite", target.suite);
    archive.required("case", target.id);
    archive.required("metric", target.metric);
    archive.required("unit", target.unit);
    archive.required("good", target.good);
    archive.required("bad", target.bad);
    archive.optional("bad_spread", target.bad_spread);
}

template <class Archive>
void describe(Archive& archive, document::Described<Archive, Step>& step) {
    archive.required("commit", step.commit);
    archive.required("decision", step.decision);
    archive.optional("why", step.why);
    archive.optional("change", step.change);
    archive.optional("pairs", step.pairs);
    archive.optional("wall_s", step.wall_s);
}

template <class Archive>
void describe(Archive& archive, document::Described<Archive, SearchDocument>& search) {
    archive.required("good", search.good);
    archive.required("bad", search.bad);
    archive.required("settings", search.settings);
    archive.optional("device", search.device);
    archive.required("outcome", search.outcome);
    archive.optional("commits", search.commits, document::lines);
    archive.optional("target", search.target);
    archive.always("steps", search.steps, document::lines);
}

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
