// SPDX-License-Identifier: Apache-2.0
#include "kinds/source/compile_job.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <optional>

#include "kinds/source/nvrtc.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::source {

namespace {

/// A source that includes /dev/zero, or itself without end, must not take the machine's memory or
/// disk. The time limit is the parent's.
void limit_this_process() {
    const auto limit = [](auto resource, rlim_t value) {
        rlimit bounded{};
        if (getrlimit(resource, &bounded) != 0) return;
        bounded.rlim_cur = std::min(value, bounded.rlim_max);
        if (setrlimit(resource, &bounded) != 0) {
            throw util::Error("the compiler's process cannot be limited (setrlimit)");
        }
    };
#ifndef __SANITIZE_ADDRESS__  // which reserves terabytes of addresses
    limit(RLIMIT_AS, most_compiler_bytes);
#endif
    limit(RLIMIT_FSIZE, most_code_bytes);
    limit(RLIMIT_CORE, 0);
    // If memory runs out all the same, this process is to be ended, not the run.
    std::ofstream("/proc/self/oom_score_adj") << 1000;
}

std::vector<std::string> options_of(const CompileJob& job, const Nvrtc& nvrtc) {
    std::vector<std::string> options{"--gpu-architecture=sm_" + job.architecture,
                                     "--std=" + job.standard, "--generate-line-info"};
    if (job.fast_math) options.emplace_back("--use_fast_math");
    for (const std::string& define : job.defines) options.push_back("--define-macro=" + define);
    options.push_back("--include-path=" + job.file.parent_path().string());
    for (const auto& folder : job.include) options.push_back("--include-path=" + folder.string());
    for (const auto& folder : nvrtc.include_folders()) {
        options.push_back("--include-path=" + folder.string());
    }
    return options;
}

void write(const CompileJob& job, const char* name, std::string_view content) {
    util::write_file_atomically(job.out / name, content);
}

}  // namespace

int carry_out(const CompileJob& job) {
    limit_this_process();
    const auto end = [&](int code, std::string_view messages) {
        write(job, messages_file, messages.substr(0, most_message_bytes));
        return code;
    };
    try {
        std::optional<Nvrtc> nvrtc;
        try {
            nvrtc.emplace(job.newest_major);
        } catch (const util::Error& error) {
            return end(job_no_nvrtc, error.what());
        }
        const NvrtcVersion version = nvrtc->version();
        write(job, compiler_file, fmt::format("NVRTC {}.{}", version.major, version.minor));
        NvrtcOutcome outcome;
        try {
            const std::string text = util::read_file(job.file, most_source_bytes, "source");
            if (text.find('\0') != std::string::npos) {
                return end(job_failed, "a zero byte in the source; expected text");
            }
            outcome = nvrtc->compile(text, job.file.string(), options_of(job, *nvrtc), job.kernels);
        } catch (const util::Error& error) {
            return end(job_failed, error.what());
        }
        if (!outcome.compiled) return end(job_refused, outcome.log);
        std::string symbols;
        for (const std::string& symbol : outcome.symbols) symbols += symbol + '\n';
        write(job, symbols_file, symbols);
        write(job, code_file, outcome.cubin);
        return end(job_compiled, outcome.log);
    } catch (const std::bad_alloc&) {
        return job_no_memory;
    }
}

}  // namespace perfgate::source
