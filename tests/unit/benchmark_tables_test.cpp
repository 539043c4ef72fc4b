// SPDX-License-Identifier: Apache-2.0
// What becomes of any table, any JSON and any text, and which names stay the same after an update.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/table.hpp"
#include "model/unit.hpp"
#include "util/error.hpp"

namespace perfgate::benchmark {
namespace benchmark_tables_test {

Value metric(const std::string& name, const std::string& from, const std::string& unit = "ns",
             double factor = 1) {
    Value value;
    value.definition.name = name;
    value.definition.unit = unit;
    value.definition.metric_class = model::MetricClass::timing;
    value.from = from;
    value.factor = factor;
    return value;
}

Layout layout_of(const std::string& format) {
    Layout layout;
    layout.format = format;
    return layout;
}

/// By id: the values of each metric, or the problem.
std::string read(const std::string& text, const Layout& layout) {
    try {
        std::string found;
        for (const Result& result : read_text(text, "file", layout).results) {
            found += id_of(result);
            for (const auto& [name, samples] : result.metrics) {
                found += fmt::format(" {}", name);
                for (const double value : samples.values) found += fmt::format(" {:g}", value);
            }
            if (!result.problem.empty()) found += " problem: " + result.problem;
            if (!result.skipped.empty()) found += " skipped: " + result.skipped;
            found += '\n';
        }
        return found;
    } catch (const util::InputError& error) {
        return error.what();
    }
}

Layout table(const std::string& format = "csv") {
    Layout layout = layout_of(format);
    layout.name = "name";
    layout.axes = {{"n", "n"}};
    layout.values = {metric("real_time", "us", "ns", 1e3)};
    return layout;
}

TEST(Tables, ARowThatIsNoNumberCostsItsCase) {
    for (const char* no_number : {"OOM", "N/A", "-", "1.5ms", "1,5", "0x10"}) {
        const std::string found = read(
            fmt::format("name;n;us\ngemm;1;10.5\ngemm;2;{}\ngemm;4;2.5\n", no_number), table());
        EXPECT_EQ(found,
                  fmt::format("gemm[n=1] real_time 10500\ngemm[n=2] problem: line 3: '{}' in "
                              "column us is no number\ngemm[n=4] real_time 2500\n",
                              no_number));
    }
    for (const char* impossible : {"nan", "inf", "-1", "0"}) {
        const std::string found =
            read(fmt::format("name,n,us\ngemm,1,10.5\ngemm,2,{}\n", impossible), table());
        EXPECT_TRUE(found.starts_with("gemm[n=1] real_time 10500\ngemm[n=2] problem: ")) << found;
    }
    // One of several samples is no sample.
    const std::string found = read("name,n,us\na,1,10.5\na,1,OOM\nb,1,1\n", table());
    EXPECT_EQ(found,
              "a[n=1] real_time 10500 problem: line 3: 'OOM' in column us is no number\n"
              "b[n=1] real_time 1000\n");
}

TEST(Tables, ALineWithoutTheColumnsAndWithoutAnEndIsNoTable) {
    EXPECT_EQ(read("other,n,us", table()),
              "file: line 1: 0 columns are named 'name'; expected one");
}

TEST(Tables, WhatIsAroundATableIsNoPartOfIt) {
    const char* expected = "gemm[n=1] real_time 10500\ngemm[n=2] real_time 2500\n";
    for (const char* text :
         {"name,n,us\ngemm,1,10.5\ngemm,2,2.5\n",                                      //
          "Device 0: \"a GPU\", 80 GB\n\nname, n, us\ngemm, 1, 10.5\ngemm, 2, 2.5\n",  //
          "# a comment, with a comma\nname,n,us\n# another\ngemm,1,10.5\n\ngemm,2,2.5\n",
          "# name,n,us\ngemm,1,10.5\ngemm,2,2.5\n",         //
          "name ;n ;us \ngemm ;1 ; 10.5\ngemm ;2 ; 2.5\n",  //
          "name\tn\tus\ngemm\t1\t10.5\ngemm\t2\t2.5\n",     //
          "\"name\", \"n\", \"us\"\r\n\"gemm\", \"1\" , \"10.5\"\r\n\"gemm\",2,+2.5\r\n"}) {
        EXPECT_EQ(read(text, table()), expected) << text;
    }
    // Two headers are no preamble: the second is a row.
    EXPECT_EQ(read("name,n,us\na,1,1\nname,n,us\n", table()),
              "a[n=1] real_time 1000\nname[n=n] problem: line 3: 'us' in column us is no number\n");
}

TEST(Tables, RowsOfOneNameAreRepetitionsOnlyIfNothingElseDiffers) {
    EXPECT_EQ(read("name,n,us,host\na,1,1,x\na,1,2,x\n", table()), "a[n=1] real_time 1000 2000\n");
    EXPECT_EQ(read("name,n,us,batch,iteration\na,1,1,8,0\na,1,2,16,1\n", table()),
              "file: line 3: a[n=1] is already at line 2, which differs in batch, iteration: name "
              "what tells cases apart in 'axes', and what tells the repetitions of one case apart "
              "in 'samples'");
    Layout repeated = table();
    repeated.samples = {"iteration"};
    EXPECT_EQ(read("name,n,us,batch,iteration\na,1,1,8,0\na,1,2,8,1\n", repeated),
              "a[n=1] real_time 1000 2000\n");
    EXPECT_NE(read("name,n,us,batch,iteration\na,1,1,8,0\na,1,2,16,1\n", repeated).find("batch"),
              std::string::npos)
        << "another column";
    EXPECT_EQ(read("name,n,us\na,1,1\n", repeated),
              "file: line 1: 0 columns are named 'iteration'; expected one");
    // JSON alike.
    Layout json = layout_of("json");
    json.rows = "/*";
    json.name = "/name";
    json.values = {metric("real_time", "/us", "ns", 1e3)};
    EXPECT_EQ(read(R"([{"name": "a", "us": 1}, {"name": "a", "us": 2}])", json),
              "a real_time 1000 2000\n");
    EXPECT_NE(read(R"([{"name": "a", "us": 1, "batch": {"size": 8}},
                       {"name": "a", "us": 2, "batch": {"size": 9}}])",
                   json)
                  .find("[1]: a is already at [0], which differs in batch"),
              std::string::npos);
    json.samples = {"/batch"};
    EXPECT_EQ(
        read(R"([{"name": "a", "us": 1, "batch": 8}, {"name": "a", "us": 2, "batch": 9}])", json),
        "a real_time 1000 2000\n");
}

