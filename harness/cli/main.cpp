// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "measure/workers.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

#ifndef PERFGATE_VERSION
#error "PERFGATE_VERSION is defined by the build"
#endif

namespace {

/// A message may have several lines, one per problem; each line is made printable separately.
int report_error(std::string_view message, int exit_code) {
    while (!message.empty()) {
        const std::size_t end = std::min(message.find('\n'), message.size());
        const std::string line = perfgate::util::printable(message.substr(0, end), 2000);
        std::fprintf(stderr, "perfgate: %s\n", line.c_str());
        message.remove_prefix(std::min(end + 1, message.size()));
    }
    return exit_code;
}

/// If standard descriptors are closed, the next opened files would get their numbers, and output
/// would go there. They are opened for reading, so that printing to them still fails.
void occupy_standard_descriptors() {
    int fd = 0;
    do {
        fd = ::open("/dev/null", O_RDONLY);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace perfgate;
    occupy_standard_descriptors();
    // If a reader ends (`perfgate list | head`), writing fails; the process does not die.
    std::signal(SIGPIPE, SIG_IGN);
    // The same for a file that exceeds the process's size limit.
    std::signal(SIGXFSZ, SIG_IGN);

    CLI::App app{
        "perfgate gates the performance of CUDA kernels, GPU programs and benchmarks: it measures "
        "what a YAML suite lists, compares with stored baselines, and fails with a reason."};
    app.name("perfgate");
    app.set_version_flag("--version", "perfgate " PERFGATE_VERSION);
    cli::format_help(app);
    app.footer(
        "'perfgate help COMMAND' describes a command. Exit codes: 0 pass; 1 regressed, incorrect, "
        "missing; 2 usage or invalid input; 3 could not measure; 4 inconclusive or no baseline, "
        "where the policy says so; 130 interrupted.");

    cli::Body chosen;
    cli::add_verbs(app, cli::verbs, chosen);

    cli::refuse_empty_values(app);

    if (argc < 2) {
        return report_error(
            "a command is required: 'perfgate demo' shows what perfgate reports, 'perfgate --help' "
            "lists the commands",
            2);
    }
    const std::vector<std::string> words = cli::words_of(argc, argv);
    try {
        app.parse(cli::reversed(words));
        return chosen ? chosen() : 2;
    } catch (const CLI::ParseError& error) {
        // CLI11 would say that something else is missing, or answer --help of a verb there is not.
        const std::string unknown = cli::unknown_word(app, words);
        if (!unknown.empty()) report_error(unknown, 2);
        // CLI11 prints help and version with exit 0; everything else is a usage error.
        const bool succeeded = error.get_exit_code() == 0;
        if (unknown.empty() && succeeded) app.exit(error);
        if (unknown.empty() && !succeeded) report_error(cli::usage_message(app, error), 2);
        if (succeeded) return unknown.empty() ? 0 : 2;
        for (const CLI::App* verb : app.get_subcommands()) cli::clear_outputs(*verb);
        return cli::usage_code(words);
    } catch (const measure::Interrupted& error) {
        return report_error(error.what(), 130);
    } catch (const util::InputError& error) {
        return report_error(error.what(), 2);
    } catch (const std::exception& error) {
        return report_error(error.what(), 3);
    }
}
