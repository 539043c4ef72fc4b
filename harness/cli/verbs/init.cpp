// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "runner/new_project.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {
namespace {

int write_project(const std::string& folder, const std::string& from) {
    const std::vector<runner::ProjectKind>& kinds = runner::project_kinds();
    const auto kind =
        std::ranges::find_if(kinds, [&](const auto& each) { return each.name == from; });
    const runner::NewProject project = runner::start_project(*kind, folder);
    std::string text;
    for (const auto& file : project.files) {
        text +=
            fmt::format("wrote {}\n", util::printable((folder / file).lexically_normal().string()));
    }
    if (!project.to_ignore.empty()) {
        text += fmt::format("add {} to .gitignore: the results of runs\n", project.to_ignore);
    }
    text += "\nNext:\n";
    if (folder != ".") {
        text += fmt::format("  cd {}\n", util::printable(util::shell_word(folder)));
    }
    for (const std::string& command : project.commands) text += fmt::format("  {}\n", command);
    if (!project.instead.empty()) {
        text += fmt::format("\nWithout CMake, in place of the first:\n  {}\n", project.instead);
    }
    text += fmt::format("\nTo gate pull requests, in the root of its git repository:\n  {}\n",
                        project.adopt);
    util::write_file_atomically("-", text);
    return 0;
}

}  // namespace

Body add_init(CLI::App& verb) {
    struct Options {
        std::string folder = ".";
        std::string from;
    };
    const auto options = std::make_shared<Options>();
    std::vector<std::string> names;
    std::string kinds = "Kinds:";
    for (const runner::ProjectKind& kind : runner::project_kinds()) {
        names.emplace_back(kind.name);
        kinds += fmt::format("\n  {:<16} {}", kind.name, kind.what);
    }
    options->from = names.front();
    verb.add_option("DIR", options->folder, "Where; made if it is absent")
        ->type_name("DIR")
        ->capture_default_str();
    verb.add_option("--from", options->from, "The kind of project")
        ->check(one_of(names))
        ->capture_default_str();
    verb.footer(kinds + "\nOverwrites nothing, and prints the next commands.");
    return [options] { return write_project(options->folder, options->from); };
}

}  // namespace perfgate::cli
