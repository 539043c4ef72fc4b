// SPDX-License-Identifier: Apache-2.0
#include "runner/git.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <sstream>
#include <string_view>
#include <utility>

namespace perfgate::runner {

namespace {

/// The output of git; nothing if it fails or is not installed.
std::optional<std::string> git_bytes(std::vector<std::string> words) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
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
    std::array<char, 4096> buffer;
    for (ssize_t count = 0; !failed && (count = read(ends[0], buffer.data(), buffer.size())) > 0;) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    close(ends[0]);
    if (failed) return std::nullopt;
    int status = 0;
    waitpid(pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
    return text;
}

/// The same without the last newline; empty if there is nothing.
std::string git_output(std::vector<std::string> words) {
    std::string text = git_bytes(std::move(words)).value_or("");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

/// A line of `git ls-tree -r -l -z`: "100644 blob 3f2…  1234\tsuites/gemm.yaml".
GitFile git_file(std::string_view line) {
    const std::size_t tab = std::min(line.find('\t'), line.size());
    std::istringstream facts{std::string(line.substr(0, tab))};
    GitFile file;
    std::string kind;
    std::string size;
    facts >> file.mode >> kind >> file.object >> size;
    std::from_chars(size.data(), size.data() + size.size(), file.size_bytes);
    file.path = line.substr(std::min(tab + 1, line.size()));
    return file;
}

}  // namespace

std::string git_revision(const std::filesystem::path& folder) {
    return git_output(
        {"-C", folder.string(), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"});
}

std::optional<std::vector<GitFile>> git_files(const std::string& revision,
                                              const std::vector<std::string>& folders) {
    const std::string tree =
        git_output({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{tree}"});
    if (tree.empty()) return std::nullopt;
    // Paths are relative to the current folder, as for the files of the working tree.
    std::vector<std::string> words{
        "--no-replace-objects", "--literal-pathspecs", "ls-tree", "-r", "-l", "-z", tree, "--"};
    words.insert(words.end(), folders.begin(), folders.end());
    const std::optional<std::string> listed = git_bytes(std::move(words));
    if (!listed) return std::nullopt;
    std::vector<GitFile> files;
    for (std::string_view rest = *listed; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\0'), rest.size());
        files.push_back(git_file(rest.substr(0, end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return files;
}

std::optional<std::string> git_content(const GitFile& file) {
    return git_bytes({"--no-replace-objects", "cat-file", "blob", file.object});
}

std::string git_user_name() {
    return git_output({"config", "user.name"});
}

}  // namespace perfgate::runner
