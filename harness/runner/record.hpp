// SPDX-License-Identifier: Apache-2.0
// Carries out `profile`: runs a program under the injection library, or reads stored recordings,
// and analyses them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "activity/analysis.hpp"
#include "activity/recording.hpp"
#include "activity/timeline.hpp"
#include "inject/settings.hpp"

namespace perfgate::runner {

struct ProfileRequest {
    std::vector<std::string> words;  ///< the program and its arguments
    std::string recording;           ///< stored recordings, a file or folder; then no program runs
    std::string out;            ///< new folder that keeps the recordings; empty: they are deleted
    std::string suite;          ///< new file for suite_draft(); empty: no suite is written
    inject::Settings settings;  ///< the folder is chosen here
    double time_limit_s = 0;    ///< 0: none
    activity::ProfileOptions analysis;
    /// Called about once a second while the program runs, with the size of the recordings so far.
    std::function<void(double elapsed_s, std::uint64_t bytes)> progress;
};

/// The processes of the program, in the order of their files, without those of which the request's
/// capture range leaves nothing: if it is so of all, that is a problem. The timelines refer to the
/// recordings.
struct ProfiledProgram {
    std::vector<activity::Recording> recordings;
    std::vector<activity::Timeline> timelines;
    std::vector<activity::Profile> profiles;
    std::vector<std::string> problems;  ///< of running and recording it, one line each
    std::vector<std::string> notes;     ///< processes that are left out, one line each
    int exit_code = 0;  ///< 3: the program failed or a recording is not complete; 130: interrupted
};

/// Throws InputError if the request is contradictory, if a recording cannot be read, or if another
/// profiler or MPS is in use; Error without the injection library.
ProfiledProgram profile_program(const ProfileRequest& request);

/// The file of the program's suite in this folder. Throws util::InputError if the suite that is
/// there is another command's, or cannot be read.
std::string suite_file_of(const std::vector<std::string>& words, const std::string& folder);

/// YAML for `request.suite`: see command/draft.hpp, which also says what it throws.
std::string suite_draft(const ProfileRequest& request, const ProfiledProgram& program);

}  // namespace perfgate::runner
