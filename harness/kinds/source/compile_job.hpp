// SPDX-License-Identifier: Apache-2.0
// What the process does that compiles one source: limits itself, compiles, writes files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "model/source_kernel.hpp"

namespace perfgate::source {

/// Bytes of a .cu or .ptx, and of machine code.
inline constexpr std::size_t most_source_bytes = std::size_t{16} << 20;
inline constexpr std::size_t most_code_bytes = std::size_t{512} << 20;

struct CompileJob {
    std::filesystem::path file;  ///< absolute
    std::string architecture;    ///< "90a"
    int newest_major = 0;        ///< of NVRTC; 0: any
    std::vector<std::filesystem::path> include;
    std::vector<std::string> defines;  ///< "NAME=value"
    std::string standard;
    bool fast_math = false;
    std::vector<std::string> kernels;  ///< as C++ names them
    std::filesystem::path out;         ///< an empty folder
};

/// Files in `out`. `code` and `symbols` exist if the source compiled; `symbols` has a line for each
/// kernel; `messages` are the compiler's, at most most_message_bytes.
inline constexpr const char* code_file = "code.cubin";
inline constexpr const char* symbols_file = "symbols";
inline constexpr const char* messages_file = "messages";
inline constexpr const char* compiler_file = "compiler";  ///< "NVRTC 13.0"
inline constexpr std::size_t most_message_bytes = std::size_t{16} << 10;

/// Exit codes of the process.
inline constexpr int job_compiled = 0;
inline constexpr int job_refused = 10;    ///< the source has errors: see `messages`
inline constexpr int job_no_nvrtc = 11;   ///< `messages` says why
inline constexpr int job_failed = 13;     ///< the source cannot be read, or NVRTC failed: likewise
inline constexpr int job_no_memory = 12;  ///< the limit was reached

/// What the compiler may take in memory.
inline constexpr std::size_t most_compiler_bytes = std::size_t{6} << 30;

/// Limits this process, which should do nothing else, and compiles. Returns its exit code. Throws
/// util::Error if files cannot be written.
int carry_out(const CompileJob& job);

}  // namespace perfgate::source