TEST(Tables, ATextThatDiffersAndIsNotPlacedIsRefused) {
    // A long table whose metric and unit the suite does not name: megabytes are no milliseconds.
    Layout layout = table();
    const std::string text = "name,n,metric,unit,us\na,1,speed,ms,1\nb,1,memory,MB,5\n";
    EXPECT_EQ(
        read(text, layout),
        "file: line 3: column metric is 'memory', and 'speed' at line 2, and the suite does "
        "not say what that means: name it in 'axes', 'where' or 'unit', or in 'samples' if it "
        "is no part of a case's name");
    layout.axes.emplace_back("metric", "metric");
    EXPECT_NE(read(text, layout).find("line 3: column unit is 'MB'"), std::string::npos);
    layout.samples = {"unit"};
    EXPECT_EQ(read(text, layout),
              "a[metric=speed,n=1] real_time 1000\nb[metric=memory,n=1] real_time 5000\n");
    // Numbers are other measurements, and one text is a fact.
    EXPECT_EQ(read("name,n,us,mean,gpu\na,1,1,1.1,A100\nb,1,2,2.2,A100\n", table()),
              "a[n=1] real_time 1000\nb[n=1] real_time 2000\n");
}

TEST(Tables, AColumnOfUnitsAndTheSuiteStateTheSame) {
    const auto csv = [](const std::string& column, const std::string& unit) {
        return read("name,n," + column + ",us\na,1," + unit + ",1\nb,1," + unit + ",2\n", table());
    };
    const std::string good = "a[n=1] real_time 1000\nb[n=1] real_time 2000\n";
    EXPECT_EQ(csv("unit", "us"), good);
    EXPECT_EQ(csv("unit", "s"),
              "file: line 2: column unit is 's', and the suite states another unit of real_time: "
              "correct it, or have it read there ('unit: {from: …}')");
    for (const char* own : {"us_unit", "us_units", "US Unit", "usUnit", "real_time_unit"}) {
        EXPECT_EQ(csv(own, "us"), good);
        EXPECT_NE(csv(own, "ms").find("states another unit of real_time"), std::string::npos)
            << own;
    }
    // Of other columns, not of a time, or no unit.
    for (const char* other : {"setup_unit", "Time Unit", "opportunity"}) {
        EXPECT_EQ(csv(other, "s"), good) << other;
    }
    EXPECT_EQ(csv("unit", "MB"), good);
    EXPECT_EQ(csv("unit", "each"), good);
    EXPECT_EQ(csv("precision", "s"), good);
    Layout two = table();
    two.values.push_back(metric("other", "n", "ns", 1e9));
    two.axes.clear();
    EXPECT_NE(read("name,n,unit,us\na,1,s,1\n", two).find("other 1e+09"), std::string::npos);
    EXPECT_NE(read("name,n,us_unit,us\na,1,s,1\n", two).find("another unit of real_time"),
              std::string::npos);
    Layout json = layout_of("json");
    json.rows = "/*";
    json.name = "/name";
    json.values = {metric("real_time", "/t", "ns", 1e6)};
    EXPECT_EQ(read(R"([{"name": "a", "t": 1, "unit": "ms"}])", json), "a real_time 1e+06\n");
    EXPECT_NE(read(R"([{"name": "a", "t": 1, "unit": "s"}])", json).find("[0]: column unit is 's'"),
              std::string::npos);
}

