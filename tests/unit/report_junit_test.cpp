// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <pugixml.hpp>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/formats.hpp"
#include "report_fixture.hpp"
#include "report_hostile.hpp"
#include "util/text.hpp"

namespace perfgate::report {
namespace {

Options with(JunitProfile profile) {
    Options options;
    options.junit_profile = profile;
    return options;
}

std::string junit(const Documents& documents, JunitProfile profile = JunitProfile::github) {
    return write_junit(documents.verdict, documents.run, with(profile));
}

pugi::xml_document parsed(const std::string& text) {
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_string(text.c_str(), pugi::parse_full);
    EXPECT_TRUE(result) << result.description() << " at " << result.offset;
    return document;
}

pugi::xml_node find_case(const pugi::xml_document& document, const std::string& name) {
    for (const pugi::xml_node suite : document.child("testsuites").children("testsuite")) {
        for (const pugi::xml_node testcase : suite.children("testcase")) {
            if (testcase.attribute("name").value() == name) return testcase;
        }
    }
    ADD_FAILURE() << name << " is not in the report";
    return {};
}

/// Counts the elements and compares with what the suites' attributes claim.
void expect_exact_counts(const pugi::xml_document& document, const std::string& what) {
    int tests = 0;
    int failures = 0;
    for (const pugi::xml_node suite : document.child("testsuites").children("testsuite")) {
        int of[4] = {};
        const char* const names[] = {"", "failure", "error", "skipped"};
        for (const pugi::xml_node testcase : suite.children("testcase")) {
            ++of[0];
            for (int i = 1; i < 4; ++i) {
                const auto children = testcase.children(names[i]);
                of[i] += static_cast<int>(std::distance(children.begin(), children.end()));
            }
        }
        EXPECT_EQ(suite.attribute("tests").as_int(-1), of[0]) << what;
        EXPECT_EQ(suite.attribute("failures").as_int(-1), of[1]) << what;
        EXPECT_EQ(suite.attribute("errors").as_int(-1), of[2]) << what;
        EXPECT_EQ(suite.attribute("skipped").as_int(-1), of[3]) << what;
        tests += of[0];
        failures += of[1];
    }
    const pugi::xml_node root = document.child("testsuites");
    if (root.attribute("tests")) {
        EXPECT_EQ(root.attribute("tests").as_int(), tests) << what;
        EXPECT_EQ(root.attribute("failures").as_int(), failures) << what;
    }
}

/// XML 1.0's Char, byte for byte valid UTF-8: stricter readers than pugixml reject the whole file.
void expect_only_xml_characters(const std::string& text, const std::string& what) {
    for (std::size_t i = 0; i < text.size();) {
        const util::Utf8Step step = util::utf8_step(text, i);
        const char32_t c = step.code_point;
        ASSERT_TRUE(step.valid) << what;
        ASSERT_TRUE(c >= 0x20 || c == '\n' || c == '\t') << what;
        ASSERT_TRUE(c != 0xFFFE && c != 0xFFFF) << what;
        i += step.length;
    }
}

TEST(Junit, CountsAreExactInBothProfiles) {
    for (const JunitProfile profile : {JunitProfile::github, JunitProfile::strict}) {
        expect_exact_counts(parsed(junit(every_verdict(), profile)), "every verdict");
        expect_exact_counts(parsed(junit(first_run(), profile)), "first run");
    }
}

TEST(Junit, AVerdictsOutcomeIsTheTables) {
    const pugi::xml_document document = parsed(junit(every_verdict()));
    const auto outcome = [&](const std::string& parameters) {
        const pugi::xml_node testcase = find_case(document, "gemm/" + parameters);
        for (const char* name : {"failure", "error", "skipped"}) {
            if (testcase.child(name)) return std::string(name);
        }
        return std::string("pass");
    };
    EXPECT_EQ(outcome("tiled[dtype=f32,k=1024,m=1024,n=1024]"), "pass");
    EXPECT_EQ(outcome("cublas[dtype=f32,k=4096,m=4096,n=4096]"), "pass");
    EXPECT_EQ(outcome("tiled[dtype=f32,k=2048,m=2048,n=2048]"), "failure");
    EXPECT_EQ(outcome("naive[dtype=f32,k=1024,m=1024,n=1024]"), "failure");
    EXPECT_EQ(outcome("tiled[dtype=f32,k=8192,m=8192,n=8192]"), "failure");
    EXPECT_EQ(outcome("naive[dtype=f32,k=896,m=896,n=896]"), "error");
    EXPECT_EQ(outcome("naive[dtype=f32,k=640,m=640,n=640]"), "error");
    EXPECT_EQ(outcome("naive[dtype=f32,k=768,m=768,n=768]"), "error");
    EXPECT_EQ(outcome("naive[dtype=f32,k=512,m=512,n=512]"), "skipped");
    EXPECT_EQ(outcome("tiled[dtype=f32,k=512,m=512,n=512]"), "skipped");
    EXPECT_EQ(outcome("tensor_core[dtype=f32,k=4096,m=4096,n=4096]"), "skipped");
}

TEST(Junit, OneFailureListsEveryFailedMetric) {
    const pugi::xml_document document = parsed(junit(every_verdict()));
    const pugi::xml_node failure =
        find_case(document, "gemm/tiled[dtype=f32,k=2048,m=2048,n=2048]").child("failure");
    EXPECT_FALSE(failure.next_sibling("failure"));
    EXPECT_STREQ(failure.attribute("type").value(), "regressed");
    EXPECT_STREQ(failure.attribute("message").value(),
                 "gpu_time 400.0 µs → 444.4 µs (+11.1 %); more registers (96 → 128), so that fewer "
                 "warps fit, in gemm_tiled");
    EXPECT_STREQ(failure.child_value(),
                 "gpu_time regressed: 400.0 µs → 444.4 µs (+11.1 %), tolerance 3 %\n"
                 "registers regressed: 96 → 128 (+33.3 %), tolerance 0 %\n"
                 "why: more registers, so that fewer warps fit: registers 96 → 128 (+33.3 %), "
                 "theoretical_occupancy 50.00 % → 37.50 % (-12.5 points); fewer warps hide less "
                 "latency\n"
                 "roofline: 86 % of f32 matrix rate, compute-bound → 77 % of f32 matrix rate, "
                 "compute-bound\n");
}

TEST(Junit, TheMessageIsTheWorstMetrics) {
    Documents documents = every_verdict();
    model::CaseVerdict* failed = nullptr;
    for (model::CaseVerdict& verdict : documents.verdict.suites[0].cases) {
        if (verdict.verdict == model::Verdict::regressed) failed = &verdict;
    }
    ASSERT_NE(failed, nullptr);
    failed->metrics[0].verdict = model::Verdict::not_collected;
    failed->metrics[0].sentence = "gpu_time was not collected";
    failed->why.clear();
    const pugi::xml_document document = parsed(junit(documents));
    const pugi::xml_node failure = find_case(document, failed->id).child("failure");
    EXPECT_STREQ(failure.attribute("message").value(),
                 "registers regressed: 96 → 128 (+33.3 %), tolerance 0 %");
    EXPECT_NE(std::string(failure.child_value()).find("gpu_time was not collected"),
              std::string::npos);
}

TEST(Junit, AReasonThatNoMetricExplainsLeads) {
    Documents documents = every_verdict();
    model::CaseVerdict& verdict = documents.verdict.suites[0].cases[8];
    ASSERT_EQ(verdict.verdict, model::Verdict::not_collected);
    verdict.verdict = model::Verdict::error;
    verdict.reason = "the device was lost";
    const pugi::xml_document document = parsed(junit(documents));
    EXPECT_STREQ(find_case(document, verdict.id).child("error").attribute("message").value(),
                 "the device was lost");
}

TEST(Junit, AnErrorHasTheLogWithoutItsEscapes) {
    const pugi::xml_document document = parsed(junit(every_verdict()));
    const pugi::xml_node error =
        find_case(document, "gemm/naive[dtype=f32,k=896,m=896,n=896]").child("error");
    EXPECT_STREQ(error.attribute("message").value(),
                 "the worker died of signal 11 (SIGSEGV) while it verified");
    EXPECT_NE(std::string(error.child_value()).find("fatal: bad access <at> 0x0 ]]> & more"),
              std::string::npos)
        << error.child_value();
}

TEST(Junit, AnIncorrectCaseSaysWhatWasWrong) {
    const pugi::xml_document document = parsed(junit(every_verdict()));
    const pugi::xml_node failure =
        find_case(document, "gemm/naive[dtype=f32,k=1024,m=1024,n=1024]").child("failure");
    EXPECT_NE(std::string(failure.child_value()).find("seed 99"), std::string::npos);
}

TEST(Junit, PolicyDecidesWhatIsSkipped) {
    Documents documents = first_run();
    EXPECT_EQ(parsed(junit(documents)).child("testsuites").attribute("failures").as_int(), 0);
    documents.verdict.policy.no_baseline_fails = true;
    EXPECT_EQ(parsed(junit(documents)).child("testsuites").attribute("failures").as_int(), 3);
}

TEST(Junit, GithubHasPlacesAndProperties) {
    const pugi::xml_document document = parsed(junit(every_verdict()));
    const pugi::xml_node testcase =
        find_case(document, "gemm/tiled[dtype=f32,k=1024,m=1024,n=1024]");
    EXPECT_STREQ(testcase.attribute("classname").value(), "gemm.gemm");
    EXPECT_STREQ(testcase.attribute("file").value(), "suites/gemm.yaml");
    EXPECT_EQ(testcase.attribute("line").as_int(), 12);
    const pugi::xml_node property =
        testcase.child("properties").find_child_by_attribute("name", "gpu_time");
    EXPECT_STREQ(property.attribute("value").value(), "60.12 µs");
    EXPECT_FALSE(
        find_case(document, "gemm/tiled[dtype=f32,k=8192,m=8192,n=8192]").attribute("line"))
        << "an unknown line is not line 0";
}

TEST(Junit, APassingCaseHasItsTimeAndOthersWhatTheirVerdictIsAbout) {
    Documents documents = every_verdict();
    for (model::CaseVerdict& verdict : documents.verdict.suites[0].cases) {
        verdict.code = model::CodeChange::changed;
        verdict.ceiling = {model::Bound::compute, "f32", 0.77};
    }
    const pugi::xml_document document = parsed(junit(documents));
    const auto properties = [&](const std::string& name) {
        std::string text;
        for (const pugi::xml_node property : find_case(document, name).child("properties")) {
            text += std::string(property.attribute("name").value()) + '=' +
                    property.attribute("value").value() + '\n';
        }
        return text;
    };
    EXPECT_EQ(properties("gemm/tiled[dtype=f32,k=1024,m=1024,n=1024]"), "gpu_time=60.12 µs\n");
    EXPECT_EQ(properties("gemm/tiled[dtype=f32,k=2048,m=2048,n=2048]"),
              "verdict=regressed\ncode=changed\nceiling=77 % of f32 matrix rate, compute-bound\n"
              "gpu_time=444.4 µs\n");
    EXPECT_FALSE(
        find_case(document, "gemm/tiled[dtype=f32,k=1024,m=1024,n=1024]").child("system-out"));
}

TEST(Junit, ARelationThatDidNotPassHasItsVerdict) {
    for (const JunitProfile profile : {JunitProfile::github, JunitProfile::strict}) {
        const pugi::xml_document document = parsed(junit(every_verdict(), profile));
        std::vector<std::string> verdicts;
        for (const auto& found :
             document.select_nodes("//testcase[contains(@classname,'.expect')]")) {
            verdicts.emplace_back(found.node()
                                      .select_node("properties/property[@name='verdict']/@value")
                                      .attribute()
                                      .value());
        }
        if (profile == JunitProfile::strict) {
            EXPECT_EQ(verdicts, std::vector<std::string>(verdicts.size()));
        } else {
            EXPECT_NE(std::find(verdicts.begin(), verdicts.end(), "skipped"), verdicts.end());
            EXPECT_NE(std::find(verdicts.begin(), verdicts.end(), "regressed"), verdicts.end());
            EXPECT_NE(std::find(verdicts.begin(), verdicts.end(), ""), verdicts.end());
        }
    }
}

TEST(Junit, ARunOfPassesIsSmall) {
    const Documents documents = many_cases(324, 30);
    EXPECT_LT(junit(documents).size(), 200'000U);
}

TEST(Junit, StrictHasNoneOfThem) {
    const pugi::xml_document document = parsed(junit(every_verdict(), JunitProfile::strict));
    const pugi::xml_node testcase =
        find_case(document, "gemm/tiled[dtype=f32,k=1024,m=1024,n=1024]");
    EXPECT_FALSE(testcase.attribute("file"));
    EXPECT_FALSE(testcase.attribute("line"));
    EXPECT_FALSE(testcase.child("properties"));
    EXPECT_FALSE(testcase.child("system-out"));
}

TEST(Junit, TimesAreFixedPointSeconds) {
    const double not_a_number = std::numeric_limits<double>::quiet_NaN();
    const double infinite = std::numeric_limits<double>::infinity();
    const std::vector<std::pair<double, std::string>> times = {{0, "0.000"},
                                                               {1e-9, "0.000"},
                                                               {0.0015, "0.002"},
                                                               {1234567.5, "1234567.500"},
                                                               {not_a_number, "0.000"},
                                                               {-3, "0.000"},
                                                               {infinite, "1000000000.000"},
                                                               {1e300, "1000000000.000"}};
    for (const auto& [seconds, text] : times) {
        Documents documents = many_cases(1, 1);
        documents.verdict.suites[0].cases[0].wall_s = seconds;
        const pugi::xml_document document = parsed(junit(documents));
        const pugi::xml_node suite = document.child("testsuites").child("testsuite");
        EXPECT_EQ(suite.child("testcase").attribute("time").value(), text) << seconds;
        EXPECT_EQ(suite.attribute("time").value(), text) << seconds;
    }
}

TEST(Junit, TimestampsHaveNoZoneAndAreDates) {
    const std::string epoch = "1970-01-01T00:00:00";
    const std::vector<std::pair<std::string, std::string>> times = {
        {"2026-11-21T10:00:00Z", "2026-11-21T10:00:00"},
        {"2024-02-29T23:59:59+01:00", "2024-02-29T23:59:59"},
        {"2026-02-29T10:00:00Z", epoch},
        {"2026-13-01T10:00:00Z", epoch},
        {"2026-11-21T24:00:00Z", epoch},
        {"0000-01-01T00:00:00Z", epoch},
        {"2026-11-21 10:00:00Z", epoch},
        {"2026-11-21", epoch},
        {"yesterday, at about noon", epoch},
        {"", epoch}};
    for (const auto& [given, expected] : times) {
        Documents documents = many_cases(1, 1);
        documents.verdict.started_at = given;
        const pugi::xml_document document = parsed(junit(documents));
        EXPECT_EQ(document.child("testsuites").child("testsuite").attribute("timestamp").value(),
                  expected)
            << given;
    }
}

TEST(Junit, SurvivesHostileTextInEveryField) {
    for (const std::string& text : hostile_texts()) {
        const std::string what = text.substr(0, 60);
        for (const JunitProfile profile : {JunitProfile::github, JunitProfile::strict}) {
            const std::string xml = junit(hostile(text), profile);
            expect_only_xml_characters(xml, what);
            const pugi::xml_document document = parsed(xml);
            expect_exact_counts(document, what);
            std::set<std::pair<std::string, std::string>> names;
            const pugi::xml_node suite = document.child("testsuites").child("testsuite");
            for (const pugi::xml_node testcase : suite.children("testcase")) {
                const std::string name = testcase.attribute("name").value();
                EXPECT_FALSE(name.empty()) << what;
                EXPECT_TRUE(names.insert({testcase.attribute("classname").value(), name}).second)
                    << what;
                for (const pugi::xml_attribute attribute : testcase.attributes()) {
                    EXPECT_EQ(std::string(attribute.value()).find('\n'), std::string::npos) << what;
                }
            }
            EXPECT_EQ(names.size(), 5U + 5U) << what;  // cases and relations
            EXPECT_LT(xml.size(), 2'000'000U) << what;
        }
    }
}

TEST(Junit, MarkupReadsBackAsText) {
    const std::string text = "</failure> ]]> <b a=\"1\" c='2'> &amp; 寸法";
    const pugi::xml_document document = parsed(junit(hostile(text)));
    const pugi::xml_node suite = document.child("testsuites").child("testsuite");
    EXPECT_EQ(suite.attribute("name").value(), text);
    EXPECT_EQ(suite.child("testcase").attribute("name").value(), text);
    EXPECT_EQ(suite.child("testcase").attribute("classname").value(), text + "." + text);
    EXPECT_NE(std::string(suite.child("testcase").child("failure").attribute("message").value())
                  .find(text),
              std::string::npos);
    EXPECT_NE(std::string(suite.child("testcase").child("failure").child_value()).find(text),
              std::string::npos);
}

TEST(Junit, NamesThatRepeatAreNumbered) {
    Documents documents = many_cases(5, 1);
    const std::vector<std::string> ids = {"a", "a (2)", "a", "a\x01", "a"};
    for (std::size_t i = 0; i < ids.size(); ++i) documents.verdict.suites[0].cases[i].id = ids[i];
    const pugi::xml_document document = parsed(junit(documents));
    std::vector<std::string> names;
    for (const pugi::xml_node testcase :
         document.child("testsuites").child("testsuite").children("testcase")) {
        names.emplace_back(testcase.attribute("name").value());
    }
    EXPECT_EQ(names, (std::vector<std::string>{"a", "a (2)", "a (3)", "a (4)", "a (5)"}));
}

TEST(Junit, WhatPassedWhenMeasuredAgainIsFlakyToReadersWhoKnowThat) {
    Documents documents = many_cases(2, 1);
    auto& results = documents.run.suites[0].cases;
    for (const std::int64_t round : {0, 1, 1, 2}) {
        results[1].metrics["gpu_time"].batches.emplace_back().round = round;
    }
    const pugi::xml_document document = parsed(junit(documents));
    const pugi::xml_node suite = document.child("testsuites").child("testsuite");
    EXPECT_FALSE(suite.first_child().next_sibling("testcase").child("flakyFailure"));
    const pugi::xpath_node_set flaky = document.select_nodes("//flakyFailure");
    ASSERT_EQ(flaky.size(), 1U);
    EXPECT_STREQ(flaky[0].node().attribute("message").value(),
                 "gpu_time was flagged as a regression at first and passed when it was measured "
                 "again in 3 fresh processes");
    expect_exact_counts(document, "one of two was measured again");

    const std::string strict = junit(documents, JunitProfile::strict);
    EXPECT_EQ(strict.find("flakyFailure"), std::string::npos);
    documents.verdict.suites[0].cases[1].verdict = model::Verdict::regressed;
    EXPECT_EQ(junit(documents).find("flakyFailure"), std::string::npos) << "it failed for good";
}

TEST(Junit, NoTextAsksGitlabForAFile) {
    const std::string xml = junit(hostile("[[ATTACHMENT|/etc/passwd]]"));
    const pugi::xml_document document = parsed(xml);
    for (const pugi::xpath_node node : document.select_nodes("//system-out | //system-err")) {
        EXPECT_EQ(std::string(node.node().child_value()).find("[[ATTACHMENT|"), std::string::npos);
    }
}

TEST(Junit, TheOutputOfACaseThatDidNotFailIsShort) {
    Documents documents = many_cases(1, 4);
    model::CaseVerdict& verdict = documents.verdict.suites[0].cases[0];
    verdict.verdict = model::Verdict::warned;
    for (int i = 0; i < 1000; ++i) verdict.metrics.push_back(verdict.metrics[0]);
    const pugi::xml_document document = parsed(junit(documents));
    const std::string output =
        document.child("testsuites").child("testsuite").child("testcase").child_value("system-out");
    EXPECT_LT(output.size(), 1100U);
    EXPECT_NE(output.find("more lines left out"), std::string::npos);
}

TEST(Junit, TenThousandFailuresStayUnderGitlabsLimit) {
    Documents documents = many_cases(10000, 30);
    for (model::CaseVerdict& verdict : documents.verdict.suites[0].cases) {
        verdict.verdict = model::Verdict::regressed;
    }
    const std::string xml = junit(documents);
    EXPECT_LT(xml.size(), 30'000'000U);
    expect_exact_counts(parsed(xml), "10,000 cases");
}

// --- validation by xmllint -----------------------------------------------------------------------

/// What xmllint complains of; empty: nothing. It says "<file> validates" on stderr, which is no
/// complaint.
std::string complaints(const std::string& arguments) {
    FILE* pipe = popen(("xmllint --noout " + arguments + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return "xmllint cannot be started";
    std::string output;
    char buffer[4096];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) {
        output.append(buffer, count);
    }
    const int status = pclose(pipe);
    return status == 0 ? "" : "xmllint fails: " + output.substr(0, 4000);
}

bool have_xmllint() {
    return std::system("xmllint --version > /dev/null 2>&1") == 0;
}

/// A file of this test alone: tests run side by side.
class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string& text) {
        path_ = testing::TempDir() + "perfgate_" +
                testing::UnitTest::GetInstance()->current_test_info()->name() + ".xml";
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

std::vector<std::pair<std::string, Documents>> documents_to_validate() {
    std::vector<std::pair<std::string, Documents>> all = {{"every verdict", every_verdict()},
                                                          {"first run", first_run()},
                                                          {"nothing", Documents{}},
                                                          {"no suite has a case", first_run()}};
    all.back().second.verdict.suites[0].cases.clear();
    for (const std::string& text : hostile_texts()) {
        all.emplace_back(text.substr(0, 60), hostile(text));
    }
    return all;
}

void expect_strict_is_valid(const std::string& schema) {
    const std::string path = PERFGATE_TEST_DATA_DIR "/junit/" + schema;
    if (!have_xmllint()) GTEST_SKIP() << "xmllint is not installed";
    for (const auto& [what, documents] : documents_to_validate()) {
        const TemporaryFile file(junit(documents, JunitProfile::strict));
        EXPECT_EQ(complaints("--schema '" + path + "' '" + file.path() + "'"), "") << what;
    }
}

TEST(JunitSchema, StrictIsValidForJenkins) {
    expect_strict_is_valid("jenkins-junit-10.xsd");
}

TEST(JunitSchema, StrictIsValidForAnt) {
    expect_strict_is_valid("windyroad-junit.xsd");
}

TEST(JunitSchema, GithubIsWellFormed) {
    if (!have_xmllint()) GTEST_SKIP() << "xmllint is not installed";
    for (const auto& [what, documents] : documents_to_validate()) {
        const TemporaryFile file(junit(documents));
        EXPECT_EQ(complaints("'" + file.path() + "'"), "") << what;
    }
}

}  // namespace
}  // namespace perfgate::report
