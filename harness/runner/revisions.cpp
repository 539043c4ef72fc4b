// SPDX-License-Identifier: Apache-2.0
#include "runner/revisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

#include "measure/workers.hpp"
#include "program/program.hpp"
#include "runner/git.hpp"
#include "runner/interruption.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

namespace fs = std::filesystem;

fs::path suite_folder(const std::string& suite) {
    return fs::absolute(suite).lexically_normal().parent_path();
}

/// The folder that `below` is in; empty if the path does not end with it.
fs::path without_end(fs::path folder, const fs::path& below) {
    if (below == ".") return folder;
    for (auto part = below.end(); part != below.begin();) {
        if (folder.filename() != *--part) return {};
        folder = folder.parent_path();
    }
    return folder;
}

/// The first line of what git said.
std::string first_line(const std::string& text) {
    return util::printable(text.substr(0, text.find('\n')));
}

/// What a user can fetch by: nothing that a shell or git reads in another way.
bool is_plain_name(std::string_view revision) {
    return !revision.empty() && revision.front() != '-' &&
           std::ranges::all_of(revision, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '/' || c == '-';
           });
}

std::string no_such_revision(const fs::path& top, const std::string& named,
                             const std::string& revision) {
    const std::string what =
        fmt::format("{}: the repository has no such revision", util::printable(named));
    if (!git_is_shallow(top)) return what + ": correct its name, or fetch it (git fetch)";
    std::string_view name = revision;
    if (name.starts_with("origin/")) name.remove_prefix(7);
    return fmt::format(
        "{}, and the clone is shallow: check the name, then fetch it with 'git fetch --depth=1 "
        "origin {}' and name FETCH_HEAD, or fetch everything with 'git fetch --unshallow'",
        what, is_plain_name(name) ? name : "BRANCH");
}

/// After this time a build is taken to hang.
constexpr std::chrono::hours longest_build{1};

}  // namespace

void build_checkout(const std::string& command, const std::string& folder,
                    const std::string& named) {
    if (command.empty()) return;
    const util::TemporaryFolder output("perfgate-build");
    program::Program build;
    build.words = {"/bin/sh", "-c", command};
    build.folder = folder;
    build.time_limit = longest_build;
    build.output_file = (output.path() / "output").string();
    build.error_file = (output.path() / "errors").string();
    const program::End end = program::run(build, [] { return interrupted(); });
    if (interrupted()) throw measure::Interrupted();
    if (end.outcome == program::Outcome::exited && end.status == 0) return;
    const std::string why = end.last_errors.empty() ? "" : ": " + end.last_errors;
    throw BuildFailed(util::printable(
        fmt::format("{}: the build ('{}') {}{}", named, command, describe(end, build), why), 1000));
}

Revisions::Revisions(const std::vector<std::string>& suites, std::string build)
    : build_(std::move(build)), temporary_("perfgate-ab") {
    for (const std::string& suite : suites) {
        const fs::path folder = suite_folder(suite);
        const GitPlace place = git_place(folder);
        if (!place.problem.empty()) {
            throw util::InputError(
                "{} is in no git repository that can be used ({}): name two checkouts "
                "with --base dir:DIR and --head dir:DIR",
                util::printable(suite), first_line(place.problem));
        }
        if (!git_top_.empty() && place.top != git_top_) {
            throw util::InputError(
                "{} is in another repository than {}: compare them one after the other",
                util::printable(suite), util::printable(suites.front()));
        }
        git_top_ = place.top;
        std::error_code error;
        const fs::path below = fs::canonical(folder, error).lexically_relative(git_top_);
        const fs::path top = without_end(folder, below);
        const bool found = !error && !top.empty() && fs::equivalent(top, git_top_, error) && !error;
        if (!found || (!top_.empty() && top != top_)) {
            throw util::InputError(
                "{}: a symbolic link leads to its folder: name it as {}", util::printable(suite),
                util::printable(
                    (git_top_ / below / fs::path(suite).filename()).lexically_normal().string()));
        }
        top_ = top;
        folders_.push_back(below);
    }
}

Revisions::~Revisions() {
    for (const fs::path& worktree : worktrees_) {
        const std::string problem = git_remove_worktree(top_, worktree);
        if (problem.empty()) continue;
        fmt::print(stderr,
                   "perfgate: warning: git did not remove a worktree ({}): 'git worktree prune' in "
                   "{} forgets it\n",
                   first_line(problem), util::printable(top_.string()));
    }
}

std::string Revisions::commit_of(const std::string& named, const std::string& revision) const {
    std::string commit = git_commit(top_, revision);
    if (commit.empty()) throw util::InputError(no_such_revision(top_, named, revision));
    return commit;
}

Checkout Revisions::check_out(const std::string& named, const std::string& revision) {
    const std::string commit = commit_of(named, revision);
    // The name by which git lists it.
    const fs::path path =
        temporary_.path() /
        fmt::format("{}-{}", temporary_.path().filename().string(), worktrees_.size() + 1);
    worktrees_.push_back(path);
    const std::string problem = git_add_worktree(top_, path, commit);
    if (!problem.empty()) worktrees_.pop_back();
    if (interrupted()) throw measure::Interrupted();
    if (!problem.empty()) {
        throw util::InputError("{}: git did not check it out: {}", util::printable(named),
                               first_line(problem));
    }
    // A revision from before a suite has none of its programs and sources.
    for (const fs::path& folder : folders_) {
        std::error_code exists;
        fs::create_directories(path / folder, exists);
    }
    build_checkout(build_, path.string(), named);
    return {path.string(), top_.string()};
}

Checkout Revisions::working_tree() const {
    return {top_.string(), top_.string()};
}

}  // namespace perfgate::runner
