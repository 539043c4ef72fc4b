// SPDX-License-Identifier: Apache-2.0
// What the page of a report shows, and its description (document/archive.hpp), from which the data
// and the page's types (html/src/data.ts) are made. It has no version: the page comes from the same
// build. Repeated texts, metrics and verdicts are written once and referenced by number, and what
// there are many of are rows, so that browsers can open a page of 10,000 cases.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/shared.hpp"
#include "model/environment.hpp"
#include "model/run.hpp"
#include "report/code_page.hpp"

namespace perfgate::report::page {

using document::Described;
using Number = std::int64_t;  ///< of an entry of `texts`, `metrics`, `verdicts` or `suites`

struct Verdict {
    std::string name;
    std::int64_t severity = 0;  ///< higher is worse
    std::string outcome;        ///< according to the run's policy
};

struct Metric {
    std::string name, unit, description;
};

struct Relation {
    Number verdict = 0;
    std::string word, name, sentence;
};

struct Suite {
    std::string name, counts, baseline, relations_in_words;
    std::vector<Relation> relations;
};

struct Note {
    std::string text;
    std::vector<std::string> suites;  ///< that have it; empty: all
};

/// A metric of a case: what it was, what it is, and what the gate said.
struct Value {
    Number metric = 0;
    std::optional<double> before, after;
    std::string before_text, after_text, moved;  ///< in words, as the other reports say it
    std::optional<Number> verdict, tolerance;    ///< nothing: it was not judged
    std::string interval;                        ///< of the change, in words
    std::string sentence;                        ///< of what did not pass
    std::optional<double> least, most;           ///< of a gated time: what its tolerance allows
};

/// The samples of one process.
struct Batch {
    std::int64_t process = 0, round = 0;
    std::int64_t count = 0;       ///< samples taken
    std::vector<double> samples;  ///< those shown
    std::optional<double> sm_clock_mhz;
    std::optional<Number> excluded;  ///< why; nothing: it is used
};

struct Spread {
    Number metric = 0;
    std::vector<double> baseline, measured;  ///< one value for each process, as judged
    std::vector<Batch> batches;
    std::optional<Number> method;
};

/// A text that is clean: of several lines, or longer than others may be.
struct CleanText {
    std::string text;
    bool operator==(const CleanText&) const = default;
};

/// To go on with.
struct Command {
    std::string purpose;
    CleanText line;
};

struct Case {
    Number suite = 0;
    std::string id;
    Number workload = 0, verdict = 0;
    std::string place, first;   ///< `first`: the first reason, in brief
    std::string compared_with;  ///< commit and date of its baseline
    std::vector<std::string> reasons, why, notes;
    CleanText log;
    std::string code, roof;
    double wall_s = 0;
    std::vector<Number> tags, not_applicable;
    std::string verified;
    std::optional<model::Work> work;
    std::vector<model::Kernel> kernels;  ///< without their names, which are long and repeated
    std::vector<Number> kernel_names;
    std::optional<Number> shown;  ///< the metric of its row: what decides its verdict, or its time
    std::vector<Value> values;
    std::vector<Spread> spreads;
    std::vector<CodeKernel> machine_code;
};

struct Data {
    std::string summary, counts;
    std::int64_t exit_code = 0;
    bool verify_only = false;
    std::vector<std::array<std::string, 2>> facts;
    std::vector<Command> commands;
    std::vector<Note> notes;
    model::Ceilings ceilings;
    std::vector<Verdict> verdicts;
    std::vector<Suite> suites;
    std::vector<Case> cases;
    std::vector<std::string> texts;
    std::vector<Metric> metrics;
};

inline void write(document::JsonWriter& json, const CleanText& clean) {
    json.clean_value(clean.text);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Verdict>& verdict) {
    archive.required("name", verdict.name);
    archive.required("severity", verdict.severity);
    archive.required("outcome", verdict.outcome);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Metric>& metric) {
    archive.required("name", metric.name);
    archive.required("unit", metric.unit);
    archive.optional("description", metric.description);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Relation>& relation) {
    archive.required("verdict", relation.verdict);
    archive.required("word", relation.word);
    archive.required("name", relation.name);
    archive.required("sentence", relation.sentence);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Suite>& suite) {
    archive.required("name", suite.name);
    archive.required("counts", suite.counts);
    archive.optional("baseline", suite.baseline);
    archive.optional("relations_in_words", suite.relations_in_words);
    archive.optional("relations", suite.relations);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Note>& note) {
    archive.required("text", note.text);
    archive.optional("suites", note.suites);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Command>& command) {
    archive.required("purpose", command.purpose);
    archive.required("line", command.line);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Value>& value) {
    archive.required("metric", value.metric);
    archive.optional("before", value.before);
    archive.optional("after", value.after);
    archive.optional("before_text", value.before_text);
    archive.optional("after_text", value.after_text);
    archive.optional("moved", value.moved);
    archive.optional("verdict", value.verdict);
    archive.optional("tolerance", value.tolerance);
    archive.optional("interval", value.interval);
    archive.optional("least", value.least);
    archive.optional("most", value.most);
    archive.optional("sentence", value.sentence);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Batch>& batch) {
    archive.required("process", batch.process);
    archive.required("round", batch.round);
    archive.required("count", batch.count);
    archive.required("samples", batch.samples);
    archive.optional("sm_clock_mhz", batch.sm_clock_mhz);
    archive.optional("excluded", batch.excluded);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Spread>& spread) {
    archive.required("metric", spread.metric);
    archive.required("baseline", spread.baseline);
    archive.required("measured", spread.measured);
    archive.required("batches", spread.batches);
    archive.optional("method", spread.method);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Case>& of) {
    archive.required("suite", of.suite);
    archive.required("id", of.id);
    archive.required("workload", of.workload);
    archive.required("verdict", of.verdict);
    archive.optional("place", of.place);
    archive.optional("first", of.first);
    archive.optional("compared_with", of.compared_with);
    archive.optional("reasons", of.reasons);
    archive.optional("why", of.why);
    archive.optional("notes", of.notes);
    archive.optional("log", of.log);
    archive.optional("code", of.code);
    archive.optional("roof", of.roof);
    archive.required("wall_s", of.wall_s);
    archive.optional("tags", of.tags);
    archive.optional("not_applicable", of.not_applicable);
    archive.optional("verified", of.verified);
    archive.optional("work", of.work);
    archive.optional("kernels", of.kernels, document::rows);
    archive.optional("kernel_names", of.kernel_names);
    archive.optional("shown", of.shown);
    archive.optional("values", of.values);
    archive.optional("spreads", of.spreads);
    archive.optional("machine_code", of.machine_code);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Data>& data) {
    archive.optional("summary", data.summary);
    archive.required("counts", data.counts);
    archive.required("exit_code", data.exit_code);
    archive.optional("verify_only", data.verify_only);
    archive.required("facts", data.facts);
    archive.optional("commands", data.commands);
    archive.optional("notes", data.notes);
    archive.required("ceilings", data.ceilings);
    archive.required("verdicts", data.verdicts);
    archive.required("suites", data.suites);
    archive.required("cases", data.cases);
    archive.required("texts", data.texts);
    archive.required("metrics", data.metrics);
}

}  // namespace perfgate::report::page

namespace perfgate::document {

template <>
inline constexpr bool is_row<report::page::Value> = true;
template <>
inline constexpr bool is_row<report::page::Batch> = true;
template <>
inline constexpr bool is_row<report::page::Spread> = true;

}  // namespace perfgate::document