TEST(Tables, RowsAreChosenAndHaveTheirOwnUnits) {
    Layout layout = layout_of("csv");
    layout.name = "kernel";
    layout.axes = {{"x", "x"}};
    Value speed = metric("real_time", "value");
    speed.where = {{"metric", "speed"}};
    speed.unit_from = "unit";
    Value memory = metric("memory", "value", "bytes");
    memory.where = {{"metric", "memory"}};
    memory.unit_from = "unit";
    layout.values = {speed};
    const std::string text =
        "kernel,metric,unit,x,value\nnorm,speed,ms,1,0.5\nnorm,memory,MB,1,512\n"
        "norm,speed,us,2,810\nnorm,memory,MB,2,1024\n";
    EXPECT_EQ(read(text, layout), "norm[x=1] real_time 500000\nnorm[x=2] real_time 810000\n");
    EXPECT_EQ(read_text(text, "file", layout).notes,
              std::vector<std::string>{"2 rows of the file match no 'where', the first at line 3"});
    layout.values = {speed, memory};
    EXPECT_TRUE(read_text(text, "file", layout).notes.empty());
    EXPECT_EQ(read(text, layout),
              "norm[x=1] memory 5.12e+08 real_time 500000\n"
              "norm[x=2] memory 1.024e+09 real_time 810000\n");
    // Without 'where' memory would be a time.
    layout.values.front().where.clear();
    EXPECT_EQ(read(text, layout),
              "file: line 3: real_time is in 'MB'; expected ns, us, ms, s: choose its rows with "
              "'where'");
    layout.values = {speed};
    EXPECT_EQ(read("kernel,metric,unit,x,value\nnorm,speed,furlong,1,1\n", layout),
              "file: line 2: real_time is in 'furlong'; expected ns, us, ms, s: choose its rows "
              "with 'where'");
    layout.values.front().where = {{"metric", "spede"}};
    EXPECT_EQ(read(text, layout), "file: it has no result");
}

TEST(Json, ADocumentIsOneResult) {
    Layout layout = layout_of("json");
    layout.name = "/backend";
    layout.axes = {{"rate", "/request_rate"}};
    layout.values = {metric("real_time", "/median_ttft_ms", "ns", 1e6),
                     metric("failed", "/failed")};
    layout.values.back().definition.metric_class = model::MetricClass::exact;
    const std::string text =
        R"({"date": "x", "backend": "engine", "request_rate": "inf", "median_ttft_ms": 690.1,
            "failed": 0, "max_concurrency": null})";
    EXPECT_EQ(read(text, layout), "engine[rate=inf] failed 0 real_time 6.901e+08\n");
    layout.rows = "/*";  // each member would be a row
    EXPECT_NE(read(text, layout).find("leads to 0 values"), std::string::npos);

    Layout steps = layout_of("json");
    steps.values = {metric("real_time", "/time/values/*", "ns", 1e9)};
    EXPECT_EQ(read(R"({"time": {"values": {"1": 7.5, "2": 0.5}}})", steps),
              "result real_time 7.5e+09 5e+08\n");
    EXPECT_EQ(read(R"({"time": 3})", steps), "result\n")
        << "its gate says that the value is missing";
    EXPECT_EQ(read(R"([])", steps), "result\n");
}

