// SPDX-License-Identifier: Apache-2.0
#include "runner/record.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <system_error>

#include "command/other_tools.hpp"
#include "model/error.hpp"
#include "model/text.hpp"
#include "program/program.hpp"
#include "runner/installation.hpp"
#include "runner/interruption.hpp"

namespace perfgate::runner {

namespace fs = std::filesystem;

RecordingFolder::RecordingFolder(const std::string& named) {
    if (named.empty()) {
        std::string name = (fs::temp_directory_path() / "perfgate-profile-XXXXXX").native();
        if (mkdtemp(name.data()) == nullptr) {
            throw model::Error(fmt::format("cannot create a folder in {}",
                                           model::printable(fs::temp_directory_path().native())));
        }
        path_ = name;
        temporary_ = true;
        return;
    }
    path_ = fs::absolute(named);
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) {
        throw model::Error(
            fmt::format("cannot create {}: {}", model::printable(named), error.message()));
    }
    if (!fs::is_empty(path_, error)) {
        throw model::InputError(
            fmt::format("{} is not empty: it would mix recordings of two runs; name a new folder",
                        model::printable(named)));
    }
}

RecordingFolder::~RecordingFolder() {
    std::error_code ignored;
    if (temporary_) fs::remove_all(path_, ignored);
}

std::optional<std::string> record_program(const std::vector<std::string>& words,
                                          const inject::Settings& settings, double time_limit_s) {
    command::refuse_other_tools();
    const fs::path library = injection_library();
    if (!fs::exists(library)) {
        throw model::Error(
            fmt::format("{} is missing: this perfgate was built without CUDA's headers",
                        model::printable(library.native())));
    }
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
