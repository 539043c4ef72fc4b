// SPDX-License-Identifier: Apache-2.0
#include "program/disassembly.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "program/program.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/temporary_folder.hpp"
#include "util/text.hpp"
#include "util/toolkit.hpp"

namespace perfgate::program {
namespace {

constexpr std::chrono::seconds longest_disassembly{60};
constexpr std::size_t most_listing_bytes = std::size_t{512} << 20;

/// The toolkit's, or else the one on PATH.
std::string disassembler() {
    for (const std::string& toolkit : util::toolkit_folders()) {
        std::error_code unknown;
        std::string path = toolkit + "/bin/nvdisasm";
        if (std::filesystem::is_regular_file(path, unknown)) return path;
    }
    return "nvdisasm";
}

}  // namespace

std::string disassemble(const std::string& cubin) {
    const util::TemporaryFolder folder("perfgate-disassembly");
    const auto file = [&](const char* name) { return (folder.path() / name).string(); };
    util::write_file_atomically(file("code.cubin"), cubin);
    Program program;
    program.words = {disassembler(), "-c", "-gi", file("code.cubin")};
    program.time_limit = longest_disassembly;
    program.output_file = file("listing");
    program.error_file = file("errors");
    End end;
    try {
        end = run(program, [] { return false; });
    } catch (const util::InputError&) {
        throw util::Error(
            "nvdisasm was not found: install it (Debian and Ubuntu: cuda-nvdisasm-13-0), or set "
            "CUDA_HOME or PATH");
    }
    if (end.outcome != Outcome::exited || end.status != 0) {
        throw util::Error("nvdisasm {}: {}", describe(end, program),
                          util::printable(end.last_errors, 200));
    }
    return util::read_file(file("listing"), most_listing_bytes, "listing");
}

}  // namespace perfgate::program