TEST(Json, APlaceIsNoOtherFieldHoweverItIsWritten) {
    Layout layout = layout_of("json");
    layout.rows = "/*";
    layout.name = "/name";
    layout.values = {metric("real_time", "/t~1ms")};
    EXPECT_EQ(read(R"([{"name": "a", "t/ms": 1.5}, {"name": "a", "t/ms": 1.6}])", layout),
              "a real_time 1.5 1.6\n");
}

TEST(Json, LinesAreRows) {
    Layout layout = layout_of("jsonl");
    layout.name = "/model";
    layout.axes = {{"p", "/p"}};
    layout.values = {metric("real_time", "/ns/*")};
    const std::string lines =
        "{\"model\": \"m\", \"p\": 512, \"ns\": [210, 212]}\n\n{\"model\": \"m\", \"p\": 0, "
        "\"ns\": "
        "[880]}\n";
    const char* expected = "m[p=512] real_time 210 212\nm[p=0] real_time 880\n";
    EXPECT_EQ(read(lines, layout), expected);
    layout.rows = "/*";
    EXPECT_EQ(read(lines, layout), expected);
    layout.format = "json";  // several documents are an array
    EXPECT_EQ(read(lines, layout), expected);
    for (const char* rows : {"", "/results/*"}) {
        layout.rows = rows;
        EXPECT_NE(read(lines, layout).find("several JSON documents"), std::string::npos) << rows;
    }
    layout.format = "jsonl";
    layout.rows.clear();
    EXPECT_EQ(read("{\"model\": \"m\", \"p\": 1, \"ns\": [3]}", layout), "m[p=1] real_time 3\n");
    EXPECT_NE(
        read("{\"model\": \"m\", \"p\": 1, \"ns\": [3]}\n{\"model\": \"m\"", layout).find("file:"),
        std::string::npos);
    EXPECT_NE(read("{\"a\": 1}\nnot json\n", layout).find("file:2:"), std::string::npos);
    EXPECT_NE(read("INFO\n{\"a\": 1}\n", layout).find("file:1:1:"), std::string::npos);
    EXPECT_NE(read("{\"a\": 1}\n\n{\"a\": 2", layout).find("file:3:8: the JSON ends too early"),
              std::string::npos)
        << read("{\"a\": 1}\n\n{\"a\": 2", layout);
}

TEST(Json, WhatIsNoNumberCostsItsCase) {
    Layout layout = layout_of("json");
    layout.rows = "/*";
    layout.name = "/name";
    layout.values = {metric("real_time", "/s", "ns", 1e9)};
    for (const char* none :
         {"\"OOM\"", "NaN", "Infinity", "-Infinity", "true", "\"12.5\"", "\"7\""}) {
        const std::string found = read(
            fmt::format(R"([{{"name": "a", "s": 1}}, {{"name": "b", "s": {}}}])", none), layout);
        EXPECT_TRUE(found.starts_with("a real_time 1e+09\nb problem: [1]: '")) << found;
    }
    EXPECT_EQ(read(R"([{"name": "NaN", "s": 1}, {"name": "In \"Infinity\"", "s": 2}])", layout),
              "NaN real_time 1e+09\nIn \"Infinity\" real_time 2e+09\n")
        << "texts stay";
}

TEST(Json, ACountThatADoubleDoesNotHoldIsRefused) {
    Layout layout = layout_of("json");
    layout.values = {metric("n", "/n", "count")};
    layout.values[0].definition.metric_class = model::MetricClass::exact;
    EXPECT_EQ(read(R"({"n": 9007199254740991})", layout), "result n 9.0072e+15\n");
    for (const char* large : {"9007199254740993", "9007199254740993.0", "9.007199254740993e15"}) {
        EXPECT_NE(read(fmt::format("{{\"n\": {}}}", large), layout).find("not below 2^53"),
                  std::string::npos)
            << large;
        Layout text = layout;
        text.format = "csv";
        text.values[0].from = "n";
        EXPECT_NE(read(fmt::format("n,m\n{},1\n", large), text).find("not below 2^53"),
                  std::string::npos)
            << large;
    }
    layout.values[0].definition.metric_class = model::MetricClass::timing;
    EXPECT_EQ(read(R"({"n": 9007199254740993})", layout), "result n 9.0072e+15\n");
}

