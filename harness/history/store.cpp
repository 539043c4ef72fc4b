// SPDX-License-Identifier: Apache-2.0
#include "history/store.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <exception>
#include <fstream>
#include <string_view>
#include <utility>

#include "gate/series.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::history {

namespace {

using sqlite::Statement;

constexpr std::int64_t application = 0x50474853, version = 1;

struct Object {
    const char* name;
    const char* sql;
};

/// All that a store has.
constexpr Object schema[] = {
    {"facts",
     "CREATE TABLE facts (id INTEGER PRIMARY KEY, code TEXT NOT NULL, inputs TEXT NOT NULL, method "
     "TEXT NOT NULL, UNIQUE (code, inputs, method))"},
    {"night",
     "CREATE TABLE night (series INTEGER NOT NULL REFERENCES series, run INTEGER NOT NULL "
     "REFERENCES run, facts INTEGER NOT NULL REFERENCES facts, verdict TEXT NOT NULL, clock_mhz "
     "REAL, process_values BLOB NOT NULL, PRIMARY KEY (series, run)) WITHOUT ROWID"},
    {"run",
     "CREATE TABLE run (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, device TEXT NOT "
     "NULL, board TEXT NOT NULL, driver TEXT NOT NULL, toolkit TEXT NOT NULL, tool TEXT NOT NULL, "
     "revision TEXT NOT NULL, started TEXT NOT NULL, ordered INTEGER NOT NULL)"},
    {"series",
     "CREATE TABLE series (id INTEGER PRIMARY KEY, device TEXT NOT NULL, suite TEXT NOT NULL, "
     "case_id TEXT NOT NULL, metric TEXT NOT NULL, unit TEXT NOT NULL, direction INTEGER NOT NULL, "
     "class INTEGER NOT NULL, tolerance REAL NOT NULL, UNIQUE (device, suite, case_id, metric, "
     "unit, direction, class))"},
};

/// Nothing where they are not a whole number of finite values.
std::vector<double> numbers_in(std::string_view bytes) {
    if (bytes.empty() || bytes.size() % sizeof(double) != 0) return {};
    std::vector<double> values(bytes.size() / sizeof(double));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return gate::all_finite(values) ? values : std::vector<double>();
}

std::string text(const sqlite::Statement& row, int column) {
    return std::string(row.text(column));
}

/// The file, which may be absent where it is written.
const std::filesystem::path& regular(const std::filesystem::path& file, Store::Access access) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(file, error);
    const bool exists = std::filesystem::exists(status);
    if (exists ? !std::filesystem::is_regular_file(status) : access == Store::Access::read) {
        throw util::InputError("{}: {}", util::printable(file.string()),
                               exists ? "not a regular file" : "no such history");
    }
    return file;
}

}  // namespace

bool is_store(const std::filesystem::path& file) {
    constexpr std::string_view begins("SQLite format 3\0", 16);
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) return false;
    std::string found(begins.size(), '\0');
    std::ifstream stream(file, std::ios::binary);
    stream.read(found.data(), static_cast<std::streamsize>(found.size()));
    return stream.gcount() == static_cast<std::streamsize>(begins.size()) && found == begins;
}

sqlite::Failure Store::failure() const {
    return [this](sqlite::Problem problem, const std::string& reason) {
        const std::string name =
            util::printable(name_) + (added_.empty() ? "" : " or " + util::printable(added_));
        if (problem == sqlite::Problem::malformed) {
            return std::make_exception_ptr(
                util::InputError("{} is not a history: {}", name, reason));
        }
        return std::make_exception_ptr(
            util::Error("cannot {} {}: SQLite: {}", writes_ ? "write" : "read", name, reason));
    };
}

