// SPDX-License-Identifier: Apache-2.0
// The machine code of a program's kernels, and samples of their program counters: two further
// processes of the program at level `code` (inject/code_sampler.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "activity/recording.hpp"
#include "kinds/command/command.hpp"
#include "kinds/kind.hpp"
#include "model/kernel_code.hpp"
#include "model/run.hpp"

namespace perfgate::command {

/// As measure::Programs::machine_code. Of each case the kernels with the most time, 16 at most.
/// Samples are of all launches of a kernel, also those outside of the case's ranges.
std::vector<model::CaseCode> code_of_program(
    const kinds::Machine& machine, const Command& command,
    const std::vector<model::CaseResult>& results,
    const std::function<void(std::string_view phase)>& observe);

/// A module that a process loaded, as an image (elf/elf_image.hpp).
using Modules = std::vector<std::string>;

/// The files beside the recordings, each content once.
struct KeptModules {
    Modules modules;
    std::size_t left_out = 0;  ///< for their size or number
};
KeptModules modules_in(const std::filesystem::path& folder, std::uintmax_t most_bytes);

/// The code of a case's kernels, found in the modules by their fingerprints, with the samples that
/// the processes recorded. `list`: program::disassemble.
model::CaseCode code_of(const model::CaseResult& result, const Modules& modules,
                        const std::vector<std::vector<activity::Recording>>& processes,
                        const std::function<std::string(const std::string& module)>& list);

}  // namespace perfgate::command