TEST(Text, APatternsGroupsAreNameParametersAndValues) {
    Layout layout = layout_of("text");
    layout.rows =
        R"(^(?<case>pp|tg) +(?<n>[0-9]+) +(?<ms>[0-9.]+) ms +[(] *(?<rate>[0-9.]+) tok/s[)])";
    layout.values = {metric("real_time", "ms", "ns", 1e6), metric("rate", "rate")};
    EXPECT_EQ(
        read("loading\npp 512 10.5 ms ( 480.5 tok/s)\ntg  128  20.25 ms (99 tok/s)\nend\n", layout),
        "pp[n=512] rate 480.5 real_time 1.05e+07\ntg[n=128] rate 99 real_time 2.025e+07\n");
    EXPECT_TRUE(read("nothing here\n", layout).starts_with("file: the pattern '^(?<case>pp|tg)"));
    // A line that is there twice is two samples.
    EXPECT_EQ(read("pp 1 1 ms (1 tok/s)\npp 1 2 ms (1 tok/s)\n", layout),
              "pp[n=1] rate 1 1 real_time 1e+06 2e+06\n");
    layout.name = "n";
    EXPECT_EQ(read("pp 1 1 ms (1 tok/s)\n", layout), "1[case=pp] rate 1 real_time 1e+06\n");

    Layout whole = layout_of("text");
    whole.rows = "time: (?P<s>[0-9.]+|OOM)";
    whole.values = {metric("real_time", "s", "ns", 1e9)};
    EXPECT_EQ(read("total time: 2 s\n", whole), "result real_time 2e+09\n");
    EXPECT_EQ(read("time: OOM\n", whole),
              "result problem: line 1: 'OOM' in column s is no number\n");
}

TEST(Text, APartOfANumberIsNoValue) {
    Layout layout = layout_of("text");
    layout.rows = "^(?<case>[a-z]+) +(?<ms>[0-9.]+)";
    layout.values = {metric("real_time", "ms")};
    for (const char* whole : {"10.4 ms", "10.4ms", "10.4e", "10.4, 3 ms", "10.4 5", "10.4x2",
                              "10.4/5", "10.4-12", "10.4:30", "10.4,5", "10.4,500", "10.4'5"}) {
        EXPECT_TRUE(read(fmt::format("a {}\n", whole), layout).starts_with("a real_time 10.4"))
            << whole;
    }
    for (const char* part : {"10,432 ms", "1.00e+03 ms", "1.00E5", "1e-3", "10,432.5", "10'432 ms",
                             "10_432 ms", "1,234,567", "10,432\xb5s"}) {
        const std::string found = read(fmt::format("a {}\nb 7\n", part), layout);
        EXPECT_NE(found.find("problem: line 1: '1"), std::string::npos) << found;
        EXPECT_NE(
            found.find("is a part of a number: the group must match all of it\nb real_time 7"),
            std::string::npos)
            << found;
    }
    for (const char* pattern : {".*(?<ms>[0-9.]+) ms", "[.](?<ms>[0-9]+)", "[+](?<ms>[0-9]+) ms"}) {
        layout.rows = pattern;
        EXPECT_NE(read("a 12.5e+03 ms\n", layout).find("part of a number"), std::string::npos)
            << pattern;
    }
    layout.rows = "^(?<case>[a-z]+).*?(?<ms>[0-9.]+) ms";
    for (const char* part : {"-5", "-.5", "10'432", "10_432", "10,432", "10,432.5", "(-5"}) {
        EXPECT_NE(read(fmt::format("a {} ms\n", part), layout).find("part of a number"),
                  std::string::npos)
            << part;
    }
    for (const char* whole :
         {"gpu-5", "512,5", "1_5", "1024,5", "10.5,5", "1-5", "- 5", "512,5.25"}) {
        EXPECT_TRUE(read(fmt::format("a {} ms\n", whole), layout).starts_with("a real_time "))
            << whole;
    }
    layout.rows = "^a [0-9.e]+,(?<ms>[0-9.]+) ms";
    EXPECT_EQ(read("a 512,10.5 ms\n", layout), "result real_time 10.5\n");
    EXPECT_EQ(read("a 10.5,480.2 ms\n", layout), "result real_time 480.2\n");
    EXPECT_EQ(read("a 1e5,480 ms\n", layout), "result real_time 480\n");
    layout.rows = ",(?<ms>[0-9]+)$";
    EXPECT_NE(read("a 10,432\n", layout).find("part of a number"), std::string::npos);
    layout.rows = "^(?<case>[a-z]+),(?<ms>[0-9.]+),(?<n>[0-9]+)";
    EXPECT_EQ(read("a,10.5,20\n", layout), "a[n=20] real_time 10.5\n") << "values with commas";
    EXPECT_EQ(read("a,10,200\n", layout), "a[n=200] real_time 10\n");
    layout.rows = "^(?<case>[a-z]+),(?<ms>[0-9.]+),";
    EXPECT_EQ(read("a,10.5,480.2\n", layout), "a real_time 10.5\n");
}

