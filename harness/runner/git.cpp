// SPDX-License-Identifier: Apache-2.0
#include "runner/git.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <vector>

namespace perfgate::runner {

namespace {

/// What git prints, without the last newline; empty where it fails or there is none.
std::string git_output(std::vector<std::string> words) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return "";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    words.insert(words.begin(), "git");
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int failed = posix_spawnp(&pid, "git", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text;
    std::array<char, 256> buffer;
    for (ssize_t count = 0; !failed && (count = read(ends[0], buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), static_cast<std::size_t>(count));
    close(ends[0]);
    if (failed) return "";
    int status = 0;
    waitpid(pid, &status, 0);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

}  // namespace

std::string git_revision(const std::filesystem::path& folder) {
    return git_output(
        {"-C", folder.string(), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"});
}

std::string git_user_name() {
    return git_output({"config", "user.name"});
}

}  // namespace perfgate::runner
