// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "runner/adoption.hpp"
#include "runner/pipelines.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {
namespace {

constexpr std::size_t longest_step = 4096;

int write_pipelines(const runner::AdoptionChoice& choice) {
    const runner::Adoption adoption = runner::adopt(choice);
    std::string text;
    for (const std::string& file : adoption.files) {
        text += fmt::format("wrote {}\n", util::printable(file));
    }
    if (!adoption.replaced.empty()) {
        text += fmt::format("replaced other content of {}: git diff shows it\n",
                            fmt::join(adoption.replaced, ", "));
    }
    text += fmt::format("{}\n\n{} left:\n", adoption.found,
                        util::counted(adoption.steps.size(), "step"));
    std::size_t number = 0;
    for (const std::string& step : adoption.steps) {
        text += fmt::format("  {}. {}\n", ++number, util::printable(step, longest_step));
    }
    for (const std::string& warning : adoption.warnings) {
        fmt::print(stderr, "perfgate: warning: {}\n", warning);
    }
    util::write_file_atomically("-", text);
    return 0;
}

}  // namespace

Body add_adopt(CLI::App& verb) {
    const auto choice = std::make_shared<runner::AdoptionChoice>();
    const std::vector<std::string> all_ci = runner::known_ci();
    choice->ci = all_ci.front();
    verb.add_option("SUITE", choice->suites, "The suites to be measured (files or patterns)")
        ->type_name("PATH")
        ->capture_default_str();
    verb.add_option("--config", choice->config,
                    "The config to measure with (default: configs/ci.yaml, which is written if it "
                    "is absent)")
        ->type_name("FILE");
    // It need not be there: a job builds it.
    add_repeatable(verb, "--plugin", choice->plugins,
                   "A plugin with workloads that the suites name", "FILE");
    verb.add_option("--build", choice->build,
                    "What builds plugins, programs and benchmarks, in a line of shell (default: "
                    "CMake's commands if there is a CMakeLists.txt and they need a build)")
        ->type_name("COMMAND");
    verb.add_option("--ci", choice->ci, "Which CI")->check(one_of(all_ci))->capture_default_str();
    add_repeatable(verb, "--runner", choice->runners,
                   "Label of the machines that measure (default: gpu, or quiet if no case needs a "
                   "GPU); repeated, each measures",
                   "LABEL");
    verb.add_option("--other-runner", choice->other_runner,
                    "Label of other machines, for the jobs that do not measure: with git, curl, "
                    "Python and, for GitHub, gh (default: ubuntu-latest on GitHub; on GitLab any "
                    "runner comments, and the first --runner reviews)")
        ->type_name("LABEL");
    CLI::Option* const from =
        verb.add_option(
                "--from", choice->from,
                "Repository and commit of the release and its actions, as OWNER/perfgate@SHA "
                "(default: this release's)")
            ->type_name("REPOSITORY");
    CLI::Option* const archive =
        verb.add_option("--archive", choice->archive,
                        "The release's .tar.gz, where it is published nowhere: the pipelines have "
                        "its checksum")
            ->type_name("FILE")
            ->excludes(from);
    verb.add_option("--archive-at", choice->archive_place,
                    "Where jobs find it: an address, or a file of the machines (for github, of "
                    "the repository; default: a release of the repository, GitLab's package "
                    "registry, or /opt)")
        ->type_name("PLACE")
        ->needs(archive);
    verb.footer(
        "Run it in the root of the repository. Checks the suites and the config without executing "
        "anything of them, writes the CI pipelines, and lists what is left to do. Files that it "
        "has not written are not replaced. Exit code: 0 written, else 2.");
    return [choice] { return write_pipelines(*choice); };
}

}  // namespace perfgate::cli
