// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "report/formats.hpp"
#include "report_fixture.hpp"
#include "report_hostile.hpp"

namespace perfgate::report {
namespace {

using Row = std::vector<std::string>;

/// RFC 4180, as a spreadsheet reads it.
std::vector<Row> parse_csv(const std::string& text) {
    std::vector<Row> rows;
    Row row;
    std::string field;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c != '"') {
                field += c;
            } else if (i + 1 < text.size() && text[i + 1] == '"') {
                field += '"';
                ++i;
            } else {
                quoted = false;
            }
        } else if (c == '"' && field.empty()) {
            quoted = true;
        } else if (c == ',' || c == '\n') {
            row.push_back(field);
            field.clear();
            if (c == '\n') {
                rows.push_back(row);
                row.clear();
            }
        } else {
            field += c;
        }
    }
    return rows;
}

std::vector<Row> csv_rows(const Documents& documents) {
    return parse_csv(write_csv(documents.verdict, documents.run, {}));
}

std::size_t column(const std::vector<Row>& rows, const std::string& name) {
    const auto found = std::find(rows[0].begin(), rows[0].end(), name);
    EXPECT_NE(found, rows[0].end()) << name;
    return static_cast<std::size_t>(found - rows[0].begin());
}

TEST(Csv, EveryRowHasTheHeadersFields) {
    for (const Documents& documents : {every_verdict(), first_run(), many_cases(3, 5)}) {
        const std::vector<Row> rows = csv_rows(documents);
        for (const Row& row : rows) EXPECT_EQ(row.size(), rows[0].size());
    }
}

TEST(Csv, HasARowForEachMetricAndForCasesWithoutAny) {
    const std::vector<Row> rows = csv_rows(many_cases(3, 5));
    EXPECT_EQ(rows.size(), 1U + 3 * 5);
    const std::vector<Row> every = csv_rows(every_verdict());
    const std::size_t verdict = column(every, "case_verdict");
    const std::size_t workload = column(every, "workload");
    for (const char* text : {"skipped", "missing", "error", "incorrect", "invalid"}) {
        EXPECT_EQ(std::count_if(every.begin(), every.end(),
                                [&](const Row& row) {
                                    return row[verdict] == text && row[workload] != "expect";
                                }),
                  1)
            << text;
    }
}

TEST(Csv, ARelationHasARowWithBothSides) {
    const std::vector<Row> rows = csv_rows(every_verdict());
    const auto broken = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
        return row[column(rows, "workload")] == "expect" &&
               row[column(rows, "verdict")] == "regressed";
    });
    ASSERT_NE(broken, rows.end());
    EXPECT_EQ((*broken)[column(rows, "case")],
              "transpose/padded.gpu_time <= 0.25 * transpose/naive.gpu_time [n=8192]@hot");
    EXPECT_EQ((*broken)[column(rows, "measured")], "60000");
    EXPECT_EQ((*broken)[column(rows, "baseline")], "55000");
}

TEST(Csv, ACaseThatFailsWithGoodMetricsHasARowForItsReason) {
    Documents documents = many_cases(1, 5);
    documents.verdict.suites[0].cases[0].verdict = model::Verdict::error;
    documents.verdict.suites[0].cases[0].reason = "the device was lost";
    const std::vector<Row> rows = csv_rows(documents);
    ASSERT_EQ(rows.size(), 1U + 1 + 5);
    EXPECT_EQ(rows[1][column(rows, "metric")], "");
    EXPECT_EQ(rows[1][column(rows, "verdict")], "error");
    EXPECT_EQ(rows[1][column(rows, "reason")], "the device was lost");
}

TEST(Csv, KeepsEveryDigit) {
    Documents documents = first_run();
    documents.verdict.suites[0].cases[0].metrics[0].measured = 1.0 / 3.0;
    const std::vector<Row> rows = csv_rows(documents);
    EXPECT_EQ(std::strtod(rows[1][column(rows, "measured")].c_str(), nullptr), 1.0 / 3.0);
}

TEST(Csv, NegativeChangesStayNumbers) {
    const std::vector<Row> rows = csv_rows(every_verdict());
    const std::size_t change = column(rows, "change");
    std::vector<std::string> changes;
    changes.reserve(rows.size());
    for (const Row& row : rows) changes.push_back(row[change]);
    EXPECT_EQ(std::count(changes.begin(), changes.end(), "-0.004267425320056899"), 1);
}

TEST(Csv, NoFieldIsAFormula) {
    for (const std::string& text : hostile_texts()) {
        const std::vector<Row> rows = csv_rows(hostile(text));
        ASSERT_GE(rows.size(), 6U) << text.substr(0, 40);
        for (const Row& row : rows) {
            ASSERT_EQ(row.size(), rows[0].size()) << text.substr(0, 40);
            for (const std::string& field : row) {
                if (!field.empty()) {
                    EXPECT_EQ(std::string("=+-@\t\r\n").find(field[0]), std::string::npos) << field;
                }
            }
        }
    }
}

TEST(Csv, QuotesReadBack) {
    const std::vector<Row> rows = csv_rows(hostile("comma, \"quote\""));
    EXPECT_EQ(rows[1][0], "comma, \"quote\"");
}

}  // namespace
}  // namespace perfgate::report
