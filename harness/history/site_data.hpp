// SPDX-License-Identifier: Apache-2.0
// What the pages of a site show, and its description (document/archive.hpp), from which the data
// and the page's types (report/html/src/history/data.ts) are made. It has no version: page and data
// come from the same build. The index is in the page, the nights of each case are in a file of
// their own, which the page loads when the case is opened. Repeated texts are written once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/archive.hpp"

namespace perfgate::history::page {

using document::Described;
using Number = std::int64_t;  ///< of an entry of `texts`, `runs`, `metrics` or `cases`

struct Run {
    std::string started, revision;
    Number device = 0, driver = 0, toolkit = 0, board = 0, tool = 0;  ///< texts
};

struct Metric {
    std::string name, unit, direction;
};

struct Case {
    Number suite = 0;  ///< a text
    std::string id;
    std::string file;  ///< in the folder data, without ".js"
};

struct Point {
    Number of_case = 0, metric = 0;
    double before = 0, after = 0;
    std::string from, to, moved;  ///< both with their unit, and how far: "+4.1 %", or ""
    bool worse = false;
    bool open = false;      ///< the last change of its series
    bool accepted = false;  ///< by a later entry of the ledger
};

struct Finding {
    Number device = 0, cause = 0, evidence = 0;  ///< texts
    Number run = 0;                              ///< the first that is different
    std::vector<Point> points;                   ///< largest first
};

/// An entry of a ledger.
struct Note {
    Number device = 0, suite = 0;   ///< texts
    std::optional<Number> of_case;  ///< nothing: of the whole suite
    std::string at, action, by, reason;
};

struct Month {
    std::string month;  ///< "2026-11"
    std::int64_t judged = 0, alarms = 0, false_alarms = 0, reran = 0;
    std::optional<std::int64_t> acknowledged, accepted;  ///< nothing: no ledger was read
};

struct Index {
    std::string edition;  ///< of index and cases, which belong together
    std::int64_t lately_days = 0;
    std::vector<Run> runs;  ///< in their order
    std::vector<std::string> texts;
    std::vector<Metric> metrics;
    std::vector<Case> cases;
    std::vector<Finding> findings;  ///< by device, worst first
    std::vector<Note> notes;        ///< in the order of their times
    std::vector<Month> months;      ///< the last one first
};

struct Night {
    Number run = 0;
    std::vector<double> values;  ///< one for each process
    std::optional<Number> verdict;
};

struct Series {
    Number device = 0, metric = 0;
    double tolerance = 0;  ///< a fraction; 0: not gated
    std::vector<Night> nights;
};

struct CaseFile {
    std::string edition;
    Number of_case = 0;
    std::vector<Series> series;
};

template <class Archive>
void describe(Archive& archive, Described<Archive, Run>& run) {
    archive.required("started", run.started);
    archive.required("revision", run.revision);
    archive.required("device", run.device);
    archive.required("driver", run.driver);
    archive.required("toolkit", run.toolkit);
    archive.required("board", run.board);
    archive.required("tool", run.tool);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Metric>& metric) {
    archive.required("name", metric.name);
    archive.required("unit", metric.unit);
    archive.required("direction", metric.direction);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Case>& of_case) {
    archive.required("suite", of_case.suite);
    archive.required("id", of_case.id);
    archive.required("file", of_case.file);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Point>& point) {
    archive.required("of_case", point.of_case);
    archive.required("metric", point.metric);
    archive.required("before", point.before);
    archive.required("after", point.after);
    archive.required("from", point.from);
    archive.required("to", point.to);
    archive.required("moved", point.moved);
    archive.required("worse", point.worse);
    archive.required("open", point.open);
    archive.required("accepted", point.accepted);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Finding>& finding) {
    archive.required("device", finding.device);
    archive.required("cause", finding.cause);
    archive.required("evidence", finding.evidence);
    archive.required("run", finding.run);
    archive.required("points", finding.points);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Note>& note) {
    archive.required("device", note.device);
    archive.required("suite", note.suite);
    archive.optional("of_case", note.of_case);
    archive.required("at", note.at);
    archive.required("action", note.action);
    archive.required("by", note.by);
    archive.required("reason", note.reason);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Month>& month) {
    archive.required("month", month.month);
    archive.required("judged", month.judged);
    archive.required("alarms", month.alarms);
    archive.required("false_alarms", month.false_alarms);
    archive.required("reran", month.reran);
    archive.optional("acknowledged", month.acknowledged);
    archive.optional("accepted", month.accepted);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Index>& index) {
    archive.required("edition", index.edition);
    archive.required("lately_days", index.lately_days);
    archive.required("runs", index.runs);
    archive.required("texts", index.texts);
    archive.required("metrics", index.metrics);
    archive.required("cases", index.cases);
    archive.required("findings", index.findings);
    archive.required("notes", index.notes);
    archive.required("months", index.months);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Night>& night) {
    archive.required("run", night.run);
    archive.required("values", night.values);
    archive.optional("verdict", night.verdict);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Series>& series) {
    archive.required("device", series.device);
    archive.required("metric", series.metric);
    archive.required("tolerance", series.tolerance);
    archive.required("nights", series.nights);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, CaseFile>& file) {
    archive.required("edition", file.edition);
    archive.required("of_case", file.of_case);
    archive.required("series", file.series);
}

}  // namespace perfgate::history::page

namespace perfgate::document {

template <>
inline constexpr bool is_row<history::page::Run> = true;
template <>
inline constexpr bool is_row<history::page::Case> = true;
template <>
inline constexpr bool is_row<history::page::Point> = true;
template <>
inline constexpr bool is_row<history::page::Note> = true;
template <>
inline constexpr bool is_row<history::page::Month> = true;
template <>
inline constexpr bool is_row<history::page::Night> = true;

}  // namespace perfgate::document
