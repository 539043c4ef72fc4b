// SPDX-License-Identifier: Apache-2.0
// The data of a site that shows a history, made case by case, so that memory does
// not grow with the nights; and its badge. Pure and deterministic: "lately" counts from the newest
// run, not from today.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "document/archive.hpp"
#include "history/changes.hpp"
#include "history/night.hpp"
#include "history/record.hpp"
#include "model/baseline.hpp"

namespace perfgate::history {

// What the pages of a site show, and its description (document/archive.hpp), from which the data
// and the page's types (report/html/src/history/data.ts) are made. It has no version: page and data
// come from the same build. The index is in the page, the nights of each case are in a file of
// their own, which the page loads when the case is opened. Repeated texts are written once.

PERFGATE_ROW_FIELDS(Month, required(month, judged, alarms, false_alarms, reran),
                    optional(acknowledged, accepted))

namespace page {

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

PERFGATE_ROW_FIELDS(Run, required(started, revision, device, driver, toolkit, board, tool))

PERFGATE_FIELDS(Metric, required(name, unit, direction))

PERFGATE_ROW_FIELDS(Case, required(suite, id, file))

PERFGATE_ROW_FIELDS(Point, required(of_case, metric, before, after, from, to, moved, worse, open,
                                    accepted))

PERFGATE_FIELDS(Finding, required(device, cause, evidence, run, points))

PERFGATE_ROW_FIELDS(Note, required(device, suite), optional(of_case),
                    required(at, action, by, reason))

PERFGATE_FIELDS(Index, required(edition, lately_days, runs, texts, metrics, cases, findings, notes,
                                months))

PERFGATE_ROW_FIELDS(Night, required(run, values), optional(verdict))

PERFGATE_FIELDS(Series, required(device, metric, tolerance, nights))

PERFGATE_FIELDS(CaseFile, required(edition, of_case, series))

}  // namespace page

inline constexpr std::int64_t lately_days = 30;

class Site {
  public:
    /// Keeps a reference. `ledgers`: absent if none were read.
    Site(const std::map<std::int64_t, Origin>& origins,
         std::optional<std::vector<model::Ledger>> ledgers);

    struct File {
        std::string name;  ///< without ".js"
        std::string json;
    };
    /// The file of a case, from all of its series, those of a device together. Each case is added
    /// once.
    File add(const std::vector<Series>& of_case);

    struct Badge {
        std::string svg, json;  ///< JSON as shields.io takes it from an address
    };
    struct Front {
        std::string index;  ///< JSON, on one line
        Badge badge;
    };
    /// After all cases.
    Front finish();

  private:
    std::int64_t text(const std::string& text);
    std::int64_t metric_of(const Series& series);
    std::int64_t run_of(std::int64_t number) const;

    const std::map<std::int64_t, Origin>& origins_;
    std::optional<std::vector<model::Ledger>> ledgers_;
    page::Index index_;
    Changes changes_;
    Record record_;
    std::unordered_map<std::string, std::int64_t> texts_, metrics_;
    std::unordered_map<std::int64_t, std::int64_t> runs_;  ///< by the store's number
    struct Added {
        std::int64_t of_case = 0, metric = 0;
    };
    std::vector<Added> series_;  ///< in the order in which `changes_` has them
};

}  // namespace perfgate::history
