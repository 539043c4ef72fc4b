// SPDX-License-Identifier: Apache-2.0
#include "runner/record.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "command/recorder.hpp"
#include "program/program.hpp"
#include "runner/installation.hpp"
#include "runner/interruption.hpp"

namespace perfgate::runner {

std::optional<std::string> record_program(const std::vector<std::string>& words,
                                          const inject::Settings& settings, double time_limit_s) {
    const std::filesystem::path library = injection_library();
    command::require_recorder(library);
    program::Program program;
    program.words = words;
    program.environment = environment_for(settings, library.native());
    if (time_limit_s > 0) {
        program.time_limit = std::chrono::duration<double>(time_limit_s);
    }
    catch_interruptions();
    const program::End end = program::run(program, interrupted);
    if (end.outcome != program::Outcome::exited || end.status != 0) {
        return fmt::format("the program {}", program::describe(end, program));
    }
    if (end.survivors != 0) {
        return fmt::format("{} processes of the program were still running after it and were ended",
                           end.survivors);
    }
    return std::nullopt;
}

}  // namespace perfgate::runner
