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

PERFGATE_FIELDS(Verdict, required(name, severity, outcome))

PERFGATE_FIELDS(Metric, required(name, unit), optional(description))

PERFGATE_FIELDS(Relation, required(verdict, word, name, sentence))

PERFGATE_FIELDS(Suite, required(name, counts), optional(baseline, relations_in_words, relations))

PERFGATE_FIELDS(Note, required(text), optional(suites))

PERFGATE_FIELDS(Command, required(purpose, line))

PERFGATE_ROW_FIELDS(Value, required(metric),
                    optional(before, after, before_text, after_text, moved, verdict, tolerance,
                             interval, least, most, sentence))

PERFGATE_ROW_FIELDS(Batch, required(process, round, count, samples),
                    optional(sm_clock_mhz, excluded))

PERFGATE_ROW_FIELDS(Spread, required(metric, baseline, measured, batches), optional(method))

PERFGATE_FIELDS(Case, required(suite, id, workload, verdict),
                optional(place, first, compared_with, reasons, why, notes, log, code, roof),
                required(wall_s), optional(tags, not_applicable, verified, work),
                with(optional, kernels, document::rows),
                optional(kernel_names, shown, values, spreads, machine_code))

PERFGATE_FIELDS(Data, optional(summary), required(counts, exit_code), optional(verify_only),
                required(facts), optional(commands, notes),
                required(ceilings, verdicts, suites, cases, texts, metrics))

}  // namespace perfgate::report::page