TEST(Text, OfALineWithCarriageReturnsOnlyTheTextAfterTheLastIsRead) {
    Layout layout = layout_of("text");
    layout.rows = "^(?<case>[a-z]+) +(?<ms>[0-9.]+) ms$";
    layout.values = {metric("real_time", "ms")};
    EXPECT_EQ(read("a 10 ms\ra 13 ms\nb 2 ms\r\n", layout), "a real_time 13\nb real_time 2\n");
    EXPECT_EQ(read("\rstep 1\r\r\na 13 ms\r", layout), "a real_time 13\n");
}

TEST(Text, AMarkOfTheByteOrderIsNoPartOfTheFirstLine) {
    Layout layout = layout_of("text");
    layout.rows = "^(?<case>[a-z]+) +(?<ms>[0-9.]+) ms$";
    layout.values = {metric("real_time", "ms")};
    EXPECT_EQ(read("\xef\xbb\xbf"
                   "a 10 ms\n",
                   layout),
              "a real_time 10\n");
    EXPECT_EQ(recognised("\xef\xbb\xbf{\"context\": {}}", "file"), find_format("google-benchmark"));
}

TEST(Text, RefusesPatternsBeforeAnythingRuns) {
    const auto problem = [](const std::string& pattern) -> std::string {
        Layout layout = layout_of("text");
        layout.rows = pattern;
        layout.values = {metric("real_time", "ms")};
        try {
            check_pattern(layout);
        } catch (const util::InputError& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(problem("(?<ms>[0-9]+)"), "");
    EXPECT_NE(problem("(?<ms>[0-9]+").find("no regular expression"), std::string::npos);
    EXPECT_NE(problem("(?<ms>a)(?<ms>b)").find("no regular expression"), std::string::npos);
    EXPECT_NE(problem(R"((?<ms>a)\1)").find("no regular expression"), std::string::npos)
        << "back references take exponential time";
    EXPECT_NE(problem("[0-9]+").find("no group 'ms'"), std::string::npos);
    EXPECT_NE(problem("").find("bytes"), std::string::npos);
    EXPECT_NE(problem(std::string(5000, 'a')).find("bytes"), std::string::npos);
    EXPECT_EQ(problem(R"([(?<]x\(?<(?<ms>a))"), "") << "no groups in classes and after '\\'";
}

TEST(Text, MatchesInTimeInProportionToTheText) {
    Layout layout = layout_of("text");
    layout.rows = "^(?<case>(a+)+)b(?<ms>[0-9]+)$";
    layout.values = {metric("real_time", "ms")};
    const std::string text(200'000, 'a');
    EXPECT_TRUE(read(text, layout).starts_with("file: the pattern")) << "and not in a year";
}

TEST(Units, AnyRateIsOne) {
    const auto unit = [](const char* text) { return model::reported_unit(text).value(); };
    EXPECT_EQ(unit("tok/s"), (model::ReportedUnit{"tok/s", 1}));
    EXPECT_EQ(unit("req/s"), (model::ReportedUnit{"req/s", 1}));
    EXPECT_EQ(unit("samples/s"), (model::ReportedUnit{"samples/s", 1}));
    EXPECT_EQ(unit("TFLOP/s"), (model::ReportedUnit{"flop/s", 1e12}));
    EXPECT_EQ(unit("GiB/s"), (model::ReportedUnit{"bytes/s", 1073741824.0}));
    EXPECT_EQ(unit("\xC2\xB5s"), (model::ReportedUnit{"ns", 1e3}));
    EXPECT_EQ(unit("usecond"), (model::ReportedUnit{"ns", 1e3}));
    EXPECT_EQ(unit("Gbyte/s"), (model::ReportedUnit{"bytes/s", 1e9}));
    EXPECT_EQ(unit("Mbyte/second"), (model::ReportedUnit{"bytes/s", 1e6}));
    for (const char* none : {"", "/s", "furlong", "a b/s", "5/s", "tok/min", "ms/ms/s/s"}) {
        EXPECT_FALSE(model::reported_unit(none)) << none;
    }
}

TEST(Ncu, ATimeInAnUnknownUnitIsRefused) {
    const auto raw = [](const char* unit) {
        return fmt::format(
            "\"Kernel Name\",\"Grid Size\",\"Block Size\",\"gpu__time_duration.sum\"\n"
            "\"\",\"\",\"\",\"{}\"\n\"k\",\"(1, 1, 1)\",\"(32, 1, 1)\",\"6.5\"\n",
            unit);
    };
    const Layout ncu = layout_of("ncu");
    EXPECT_TRUE(read(raw("usecond"), ncu).ends_with(" real_time 6500\n"));
    for (const char* unknown : {"fortnight", "", "6.5"}) {
        EXPECT_TRUE(
            read(raw(unknown), ncu)
                .starts_with(fmt::format(
                    "file: line 2: gpu__time_duration.sum is in '{}'; expected ns, us", unknown)))
            << read(raw(unknown), ncu);
    }
}

TEST(NcclTests, AMillionWrongResultsAreNoted) {
    const Layout layout = layout_of("nccl-tests");
    const auto line = [](const char* wrong, const char* wrong_in_place) {
        return fmt::format(
            "     4194304       1048576     float     sum      -1    196.5    5.34   10.01  {}   "
            "199.2    5.26    9.87  {}\n# Out of bounds values : 1 FAILED\n"
            "# Avg bus bandwidth    : 9.94\n",
            wrong, wrong_in_place);
    };
    const std::string found = read(line("1.04858e+06", "0"), layout);
    EXPECT_NE(found.find("wrong is '1.04858e+06'; expected 0 or N/A"), std::string::npos) << found;
    EXPECT_NE(found.find("in_place=true"), std::string::npos) << found;
    EXPECT_EQ(
        read(line("0", "1e+06"), layout).find("in_place=false,redop=sum") != std::string::npos,
        true);
}

std::string google(const std::string& entries) {
    return "{\"context\": {}, \"benchmarks\": [" + entries + "]}";
}

std::string entry(const std::string& name, const std::string& time, const std::string& more = "") {
    return "{\"name\": \"" + name + "\", \"real_time\": " + time +
           ", \"cpu_time\": 1, \"time_unit\": \"ns\"" + more + "}";
}

TEST(GoogleBenchmark, SettingsAreNoPartOfAName) {
    const auto result_of = [](const std::string& name) {
        return read_google_benchmark(google(entry(name, "1")), "file", {}).results.at(0);
    };
    for (const char* name :
         {"a/64", "a/64/repeats:3", "a/64/repeats:10", "a/64/min_time:0.500",
          "a/64/min_time:0.500s", "a/64/iterations:7", "a/64/min_warmup_time:2.000",
          "a/64/real_time", "a/64/min_time:1.000/repeats:3/real_time"}) {
        EXPECT_EQ(id_of(result_of(name)), "a[arg0=64]") << name;
    }
    EXPECT_EQ(id_of(result_of("a/64/threads:2/repeats:3")), "a[arg0=64,threads=2]");
    EXPECT_EQ(result_of("a/64/repeats:3").notes,
              std::vector<std::string>{"measured with repeats 3"});
    EXPECT_TRUE(result_of("a/64").notes.empty());
    // Two of a file stay two.
    Layout layout = layout_of("google-benchmark");
    EXPECT_EQ(read(google(entry("a/min_time:1.000", "1") + "," + entry("a/min_time:2.000", "2") +
                          "," + entry("b/min_time:1.000", "3")),
                   layout),
              "a[min_time=1.000] cpu_time 1 real_time 1\na[min_time=2.000] cpu_time 1 real_time 2\n"
              "b cpu_time 1 real_time 3\n");
}

TEST(GoogleBenchmark, WhatItSkipsIsSkipped) {
    Layout layout = layout_of("google-benchmark");
    const std::string skip = R"(, "skipped": true, "skip_message": "needs sm_90")";
    EXPECT_EQ(read(google(entry("a", "0", skip) + "," + entry("b", "1")), layout),
              "a skipped: the benchmark skips it: needs sm_90\nb cpu_time 1 real_time 1\n");
    EXPECT_NE(read(google(entry("a", "1", ", \"repetition_index\": 0") + "," +
                          entry("a", "0", ", \"repetition_index\": 1" + skip)),
                   layout)
                  .find("problem: some of its repetitions have values"),
              std::string::npos);
}

TEST(GoogleBenchmark, ACounterThatIsNoNumberMattersWhereItIsNamed) {
    Layout layout = layout_of("google-benchmark");
    const std::string text = google(entry("a", "1", ", \"ratio\": NaN") + "," +
                                    entry("b", "2", ", \"ratio\": 0.5, \"rate\": -Infinity"));
    EXPECT_EQ(read(text, layout), "a cpu_time 1 real_time 1\nb cpu_time 1 real_time 2\n");
    layout.values = {metric("ratio", "ratio")};
    layout.values.front().definition.metric_class = model::MetricClass::counter;
    EXPECT_EQ(read(text, layout),
              "a cpu_time 1 real_time 1 problem: ratio is nan; expected a finite number\n"
              "b cpu_time 1 ratio 0.5 real_time 2\n");
}

TEST(GoogleBenchmark, ACounterMayHaveTheNameOfAKey) {
    Layout layout = layout_of("google-benchmark");
    layout.values = {metric("loops", "iterations")};
    EXPECT_EQ(read(google(entry("a", "1", R"(, "iterations": 100, "iterations": 7.5)")), layout),
              "a cpu_time 1 loops 7.5 real_time 1\n");
    EXPECT_EQ(read(google(entry("a", "1", R"(, "real_time": 7)")), layout),
              "a cpu_time 1 real_time 1\n")
        << "the first is the tool's";
}

std::string nvbench(const std::vector<int>& devices, const std::string& second = "A") {
    std::string states;
    std::string ids;
    for (const int device : devices) {
        states += fmt::format(R"({}{{"device": {}, "is_skipped": false, "axis_values": [],
            "summaries": [{{"tag": "nv/cold/time/gpu/median",
                            "data": [{{"name": "value", "value": "{}e-6"}}]}}]}})",
                              states.empty() ? "" : ",", device, device + 1);
        ids += fmt::format("{}{}", ids.empty() ? "" : ",", device);
    }
    return fmt::format(R"({{"meta": {{"version": {{"json": {{"major": 1}}}}}},
        "devices": [{{"id": 0, "name": "A"}}, {{"id": 1, "name": "{}"}}],
        "benchmarks": [{{"name": "copy", "devices": [{}], "states": [{}]}}]}})",
                       second, ids, states);
}

