// SPDX-License-Identifier: Apache-2.0
// The commands that a reader of a report needs next, ready to paste into a shell.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/verdict.hpp"
#include "report/reporter.hpp"

namespace perfgate::report {

struct Command {
    std::string_view purpose;  ///< begins with the verb: "run again", "report why", "accept"
    std::string line;          ///< printable; every word that needs it is quoted
};

/// In lines of at most `width` bytes, where words allow it: all but the last end in a backslash, so
/// that a shell reads one command.
std::string folded_command(std::string_view command, std::size_t width);

/// Without a terminal's width.
inline constexpr std::size_t usual_command_width = 100;

/// For the cases that need attention. Empty if nothing does, or if Options::run_file is not known.
/// What a shell cannot be given unchanged (control characters) is left out.
std::vector<Command> next_commands(const model::VerdictDocument& document, const Options& options);

}  // namespace perfgate::report
