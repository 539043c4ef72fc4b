// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "report/formats.hpp"
#include "report/markdown_text.hpp"
#include "report_fixture.hpp"
#include "report_hostile.hpp"

namespace perfgate::report {
namespace {

/// What GitHub takes of one step.
constexpr std::size_t summary_limit = std::size_t{1024} * 1024;

std::string markdown(const Documents& documents) {
    return write_markdown(documents.verdict, documents.run, {});
}

std::vector<std::string> lines_of(const std::string& text) {
    std::stringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

model::CaseVerdict& regressed_in(Documents& documents) {
    for (model::CaseVerdict& verdict : documents.verdict.suites[0].cases) {
        if (verdict.verdict == model::Verdict::regressed) return verdict;
    }
    throw std::logic_error("no case regressed");
}

TEST(MarkdownText, WhatMeansSomethingIsAReference) {
    EXPECT_EQ(markdown_text("a*b*|`c`\\d", 100), "a&#42;b&#42;&#124;&#96;c&#96;&#92;d");
    EXPECT_EQ(markdown_text("<b>&amp;", 100), "&lt;b&gt;&amp;amp;");
    EXPECT_EQ(markdown_text("[x](y) ![z]", 100), "&#91;x&#93;(y) &#33;&#91;z&#93;");
    EXPECT_EQ(markdown_text("~~$x$~~", 100), "&#126;&#126;&#36;x&#36;&#126;&#126;");
}

TEST(MarkdownText, NobodyAndNothingIsMentioned) {
    EXPECT_EQ(markdown_text("@me, me@x #12", 100),
              "&#64;&#8203;me, me&#64;&#8203;x &#35;&#8203;12");
}

TEST(MarkdownText, NothingBecomesALink) {
    EXPECT_EQ(markdown_text("https://h.example WWW.h.example", 100),
              "https&#58;//h.example WWW&#46;h.example");
    EXPECT_EQ(markdown_text("why: 1.5", 100), "why: 1.5");
}

TEST(MarkdownText, NothingBeginsABlock) {
    EXPECT_EQ(markdown_text("- x", 100), "&#45; x");
    EXPECT_EQ(markdown_text("+ x", 100), "&#43; x");
    EXPECT_EQ(markdown_text("=== x", 100), "&#61;== x");
    EXPECT_EQ(markdown_text("12. x", 100), "12&#46; x");
    EXPECT_EQ(markdown_text("12) x", 100), "12&#41; x");
    EXPECT_EQ(markdown_text("12.5 µs", 100), "12.5 µs");
    EXPECT_EQ(markdown_text("     x\n\n\ny", 100), "x y");
}

TEST(MarkdownText, NamesStayLegible) {
    EXPECT_EQ(markdown_text("gpu_time regressed: 400.0 µs → 444.4 µs (+11.1 %)", 100),
              "gpu_time regressed: 400.0 µs → 444.4 µs (+11.1 %)");
    EXPECT_EQ(markdown_text("_x_ x_", 100), "&#95;x&#95; x&#95;");
}

TEST(MarkdownText, CodeIsASpanWhereThatCannotEnd) {
    EXPECT_EQ(markdown_code("gemm/tiled[n=1]@hot", 100), "`gemm/tiled[n=1]@hot`");
    EXPECT_EQ(markdown_code("a`b", 100), "<code>a&#96;b</code>");
    EXPECT_EQ(markdown_code("a|b", 100), "<code>a&#124;b</code>");
    EXPECT_EQ(markdown_code("a\\", 100), "<code>a&#92;</code>");
    EXPECT_EQ(markdown_code("</code>|", 100), "<code>&lt;/code&gt;&#124;</code>");
    EXPECT_EQ(markdown_code(" \n", 100), "<code></code>");
}

TEST(Markdown, ShowsTheWorstCaseOfAllSuitesFirst) {
    const auto expect_order = [](const std::string& text) {
        EXPECT_LT(text.find("| **incorrect**"), text.find("| **regressed**"));
        EXPECT_LT(text.find("| **incorrect**"), text.find("| **broken**"));
        EXPECT_LT(text.find("| **regressed**"), text.find("| **missing**"));
        EXPECT_LT(text.find("| **broken**"), text.find("| **missing**"));
        EXPECT_EQ(count_of(text, "| verdict |"), 1U);
    };
    expect_order(markdown(every_verdict()));
    Documents turned = every_verdict();
    std::swap(turned.run.suites[0], turned.run.suites[1]);
    std::swap(turned.verdict.suites[0], turned.verdict.suites[1]);
    expect_order(markdown(turned));
}

TEST(Markdown, SuitesWithoutProblemsTakeALineOfWhatIsFolded) {
    Documents documents = many_cases(3, 2);
    documents.verdict.suites.push_back(documents.verdict.suites[0]);
    for (model::SuiteVerdict& suite : documents.verdict.suites) suite.notes = {"the same note"};
    const std::string text = markdown(documents);
    EXPECT_EQ(count_of(text, "\n#"), 0U) << "the title is the only heading";
    EXPECT_EQ(count_of(text, "| verdict |"), 0U);
    EXPECT_NE(text.find("<summary>2 suites, 1 note</summary>"), std::string::npos) << text;
    EXPECT_EQ(count_of(text, "- many: 3 pass"), 2U);
    EXPECT_EQ(count_of(text, "the same note"), 1U);
}

TEST(Markdown, ANoteSaysWhichSuitesHaveIt) {
    const std::string text = markdown(every_verdict());
    EXPECT_NE(text.find("- note: driver changed since the baseline: 570.86.15 → 580.159.04 (gemm)"),
              std::string::npos)
        << text;
}

TEST(Markdown, ANoteThatASentenceSaysIsNotRepeated) {
    Documents documents = every_verdict();
    model::CaseVerdict& verdict = regressed_in(documents);
    verdict.metrics[0].sentence += "; machine code changed: kernel gemm_tiled";
    verdict.notes = {"machine code changed: kernel gemm_tiled", "another note"};
    const std::string text = markdown(documents);
    EXPECT_EQ(count_of(text, "machine code changed"), 1U);
    EXPECT_NE(text.find("- note: another note"), std::string::npos);
}

TEST(Markdown, SaysWhichCommitsItIsComparedWith) {
    Documents documents = every_verdict();
    EXPECT_EQ(markdown(documents).find("compared with"), std::string::npos);
    std::vector<model::CaseVerdict>& cases = documents.verdict.suites[0].cases;
    for (model::CaseVerdict& verdict : cases) {
        if (verdict.verdict == model::Verdict::no_baseline) continue;
        verdict.baseline_revision = "aaa1";
        verdict.baseline_recorded_at = "2026-11-02T01:02:03Z";
    }
    EXPECT_NE(markdown(documents).find("; compared with aaa1 of 2026-11-02;"), std::string::npos);
    model::CaseVerdict& regressed = regressed_in(documents);
    regressed.baseline_revision = "bbb2";
    regressed.baseline_recorded_at = "2026-10-01T01:02:03Z";
    EXPECT_NE(markdown(documents).find("; compared with bbb2 of 2026-10-01 to aaa1 of 2026-11-02;"),
              std::string::npos);
    // Two builds of one commit.
    for (model::CaseVerdict& verdict : cases) {
        verdict.changed_kernels.clear();
        if (!verdict.baseline_revision.empty()) verdict.baseline_revision = "4f2a9c1";
    }
    EXPECT_NE(markdown(documents).find(
                  "; compared with the same commit, of 2026-10-01 to the same commit, of 2026-11"),
              std::string::npos);
    regressed.changed_kernels = {"k"};
    EXPECT_NE(markdown(documents).find("; compared with other machine code of the same commit, of"),
              std::string::npos);
}

TEST(Markdown, SaysWhy) {
    EXPECT_NE(markdown(every_verdict())
                  .find("- why: more registers, so that fewer warps fit: registers 96 → 128"),
              std::string::npos);
}

TEST(Markdown, SaysWhereTheChangedKernelIs) {
    EXPECT_NE(markdown(regressed_by_kernel({"kernels/gemm/tiled.cu", 41}))
                  .find("- changed: gemm_tiled, kernels/gemm/tiled.cu:41\n"),
              std::string::npos);
    EXPECT_EQ(markdown(regressed_by_kernel({"/opt/tiled.cu", 41})).find("tiled.cu"),
              std::string::npos);
}

TEST(Markdown, HostileTextIsText) {
    for (const std::string& text : hostile_texts()) {
        const std::string out = markdown(hostile(text));
        EXPECT_LT(out.size(), summary_limit) << text.substr(0, 40);
        for (const char* markup : {"<script", "<img", "<!--", "](", "@someone\n", "://", "\x1b"}) {
            const std::size_t at = out.find(markup);
            // A code span shows what it has.
            const std::size_t line = at == std::string::npos ? at : out.rfind('\n', at) + 1;
            EXPECT_TRUE(at == std::string::npos ||
                        count_of(out.substr(line, at - line), "`") % 2 == 1)
                << markup << " in " << out.substr(line, 200);
        }
        for (const std::string& line : lines_of(out)) {
            if (!line.starts_with("| ")) continue;
            EXPECT_EQ(count_of(line, "|"), 5U) << line.substr(0, 200);
            EXPECT_EQ(count_of(line, "`") % 2, 0U) << line.substr(0, 200);
        }
    }
}

TEST(Markdown, StaysUnderTheLimitAndCountsTheRest) {
    Documents documents = many_cases(10000, 4);
    // Names that take twelve bytes for one, in the cases and in what is said of them.
    const std::string longest(300, '@');
    for (model::CaseVerdict& verdict : documents.verdict.suites[0].cases) {
        verdict.id += '|' + longest;
        verdict.reason = longest;
    }
    const std::string text = markdown(documents);
    EXPECT_LT(text.size(), summary_limit);
    EXPECT_GT(text.size(), summary_limit / 2);
    const std::size_t shown = count_of(text, "\n| **regressed**");
    EXPECT_GT(shown, 50U);
    EXPECT_NE(text.find("\n" + std::to_string(1000 - shown) + " more that need attention"),
              std::string::npos);
}

TEST(Markdown, LinksToTheWholeReportWhereItLeavesSomethingOut) {
    Options options;
    options.report_url = "https://ci.example/r?a=1&copy;=(2)#artifacts";
    const std::string link =
        "\n[The whole report](<https://ci.example/r?a=1&amp;copy;=(2)#artifacts>)\n";
    const Documents few = many_cases(10, 4);
    EXPECT_EQ(write_markdown(few.verdict, few.run, options), markdown(few));
    Documents many = many_cases(10000, 4);
    const std::string longest(300, '@');
    for (model::CaseVerdict& verdict : many.verdict.suites[0].cases) {
        verdict.id += '|' + longest;
        verdict.reason = longest;
    }
    const std::string text = write_markdown(many.verdict, many.run, options);
    EXPECT_LT(text.size(), summary_limit);
    EXPECT_EQ(count_of(text, link), 1U);
    EXPECT_EQ(count_of(markdown(many), "The whole report"), 0U);
}

TEST(WebAddress, IsOneThatCanStandInALink) {
    EXPECT_TRUE(is_web_address("https://github.com/o/r/actions/runs/7#artifacts"));
    EXPECT_TRUE(is_web_address("http://[::1]:8080/a?b=(c)"));
    EXPECT_TRUE(is_web_address("https://" + std::string(1992, 'a')));
    for (const std::string text :
         {"", "https://", "ftp://h", "javascript:alert(1)", "h.example", "https://h/a b",
          "https://h/>", "https://h/\"", "https://h/\\", "https://h/`", "https://h/|",
          "https://h/\n", "https://h/\xc3\xa4"}) {
        EXPECT_FALSE(is_web_address(text)) << text;
    }
    EXPECT_FALSE(is_web_address("https://" + std::string(1993, 'a')));
}

TEST(Markdown, WhatIsWorstIsShownWhereverItStands) {
    Documents documents = many_cases(10000, 4);
    for (model::CaseVerdict& verdict : documents.verdict.suites[0].cases) {
        verdict.verdict = model::Verdict::inconclusive;
    }
    documents.verdict.suites[0].cases.back().verdict = model::Verdict::incorrect;
    const std::string text = markdown(documents);
    EXPECT_LT(text.size(), summary_limit);
    EXPECT_LT(text.find("| **incorrect**"), text.find("| **inconclusive**"));
    EXPECT_NE(text.find("more that need attention"), std::string::npos);
}

TEST(Markdown, SuitesBeyondTheLimitAreCounted) {
    constexpr int suites = 2000;
    Documents documents;
    const Documents one = many_cases(10, 4);
    for (int i = 0; i < suites; ++i) {
        documents.run.suites.push_back(one.run.suites[0]);
        documents.verdict.suites.push_back(one.verdict.suites[0]);
        documents.verdict.suites.back().baseline_file = std::string(900, '#');
    }
    const std::string text = markdown(documents);
    EXPECT_LT(text.size(), summary_limit);
    const std::size_t shown = count_of(text, "\n- many: ");
    EXPECT_GT(shown, 10U);
    EXPECT_LT(shown, std::size_t{suites});
    EXPECT_NE(text.find("\n- and " + std::to_string(suites - shown) + " more\n"), std::string::npos)
        << text.substr(text.size() - 200);
}

}  // namespace
}  // namespace perfgate::report
