// SPDX-License-Identifier: Apache-2.0
#include "runner/new_project.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "runner/installation.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;

constexpr const char* ignore_file = ".gitignore";
constexpr std::string_view result_folders = "perfgate-out*/";

/// Whether the name alone starts this program: its folder is the first on PATH that has one.
bool is_on_path(const fs::path& binary) {
    const fs::path first = util::found_on_path(binary.filename());
    std::error_code error;
    return !first.empty() && fs::equivalent(first, binary, error);
}

void replace_all(std::string& text, std::string_view what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
    }
}

/// How a shell starts this program: as it was started, by a script of a wheel, too.
std::string own_command() {
    const fs::path started(program_invocation_name);
    if (is_on_path(started)) return util::shell_word(started.filename().string());
    if (is_on_path(own_binary())) return "perfgate";
    return util::shell_word(
        (started.has_parent_path() ? fs::absolute(started) : own_binary()).string());
}

std::string filled_in(std::string_view command) {
    const fs::path binary = own_binary();
    const fs::path prefix = binary.parent_path().parent_path();
    const bool found = is_on_path(binary);
    std::string text(command);
    replace_all(text, "{perfgate}", own_command());
    // CMake finds packages in the folders that PATH's bin folders are in.
    replace_all(text, "{cmake_prefix}",
                found ? "" : " " + util::shell_word("-DCMAKE_PREFIX_PATH=" + prefix.string()));
    replace_all(text, "{include}", util::shell_word((prefix / "include/perfgate").string()));
    return text;
}

std::vector<fs::path> files_in(const fs::path& folder) {
    if (!fs::is_directory(folder)) {
        throw util::Error("the templates are not installed: {} is absent; install perfgate again",
                          folder.string());
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        // pip compiles the scripts that it installs.
        if (!entry.is_regular_file() || entry.path().parent_path().filename() == "__pycache__") {
            continue;
        }
        files.push_back(fs::relative(entry.path(), folder));
    }
    std::ranges::sort(files);
    return files;
}

}  // namespace

const std::vector<ProjectKind>& project_kinds() {
    static const std::vector<ProjectKind> kinds{
        {.name = "cuda",
         .what = "a kernel as a plugin of one file, with a host variant",
         .commands = {"cmake -B build{cmake_prefix} && cmake --build build",
                      "{perfgate} baseline refresh suites/scale.yaml",
                      "{perfgate} run suites/scale.yaml"},
         .instead = "mkdir -p build && nvcc -std=c++20 -O3 -lineinfo -arch=all-major -shared "
                    "-Xcompiler=-fPIC -I {include} -o build/scale.so scale.cu"},
        {.name = "source",
         .what = "a kernel in a source file, without a plugin or a build",
         .commands = {"{perfgate} validate suites/reduce.yaml",
                      "{perfgate} baseline refresh suites/reduce.yaml",
                      "{perfgate} run suites/reduce.yaml"}},
        {.name = "triton",
         .what = "a kernel of Triton beside PyTorch's, launched from Python",
         .commands = {"{perfgate} list suites/kernels.yaml",
                      "{perfgate} baseline refresh suites/kernels.yaml",
                      "{perfgate} run suites/kernels.yaml"}},
        {.name = "torch",
         .what = "a compiled operation of PyTorch beside its eager form",
         .commands = {"{perfgate} list suites/kernels.yaml",
                      "{perfgate} baseline refresh suites/kernels.yaml",
                      "{perfgate} run suites/kernels.yaml"}},
        {.name = "command",
         .what = "a program as it is: PyTorch, Triton, C++",
         .commands = {"{perfgate} list suites/program.yaml",
                      "{perfgate} baseline refresh suites/program.yaml",
                      "{perfgate} run suites/program.yaml"}},
        {.name = "google-benchmark",
         .what = "a program with Google Benchmark, gated by what it measures itself",
         .commands = {"cmake -B build && cmake --build build",
                      "{perfgate} baseline refresh suites/bench.yaml --backend host",
                      "{perfgate} run suites/bench.yaml --backend host"}},
        {.name = "nvbench",
         .what = "a program with NVIDIA nvbench, gated by what it measures itself",
         .commands = {"cmake -B build && cmake --build build",
                      "{perfgate} baseline refresh suites/bench.yaml",
                      "{perfgate} run suites/bench.yaml"}},
    };
    return kinds;
}

NewProject start_project(const ProjectKind& kind, const fs::path& folder) {
    const fs::path from = project_templates() / kind.name;
    NewProject project;
    project.files = files_in(from);
    std::string taken;
    const std::optional<util::Folder> there = util::Folder::find(folder);
    for (const fs::path& file : project.files) {
        const auto place = there ? there->find_below(file.parent_path()) : std::nullopt;
        if (place) util::remove_left_temporaries(place->descriptor(), file.filename());
        std::error_code error;
        if (fs::symlink_status(folder / file, error).type() == fs::file_type::not_found) continue;
        taken += (taken.empty() ? "" : ", ") + util::printable((folder / file).string());
    }
    if (!taken.empty()) {
        throw util::InputError("init overwrites nothing, and these exist: {}; name another folder",
                               taken);
    }
    const util::Folder target(folder);
    for (const fs::path& file : project.files) {
        target.below(file.parent_path())
            .write(file.filename(), util::read_file(from / file, template_limit, "template"));
    }
    std::error_code error;
    if (fs::symlink_status(folder / ignore_file, error).type() == fs::file_type::not_found) {
        target.write(ignore_file, fmt::format("{}\n/build/\n__pycache__/\n", result_folders));
        project.files.emplace_back(ignore_file);
    } else {
        project.to_ignore = result_folders;
    }
    for (const std::string_view command : kind.commands) {
        project.commands.push_back(filled_in(command));
    }
    project.instead = filled_in(kind.instead);
    project.adopt = filled_in("{perfgate} adopt");
    return project;
}

}  // namespace perfgate::runner
