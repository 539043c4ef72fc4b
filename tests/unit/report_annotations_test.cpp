// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "report/formats.hpp"
#include "report_fixture.hpp"
#include "report_hostile.hpp"

namespace perfgate::report {
namespace {

/// A workflow command as GitHub's runner reads it.
struct Command {
    std::string kind;
    std::map<std::string, std::string> properties;
    std::string message;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

std::string unescaped(std::string text) {
    text = replaced(replaced(std::move(text), "%0D", "\r"), "%0A", "\n");
    text = replaced(replaced(std::move(text), "%3A", ":"), "%2C", ",");
    return replaced(std::move(text), "%25", "%");
}

std::vector<Command> commands_of(const std::string& text) {
    std::vector<Command> commands;
    std::stringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        EXPECT_TRUE(line.starts_with("::")) << line.substr(0, 200);
        const std::size_t end = line.find("::", 2);
        const std::size_t space = line.find(' ');
        if (end == std::string::npos || space > end) {
            ADD_FAILURE() << "no command with properties: " << line.substr(0, 200);
            continue;
        }
        Command command{line.substr(2, space - 2), {}, unescaped(line.substr(end + 2))};
        std::stringstream properties(line.substr(space + 1, end - space - 1));
        for (std::string property; std::getline(properties, property, ',');) {
            const std::size_t equals = property.find('=');
            EXPECT_NE(equals, std::string::npos) << property;
            command.properties[property.substr(0, equals)] = unescaped(property.substr(equals + 1));
        }
        commands.push_back(std::move(command));
    }
    return commands;
}

std::vector<Command> annotated(const Documents& documents) {
    return commands_of(write_annotations(documents.verdict, documents.run, {}));
}

std::size_t count_of(const std::vector<Command>& commands, const std::string& kind) {
    return static_cast<std::size_t>(
        std::count_if(commands.begin(), commands.end(),
                      [&](const Command& command) { return command.kind == kind; }));
}

TEST(Annotations, MarkTheLineOfTheSuiteWithItsWorstCase) {
    const std::vector<Command> commands = annotated(every_verdict());
    ASSERT_FALSE(commands.empty());
    const Command& first = commands.front();
    EXPECT_EQ(first.kind, "error");
    EXPECT_EQ(first.properties.at("file"), "suites/gemm.yaml");
    EXPECT_EQ(first.properties.at("line"), "12");
    EXPECT_EQ(first.properties.at("title"),
              "gemm/naive[dtype=f32,k=1024,m=1024,n=1024]: incorrect, and 4 more");
    EXPECT_TRUE(first.message.starts_with("verification failed: c[3,5] is 1.5, expected 1.25"))
        << first.message;
    EXPECT_NE(first.message.find("\nalso gemm/tiled[dtype=f32,k=2048,m=2048,n=2048]: regressed"),
              std::string::npos)
        << first.message;
}

TEST(Annotations, ARegressionBeginsWithWhatItDidAndWhy) {
    Documents documents = every_verdict();
    std::erase_if(documents.verdict.suites[0].cases, [](const model::CaseVerdict& verdict) {
        return verdict.verdict != model::Verdict::regressed;
    });
    EXPECT_TRUE(annotated(documents).front().message.starts_with(
        "gpu_time 400.0 µs → 444.4 µs (+11.1 %); more registers (96 → 128), so that fewer warps "
        "fit, in gemm_tiled\n"
        "gpu_time regressed: 400.0 µs → 444.4 µs (+11.1 %), tolerance 3 %\n"
        "registers regressed: 96 → 128 (+33.3 %), tolerance 0 %\n"
        "why: more registers, so that fewer warps fit"))
        << annotated(documents).front().message;
}

TEST(Annotations, MarkTheSourceOfTheChangedKernelWhereItIsKnown) {
    const Command command = annotated(regressed_by_kernel({"kernels/gemm/tiled.cu", 41})).front();
    EXPECT_EQ(command.kind, "error");
    EXPECT_EQ(command.properties.at("file"), "kernels/gemm/tiled.cu");
    EXPECT_EQ(command.properties.at("line"), "41");
    EXPECT_EQ(command.properties.at("title"),
              "gemm/tiled[dtype=f32,k=2048,m=2048,n=2048]: regressed");
    EXPECT_TRUE(command.message.ends_with("\ncase in suites/gemm.yaml:12")) << command.message;
}

TEST(Annotations, MarkTheLineThatACauseNames) {
    Documents documents = regressed_by_kernel({"kernels/gemm/tiled.cu", 41});
    model::CaseVerdict& verdict = documents.verdict.suites[0].cases[0];
    verdict.why = {{"machine_code", "machine code: LDG.E 0 → 4", {}, "LDG.E 0 → 4"},
                   {"samples", "samples: at tiled.cu:57", {}, "", {"kernels/gemm/tiled.cu", 57}}};
    EXPECT_EQ(annotated(documents).front().properties.at("line"), "57");
    verdict.why[1].place.file = "/opt/lib/tiled.cuh";
    EXPECT_EQ(annotated(documents).front().properties.at("line"), "41");
}

TEST(Annotations, ASourceOutsideTheRunsFolderIsNoUseToAReader) {
    for (const model::SourcePlace& source :
         {model::SourcePlace{"/opt/lib/tiled.cuh", 41}, model::SourcePlace{"../lib/tiled.cuh", 41},
          model::SourcePlace{"a/../../tiled.cuh", 41}, model::SourcePlace{"tiled.cu", 0},
          model::SourcePlace{"tiled.cu", -1}, model::SourcePlace{}}) {
        const Command command = annotated(regressed_by_kernel(source)).front();
        EXPECT_EQ(command.properties.at("file"), "suites/gemm.yaml") << source.file;
        EXPECT_EQ(command.properties.at("line"), "12");
        EXPECT_EQ(command.message.find("case in"), std::string::npos);
    }
}

TEST(Annotations, WithoutAChangedKernelTheSuiteIsMarked) {
    Documents documents = regressed_by_kernel({"kernels/gemm/tiled.cu", 41});
    documents.verdict.suites[0].cases[0].changed_kernels.clear();
    EXPECT_EQ(annotated(documents).front().properties.at("file"), "suites/gemm.yaml");
}

TEST(Annotations, PolicySaysWhatIsAnError) {
    Documents documents = first_run();
    EXPECT_EQ(count_of(annotated(documents), "error"), 0U);
    EXPECT_EQ(count_of(annotated(documents), "warning"), 1U);
    documents.verdict.policy.no_baseline_fails = true;
    EXPECT_EQ(count_of(annotated(documents), "error"), 1U);
    EXPECT_EQ(count_of(annotated(documents), "warning"), 0U);
}

TEST(Annotations, ANoticeCountsTheVerdicts) {
    const std::vector<Command> commands = annotated(first_run());
    EXPECT_EQ(commands.back().kind, "notice");
    EXPECT_EQ(commands.back().message,
              "3 cases have no baseline.\n3 no_baseline, 2 skipped; exit 0");
}

TEST(Annotations, AtMostTenOfAKindAndTheRestIsCounted) {
    Documents documents = many_cases(10000, 4);
    std::int64_t line = 0;
    for (model::CaseVerdict& verdict : documents.verdict.suites[0].cases) {
        verdict.place.line = ++line;
        if (verdict.verdict == model::Verdict::pass && line % 2 == 0) {
            verdict.verdict = model::Verdict::inconclusive;
        }
    }
    documents.verdict.suites[0].cases[7].verdict = model::Verdict::incorrect;
    documents.verdict.suites[0].cases[5000].verdict = model::Verdict::regressed;
    const std::vector<Command> commands = annotated(documents);
    EXPECT_EQ(count_of(commands, "error"), 10U);
    EXPECT_EQ(count_of(commands, "warning"), 10U);
    EXPECT_EQ(count_of(commands, "notice"), 1U);
    EXPECT_NE(commands[9].message.find("\n992 more places have no annotation"), std::string::npos)
        << commands[9].message;
    for (std::size_t i = 0; i < 9; ++i) {
        EXPECT_EQ(commands[i].message.find("no annotation"), std::string::npos);
    }
}

TEST(Annotations, CasesOfOneLineShareOne) {
    const std::vector<Command> commands = annotated(many_cases(10000, 4));
    EXPECT_EQ(count_of(commands, "error"), 1U);
    EXPECT_NE(commands.front().properties.at("title").find(", and 999 more"), std::string::npos);
    EXPECT_NE(commands.front().message.find("and 994 more here"), std::string::npos);
}

TEST(Annotations, AnUnknownPlaceIsLeftOut) {
    Documents documents = every_verdict();
    for (model::SuiteVerdict& suite : documents.verdict.suites) {
        suite.relations.clear();
        for (model::CaseVerdict& verdict : suite.cases) verdict.place = {"", 5};
    }
    for (const Command& command : annotated(documents)) {
        EXPECT_FALSE(command.properties.contains("file"));
        EXPECT_FALSE(command.properties.contains("line"));
    }
}

TEST(Annotations, PropertiesAndMessagesAreEscaped) {
    Documents documents = every_verdict();
    model::CaseVerdict& verdict = documents.verdict.suites[0].cases[0];
    verdict.verdict = model::Verdict::error;
    verdict.id = "a,b:c%d::e";
    verdict.place = {"x,line=1:y%.yaml", 3};
    verdict.reason = "50 % off\r\n::error file=x::forged";
    verdict.metrics.clear();
    const std::string text = write_annotations(documents.verdict, documents.run, {});
    EXPECT_NE(text.find("::error file=x%2Cline=1%3Ay%25.yaml,line=3,"
                        "title=a%2Cb%3Ac%25d%3A%3Ae%3A error::50 %25 off ::error file=x::forged\n"),
              std::string::npos)
        << text;
}

TEST(Annotations, NothingHostileIsACommand) {
    for (const std::string& text : hostile_texts()) {
        const std::vector<Command> commands = annotated(hostile(text));
        EXPECT_LE(count_of(commands, "error"), 10U);
        EXPECT_LE(count_of(commands, "warning"), 10U);
        EXPECT_EQ(count_of(commands, "error") + count_of(commands, "warning") + 1, commands.size());
        for (const Command& command : commands) {
            EXPECT_LE(command.message.size(), 4096U);
            for (const auto& [name, value] : command.properties) {
                EXPECT_TRUE(name == "file" || name == "line" || name == "title") << name;
            }
        }
    }
}

}  // namespace
}  // namespace perfgate::report
