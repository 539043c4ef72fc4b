// SPDX-License-Identifier: Apache-2.0
#include "runner/reports.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "unit/temporary_folder.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;

class RunnersReports : public testing::Test {
  protected:
    std::string write(const std::string& name, const std::string& text = "old") const {
        const fs::path file = folder_ / name;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
        return file.string();
    }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    static std::string refusal(const OutputOptions& options) {
        try {
            check_outputs(options);
        } catch (const util::InputError& error) {
            return error.what();
        }
        return "";
    }
    static OutputOptions csv(const std::string& file) {
        OutputOptions options;
        options.files = {{"csv", file}};
        return options;
    }

    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
};

TEST_F(RunnersReports, ClearWhatAnEarlierCallLeft) {
    OutputOptions options = csv(write("r.csv"));
    options.out = folder_ / "out";
    options.files["markdown"] = "";
    write("out/run.json");
    options.runs = {"run.json"};
    write("out/verdict.json");
    write("out/junit.xml");
    write("out/other.json");
    clear_outputs(options);
    for (const char* gone : {"r.csv", "out/run.json", "out/verdict.json", "out/junit.xml"}) {
        EXPECT_FALSE(fs::exists(path(gone))) << gone;
    }
    EXPECT_TRUE(fs::exists(path("out/other.json")));
}

TEST_F(RunnersReports, LeaveInputsBaselinesAndLinksInPlace) {
    OutputOptions options = csv(write("input.csv"));
    options.inputs = {"none", path("input.csv")};
    clear_outputs(options);
    EXPECT_TRUE(fs::exists(path("input.csv")));
    EXPECT_NE(refusal(options).find("input.csv"), std::string::npos);

    const std::string baseline = write("b.json", R"({"schema": "perfgate.baseline"})");
    clear_outputs(csv(baseline));
    EXPECT_TRUE(fs::exists(baseline));
    EXPECT_NE(refusal(csv(baseline)).find("b.json"), std::string::npos);

    write("target");
    fs::create_symlink("target", path("link"));
    EXPECT_EQ(refusal(csv(path("link"))), "");
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_EQ(fs::file_size(path("target")), 0U) << "what a link names is emptied";
}

TEST_F(RunnersReports, AreRefusedWhereTheyCannotBeWritten) {
    EXPECT_EQ(refusal(csv(path("r.csv"))), "");
    EXPECT_EQ(refusal(csv(path("new/folder/r.csv"))), "");
    EXPECT_FALSE(fs::exists(path("new"))) << "folders are made with the report";
    EXPECT_TRUE(fs::is_empty(folder_)) << "and trying leaves nothing";
    EXPECT_EQ(refusal(csv("/dev/null")), "");
    EXPECT_EQ(refusal(csv("perfgate-no-such-report.csv")), "");
    EXPECT_NE(refusal(csv(folder_)).find("folder"), std::string::npos);
    write("file");
    const std::string below = refusal(csv(path("file/r.csv")));
    EXPECT_NE(below.find(path("file/r.csv")), std::string::npos) << below;
    EXPECT_NE(below.find(path("file") + ": "), std::string::npos) << below;
    const std::string unwritable = refusal(csv("/proc/perfgate/r.csv"));
    EXPECT_NE(unwritable.find("/proc: "), std::string::npos) << unwritable;
}

TEST_F(RunnersReports, OneOfThemMayHaveStandardOutput) {
    OutputOptions options = csv("-");
    EXPECT_EQ(refusal(options), "");
    options.files["markdown"] = path("r.md");
    EXPECT_EQ(refusal(options), "");
    options.files["markdown"] = "-";
    const std::string both = refusal(options);
    EXPECT_NE(both.find("csv:-"), std::string::npos) << both;
    EXPECT_NE(both.find("markdown:-"), std::string::npos) << both;
}

TEST_F(RunnersReports, TheAddressOfAReportIsOne) {
    OutputOptions options;
    EXPECT_EQ(refusal(options), "");
    options.report_url = "https://ci.example.org/1";
    EXPECT_EQ(refusal(options), "");
    options.report_url = "javascript:alert(1)";
    EXPECT_NE(refusal(options).find("javascript:alert(1)"), std::string::npos);
}

/// What people get on each stream, and how.
struct Printed {
    explicit Printed(const OutputOptions& options) {
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        print_for_people(options, [this](const report::Options& given) {
            how = given;
            return "table\n";
        });
        out = testing::internal::GetCapturedStdout();
        error = testing::internal::GetCapturedStderr();
    }
    std::string out, error;
    report::Options how;
};

TEST_F(RunnersReports, TheTableGivesWayToAReportOnStandardOutput) {
    const Printed usual(csv(path("r.csv")));
    EXPECT_EQ(usual.out, "table\n");
    EXPECT_EQ(usual.error, "");
    const Printed other(csv("-"));
    EXPECT_EQ(other.out, "");
    EXPECT_EQ(other.error, "table\n");
}

TEST_F(RunnersReports, WhereNobodyWatchesLinesHaveNoWidthAndNoColourUnasked) {
    OutputOptions options;
    EXPECT_EQ(Printed(options).how.width, 0U);
    EXPECT_FALSE(Printed(options).how.color);
    EXPECT_FALSE(Printed(options).how.list_all);
    options.color = "always";
    options.verbose = true;
    EXPECT_TRUE(Printed(options).how.color);
    EXPECT_TRUE(Printed(options).how.list_all);
    options.color = "never";
    EXPECT_FALSE(Printed(options).how.color);
}

TEST_F(RunnersReports, OnATerminalLinesHaveItsWidthAndAreColoured) {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) {
        GTEST_SKIP() << "no pseudo-terminals here";
    }
    const int side = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
    winsize size{};
    size.ws_col = 123;
    ASSERT_EQ(::ioctl(side, TIOCSWINSZ, &size), 0);
    std::fflush(stdout);
    const int saved = ::dup(STDOUT_FILENO);
    ::dup2(side, STDOUT_FILENO);
    std::vector<report::Options> given;
    const auto print = [&](const OutputOptions& options) {
        print_for_people(options, [&](const report::Options& how) {
            given.push_back(how);
            return "";
        });
    };
    std::map<std::string, std::string> before;
    for (const char* name : {"NO_COLOR", "CI"}) {
        if (const char* value = ::getenv(name)) before[name] = value;
        ::unsetenv(name);
    }
    OutputOptions options;
    print(options);
    for (const char* name : {"NO_COLOR", "CI"}) {
        ::setenv(name, "1", 1);
        print(options);
        ::setenv(name, "", 1);
        print(options);
        ::unsetenv(name);
    }
    options.color = "never";
    print(options);
    for (const auto& [name, value] : before) ::setenv(name.c_str(), value.c_str(), 1);
    ::dup2(saved, STDOUT_FILENO);
    ::close(saved);
    ::close(side);
    ::close(terminal);
    std::vector<bool> coloured;
    for (const report::Options& how : given) {
        EXPECT_EQ(how.width, 123U);
        coloured.push_back(how.color);
    }
    EXPECT_EQ(coloured, (std::vector<bool>{true, false, true, false, true, false}));
}

}  // namespace
}  // namespace perfgate::runner