Store::Store(const std::filesystem::path& file, Access access)
    : name_(file.string()),
      writes_(access == Access::write),
      database_(regular(file, access), writes_ ? sqlite::Access::write : sqlite::Access::read,
                failure()) {
    if (!writes_) {
        check_schema("main", name_);
        return;
    }
    database_.execute("PRAGMA synchronous=FULL; BEGIN IMMEDIATE");
    Statement objects(database_, "SELECT count(*) FROM sqlite_schema");
    objects.step();
    if (objects.integer(0) == 0) {
        database_.execute(
            fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", application, version));
        for (const Object& object : schema) database_.execute(object.sql);
    }
    objects.step();
    check_schema("main", name_);
    database_.execute("COMMIT");
}

void Store::check_schema(const char* database, const std::filesystem::path& file) const {
    const auto refuse = [&](std::string_view what) {
        throw util::InputError("{} is not a history of this perfgate: {}",
                               util::printable(file.string()), what);
    };
    const auto number = [&](const char* pragma) {
        Statement asked(database_, fmt::format("PRAGMA {}.{}", database, pragma));
        asked.step();
        return asked.integer(0);
    };
    if (number("application_id") != application) refuse("another program wrote it");
    if (number("user_version") != version) refuse("it has another version");
    Statement objects(database_, fmt::format("SELECT name, sql FROM {}.sqlite_schema WHERE name "
                                             "NOT LIKE 'sqlite_autoindex_%' ORDER BY name",
                                             database));
    std::size_t known = 0;
    while (objects.step()) {
        if (known == std::size(schema) || objects.text(0) != schema[known].name ||
            objects.text(1) != schema[known].sql) {
            refuse("it has other tables");
        }
        ++known;
    }
    if (known != std::size(schema)) refuse("tables are missing");
}

std::size_t Store::add_run(const StoredRun& run) const {
    const Origin& origin = run.origin;
    Statement(database_,
              "INSERT OR IGNORE INTO run (fingerprint, device, board, driver, toolkit, tool, "
              "revision, started, ordered) VALUES (?,?,?,?,?,?,?,?,?)")
        .with(run.fingerprint, origin.device, origin.board, origin.driver, origin.toolkit,
              origin.tool, origin.revision, origin.started, origin.ordered)
        .step();
    Statement added(database_, "SELECT last_insert_rowid() WHERE changes() > 0");
    if (!added.step()) return 0;
    const std::int64_t number = added.integer(0);
    Statement series(
        database_,
        "INSERT INTO series (device, suite, case_id, metric, unit, direction, class, tolerance) "
        "VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET tolerance = excluded.tolerance");
    Statement facts(database_, "INSERT OR IGNORE INTO facts (code, inputs, method) VALUES (?,?,?)");
    Statement night(
        database_,
        "INSERT OR IGNORE INTO night SELECT s.id, ?, f.id, ?, ?, ? FROM series AS s, facts AS f "
        "WHERE s.device = ? AND s.suite = ? AND s.case_id = ? AND s.metric = ? AND s.unit = ? AND "
        "s.direction = ? AND s.class = ? AND f.code = ? AND f.inputs = ? AND f.method = ?");
    for (const Series& each : run.series) {
        const auto direction = static_cast<std::int64_t>(each.direction);
        const auto metric_class = static_cast<std::int64_t>(each.metric_class);
        series.with(each.device, each.suite, each.id, each.metric, each.unit, direction,
                    metric_class, each.tolerance);
        series.step();
        for (const Night& one : each.nights) {
            facts.with(one.code, one.inputs, one.method).step();
            night
                .with(number, one.verdict, one.clock_mhz, one.values, each.device, each.suite,
                      each.id, each.metric, each.unit, direction, metric_class, one.code,
                      one.inputs, one.method)
                .step();
        }
    }
    return 1;
}

Store::Change Store::add(std::span<const StoredRun> runs,
                         std::span<const std::filesystem::path> stores,
                         std::optional<std::int64_t> keep_days, const std::string& latest) {
    for (const StoredRun& run : runs) {
        if (run.origin.started <= latest) continue;
        throw util::InputError("{} is in the future: correct the run's date",
                               util::printable(run.origin.started, 40));
    }
    for (const std::filesystem::path& other : stores) {
        std::error_code error;
        if (!std::filesystem::equivalent(other, name_, error)) continue;
        throw util::InputError("{} cannot be added to itself: leave it out",
                               util::printable(other.string()));
    }
    Change change;
    const auto finish = [&] {
        if (!keep_days) return;
        Statement(database_,
                  "CREATE TEMP TABLE old AS SELECT run.id FROM run JOIN (SELECT device, "
                  "max(started) AS last FROM run WHERE started <= ? GROUP BY device) AS newest "
                  "USING (device) WHERE julianday(newest.last) - julianday(run.started) > ?")
            .with(latest, *keep_days)
            .step();
        database_.execute("DELETE FROM night WHERE run IN (SELECT id FROM old)");
        Statement count(database_, "SELECT count(*) FROM old");
        count.step();
        change.removed += static_cast<std::size_t>(count.integer(0));
        count.step();
        database_.execute("DELETE FROM run WHERE id IN (SELECT id FROM old); DROP TABLE old");
    };
    try {
        database_.execute("BEGIN IMMEDIATE");
        for (const StoredRun& run : runs) change.added += add_run(run);
        if (stores.empty()) finish();
        database_.execute("COMMIT");
        for (const std::filesystem::path& other : stores) {
            added_ = other.string();
            // The statement takes a path, not a URI; an absolute one is never ":memory:".
            Statement(database_, "ATTACH ? AS other")
                .with(std::filesystem::absolute(other).string())
                .step();
            database_.execute("BEGIN IMMEDIATE");
            check_schema("other", other);
            Statement future(database_,
                             "SELECT id FROM other.run WHERE started > ? AND fingerprint NOT IN "
                             "(SELECT fingerprint FROM main.run)");
            future.with(latest);
            while (future.step()) ++change.future;
            Statement(database_,
                      "CREATE TEMP TABLE fresh AS SELECT id, fingerprint FROM other.run WHERE "
                      "started <= ? AND fingerprint NOT IN (SELECT fingerprint FROM main.run)")
                .with(latest)
                .step();
            Statement count(database_, "SELECT count(*) FROM run");
            count.step();
            const std::int64_t before = count.integer(0);
            count.step();
            database_.execute(
                "INSERT INTO series (device, suite, case_id, metric, unit, direction, class, "
                "tolerance) SELECT device, suite, case_id, metric, unit, direction, class, "
                "tolerance FROM other.series WHERE true ON CONFLICT DO NOTHING;INSERT OR IGNORE "
                "INTO facts (code, inputs, method) SELECT code, inputs, method FROM "
                "other.facts;INSERT INTO run "
                "(fingerprint, device, board, driver, toolkit, tool, revision, started, ordered) "
                "SELECT fingerprint, device, board, driver, toolkit, tool, revision, started, "
                "ordered FROM other.run WHERE id IN (SELECT id FROM fresh);INSERT OR IGNORE INTO "
                "night SELECT s.id, r.id, f.id, n.verdict, n.clock_mhz, n.process_values FROM "
                "other.night AS n JOIN fresh ON fresh.id = n.run JOIN main.run AS r ON "
                "r.fingerprint = fresh.fingerprint JOIN other.series AS os ON os.id = n.series "
                "JOIN main.series AS s USING (device, suite, case_id, metric, unit, direction, "
                "class) JOIN other.facts AS fo ON fo.id = n.facts JOIN main.facts AS f USING "
                "(code, inputs, method);DROP TABLE fresh");
            count.step();
            change.added += static_cast<std::size_t>(count.integer(0) - before);
            count.step();
            finish();
            database_.execute("COMMIT; DETACH other");
            added_.clear();
        }
    } catch (...) {
        database_.roll_back();
        throw;
    }
    return change;
}

std::map<std::int64_t, Origin> Store::origins() const {
    std::map<std::int64_t, Origin> found;
    Statement rows(
        database_,
        "SELECT id, device, board, driver, toolkit, tool, revision, started, ordered FROM run");
    while (rows.step()) {
        found[rows.integer(0)] = {.device = text(rows, 1),
                                  .board = text(rows, 2),
                                  .driver = text(rows, 3),
                                  .toolkit = text(rows, 4),
                                  .tool = text(rows, 5),
                                  .revision = text(rows, 6),
                                  .started = text(rows, 7),
                                  .ordered = rows.integer(8)};
    }
    return found;
}

void Store::each_case(const std::string& suite, const std::string& id,
                      const std::function<void(const std::vector<Series>&)>& use) const {
    Statement rows(database_,
                   "SELECT id, device, suite, case_id, metric, unit, direction, class, tolerance "
                   "FROM series WHERE (?1 = '' OR suite = ?1) AND (?2 = '' OR case_id = ?2) ORDER "
                   "BY suite, case_id, device, metric, unit, id");
    Statement nights(
        database_,
        "SELECT n.run, f.code, f.inputs, f.method, n.verdict, n.clock_mhz, n.process_values FROM "
        "night AS n JOIN facts AS f ON f.id = n.facts JOIN run AS r ON r.id = n.run WHERE n.series "
        "= ? ORDER BY r.ordered, r.started, r.fingerprint");
    rows.with(suite, id);
    std::vector<Series> of_case;
    while (rows.step()) {
        const std::int64_t direction = rows.integer(6), metric_class = rows.integer(7);
        Series series{.device = text(rows, 1),
                      .suite = text(rows, 2),
                      .id = text(rows, 3),
                      .metric = text(rows, 4),
                      .unit = text(rows, 5),
                      .direction = static_cast<model::Direction>(direction),
                      .metric_class = static_cast<model::MetricClass>(metric_class),
                      .tolerance = rows.real(8),
                      .nights = {}};
        bool readable = direction >= 0 && direction <= 2 && metric_class >= 0 &&
                        metric_class <= 2 && std::isfinite(series.tolerance);
        nights.with(rows.integer(0));
        while (readable && nights.step()) {
            series.nights.push_back(
                {.run = nights.integer(0),
                 .code = text(nights, 1),
                 .inputs = text(nights, 2),
                 .method = text(nights, 3),
                 .verdict = text(nights, 4),
                 .clock_mhz = nights.has(5) ? std::optional(nights.real(5)) : std::nullopt,
                 .values = numbers_in(nights.text(6))});
            const Night& night = series.nights.back();
            readable = !night.values.empty() && std::isfinite(night.clock_mhz.value_or(0));
        }
        if (!readable) {
            throw util::InputError("{} is damaged: {} of {}: its values cannot be read",
                                   util::printable(name_), util::printable(series.metric),
                                   util::printable(series.id));
        }
        if (series.nights.empty()) continue;
        if (!of_case.empty() &&
            (series.suite != of_case.front().suite || series.id != of_case.front().id)) {
            use(of_case);
            of_case.clear();
        }
        of_case.push_back(std::move(series));
    }
    if (!of_case.empty()) use(of_case);
}

}  // namespace perfgate::history
