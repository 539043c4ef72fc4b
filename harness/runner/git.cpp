// SPDX-License-Identifier: Apache-2.0
#include "runner/git.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#include "util/text.hpp"

namespace perfgate::runner {

namespace {

constexpr std::array<std::string_view, 5> repository_variables{
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"};

struct GitEnd {
    bool succeeded = false;
    std::string text;  ///< its output
};

/// How git is started.
struct GitStart {
    bool errors_too = false;  ///< they are part of the output
    /// Without the variables that name another repository or index, as hooks have them.
    bool by_folder = false;
    bool in_own_group = false;  ///< an interruption from the terminal does not reach it
};

std::vector<std::string> environment_of(const GitStart& start) {
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto is_set = [&](std::string_view name) {
            return text.starts_with(name) && text.substr(name.size()).starts_with('=');
        };
        if (start.by_folder && std::ranges::any_of(repository_variables, is_set)) {
            continue;
        }
        environment.emplace_back(text);
    }
    return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Signals that perfgate catches interrupt neither reading nor waiting.
GitEnd run_git(std::vector<std::string> words, const GitStart& start = {}) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (start.errors_too) {
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    } else {
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    if (start.in_own_group) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    words.insert(words.begin(), "git");
    std::vector<std::string> environment = environment_of(start);
    pid_t pid = 0;
    const int failed = posix_spawnp(&pid, "git", &actions, &attributes, pointers_to(words).data(),
                                    pointers_to(environment).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    GitEnd end;
    std::array<char, 4096> buffer;
    while (!failed) {
        const ssize_t count = read(ends[0], buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        end.text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    close(ends[0]);
    if (failed) return {false, "git was not found: install it"};
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    end.succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return end;
}

/// The output of git; nothing if it fails or is not installed.
std::optional<std::string> git_bytes(std::vector<std::string> words) {
    GitEnd end = run_git(std::move(words));
    if (!end.succeeded) return std::nullopt;
    return std::move(end.text);
}

/// Without the last newline.
std::string trimmed(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

/// The same without the last newline; empty if there is nothing.
std::string git_output(std::vector<std::string> words) {
    return trimmed(git_bytes(std::move(words)).value_or(""));
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

/// Of the repository that `folder` is in. Text of a success has no warnings, of a failure git's
/// errors, if they are asked for.
GitEnd git_in(const std::filesystem::path& folder, std::vector<std::string> words,
              const GitStart& start) {
    words.insert(words.begin(), {"-C", folder.string()});
    GitEnd end = run_git(std::move(words), start);
    end.text = trimmed(std::move(end.text));
    return end;
}

constexpr GitStart for_output{.by_folder = true};
constexpr GitStart for_errors{.errors_too = true, .by_folder = true};

/// What it said, if it failed.
std::string failure(const GitEnd& end) {
    if (end.succeeded) return {};
    return end.text.empty() ? "git failed" : end.text;
}

/// Empty if git has no such commit.
std::string line_of_commit(const std::filesystem::path& folder, std::string_view format,
                           const std::string& commit) {
    const GitEnd end = git_in(folder,
                              {"log", "--no-show-signature", "--no-color", "-1",
                               fmt::format("--format={}", format), commit, "--"},
                              for_output);
    return end.succeeded ? end.text : std::string();
}

}  // namespace

std::string git_revision(const std::filesystem::path& folder) {
    const GitEnd end = git_in(
        folder, {"describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"}, for_output);
    return end.succeeded ? end.text : std::string();
}

std::string pull_request_of_ci() {
    const auto variable = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    const std::string gitlab = variable("CI_MERGE_REQUEST_PROJECT_URL");
    if (!gitlab.empty()) return gitlab + "/-/merge_requests/" + variable("CI_MERGE_REQUEST_IID");
    constexpr std::string_view pulls = "refs/pull/";
    const std::string ref = variable("GITHUB_REF");
    if (!ref.starts_with(pulls)) return {};
    return fmt::format("{}/{}/pull/{}", variable("GITHUB_SERVER_URL"),
                       variable("GITHUB_REPOSITORY"),
                       ref.substr(pulls.size(), ref.find('/', pulls.size()) - pulls.size()));
}

bool git_is_clean(const std::filesystem::path& folder) {
    const GitEnd end = git_in(folder, {"--no-optional-locks", "status", "--porcelain"}, for_output);
    return end.succeeded && end.text.empty();
}

bool git_ignores(const std::filesystem::path& file) {
    return git_in(".", {"check-ignore", "--quiet", "--", file.string()}, for_output).succeeded;
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

GitPlace git_place(const std::filesystem::path& folder) {
    const std::vector<std::string> words{"rev-parse", "--show-toplevel"};
    const GitEnd end = git_in(folder, words, for_output);
    if (!end.succeeded) return {{}, failure(git_in(folder, words, for_errors))};
    return {end.text, {}};
}

std::string git_commit(const std::filesystem::path& folder, const std::string& revision) {
    const GitEnd end = git_in(
        folder, {"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"},
        for_output);
    return end.succeeded ? end.text : std::string();
}

std::optional<std::vector<GitCommit>> git_history(const std::filesystem::path& folder,
                                                  const std::string& good, const std::string& bad) {
    if (!git_in(folder, {"merge-base", "--is-ancestor", good, bad}, for_output).succeeded) {
        return std::nullopt;
    }
    const GitEnd end = git_in(
        folder,
        {"rev-list", "--first-parent", "--parents", "--reverse", fmt::format("{}..{}", good, bad)},
        for_output);
    if (!end.succeeded) return std::nullopt;
    std::vector<GitCommit> commits;
    std::istringstream lines(end.text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream names(line);
        GitCommit& commit = commits.emplace_back();
        names >> commit.name;
        for (std::string parent; names >> parent;) commit.parents.push_back(parent);
    }
    return commits;
}

std::string git_subject(const std::filesystem::path& folder, const std::string& commit) {
    return line_of_commit(folder, "%s", commit);
}

std::string git_merge_base(const std::filesystem::path& folder, const std::string& some,
                           const std::string& other) {
    const GitEnd end = git_in(folder, {"merge-base", some, other}, for_output);
    return end.succeeded ? end.text.substr(0, end.text.find('\n')) : std::string();
}

std::optional<std::int64_t> git_commit_time(const std::filesystem::path& folder,
                                            const std::string& commit) {
    if (!util::is_hex(commit, 40) && !util::is_hex(commit, 64)) return std::nullopt;
    const std::string time = line_of_commit(folder, "%ct", commit + "^{commit}");
    return util::parsed<std::int64_t>(time);
}

bool git_is_shallow(const std::filesystem::path& folder) {
    return git_in(folder, {"rev-parse", "--is-shallow-repository"}, for_output).text == "true";
}

std::string git_add_worktree(const std::filesystem::path& folder, const std::filesystem::path& path,
                             const std::string& commit) {
    return failure(git_in(folder,
                          {"-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet",
                           "--detach", path.string(), commit},
                          for_errors));
}

std::string git_remove_worktree(const std::filesystem::path& folder,
                                const std::filesystem::path& path) {
    GitStart start = for_errors;
    start.in_own_group = true;
    return failure(git_in(folder, {"worktree", "remove", "--force", path.string()}, start));
}

std::string git_user_name() {
    return git_output({"config", "user.name"});
}

}  // namespace perfgate::runner