TEST(Nvbench, ASecondDeviceRenamesNothing) {
    const Layout layout = layout_of("nvbench");
    EXPECT_EQ(read(nvbench({0}), layout), "copy real_time 1000\n");
    EXPECT_EQ(read(nvbench({0, 1}), layout),
              "copy real_time 1000\ncopy[device=1] real_time 2000\n");
    EXPECT_EQ(read(nvbench({1}), layout), "copy real_time 2000\n");
    const auto device = [](const std::string& text) {
        return read_nvbench(text, "file", {}).device;
    };
    EXPECT_EQ(device(nvbench({0})), device(nvbench({0, 1})));
    EXPECT_NE(device(nvbench({0})), device(nvbench({0, 1}, "B")));
}

TEST(Results, LongNamesAreShortenedAndStayDifferent) {
    Layout layout = layout_of("csv");
    layout.name = "name";
    layout.axes = {{"kernel", "kernel"}};
    layout.values = {metric("real_time", "ns")};
    const std::string kernel = "void vectorized<" + std::string(5000, 'x') + ">(int)";
    const auto id = [&](const std::string& name, const std::string& parameter) {
        const Results results =
            read_text("name,kernel,ns\n\"" + name + "\",\"" + parameter + "\",1\n", "file", layout);
        return id_of(results.results.at(0));
    };
    const std::string shortened = id(kernel, "k");
    EXPECT_LT(shortened.size(), 350U);
    EXPECT_TRUE(shortened.starts_with("void vectorized<xxxx"));
    EXPECT_EQ(shortened, id(kernel, "k"));
    EXPECT_NE(shortened, id(kernel + " const", "k")) << "the end counts";
    EXPECT_LT(id("a", kernel).size(), 300U);
    EXPECT_NE(id("a", kernel), id("a", kernel + "x"));
    const std::string exact(300, 'y');
    EXPECT_EQ(id(exact, "k"), exact + "[kernel=k]") << "older names stay";
    std::string umlauts;
    for (int i = 0; i < 500; ++i) umlauts += "\xC3\xBC";
    EXPECT_EQ(read("name,kernel,ns\n" + umlauts + ",k,1\n", layout).find("characters that are not"),
              std::string::npos)
        << "no character is divided";
}

}  // namespace benchmark_tables_test
}  // namespace perfgate::benchmark
