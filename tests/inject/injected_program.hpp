// SPDX-License-Identifier: Apache-2.0
// The mock program with the injection library in it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "activity/recording.hpp"
#include "inject/settings.hpp"

namespace perfgate::inject {

using Words = std::vector<std::string>;

struct Ended {
    int status = 0;
    std::string output;  ///< stdout and stderr
};

class Injection : public testing::Test {
  protected:
    Injection() {
        std::string folder = testing::TempDir() + "inject-XXXXXX";
        folder_ = mkdtemp(folder.data());
        std::filesystem::create_directory(folder_ / "recordings");
        settings_.folder = folder_ / "recordings";
        settings_.level = Level::callbacks;
        settings_.flush_ms = 20;
    }
    ~Injection() override { std::filesystem::remove_all(folder_); }

    /// Starts the program; `in_child` runs before exec.
    pid_t start(const Words& words, const std::function<void()>& in_child = {}) {
        std::vector<char*> argv{const_cast<char*>(program_.c_str())};
        for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        const pid_t child = fork();
        if (child != 0) return child;
        for (const auto& [name, value] : environment_for(settings_, library_)) {
            setenv(name.c_str(), value.c_str(), 1);
        }
        setenv("LD_LIBRARY_PATH", PERFGATE_MOCK_FOLDER, 1);
        for (const auto& [name, value] : environment_) setenv(name.c_str(), value.c_str(), 1);
        const int output = open((folder_ / "output").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
        if (in_child) in_child();
        execv(argv[0], argv.data());
        _exit(127);
    }

    /// Its end, waited for.
    Ended wait(pid_t child) {
        Ended ended;
        waitpid(child, &ended.status, 0);
        std::ifstream output(folder_ / "output");
        ended.output.assign(std::istreambuf_iterator<char>(output), {});
        return ended;
    }

    /// Runs the program, which must end well and have printed nothing of ours.
    void run(const Words& words) {
        const Ended ended = wait(start(words));
        EXPECT_TRUE(WIFEXITED(ended.status)) << ended.status;
        EXPECT_EQ(0, WEXITSTATUS(ended.status));
        EXPECT_EQ("", ended.output);
    }

    [[nodiscard]] std::vector<std::filesystem::path> files() const {
        std::vector<std::filesystem::path> all;
        for (const auto& entry : std::filesystem::directory_iterator(settings_.folder)) {
            all.push_back(entry.path());
        }
        return all;
    }

    /// The one recording.
    [[nodiscard]] activity::Recording recording() const {
        const auto all = files();
        EXPECT_EQ(1u, all.size());
        return all.empty() ? activity::Recording{} : activity::read_recording(all[0]);
    }

    std::filesystem::path folder_;
    Settings settings_;
    std::string program_ = PERFGATE_MOCK_PROGRAM;
    std::string library_ = PERFGATE_INJECTION_LIBRARY;
    std::vector<std::pair<std::string, std::string>> environment_;
};

}  // namespace perfgate::inject
