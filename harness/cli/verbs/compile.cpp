// SPDX-License-Identifier: Apache-2.0
// The hidden verb that compiles one source: started by source/compiler.hpp, because the compiler
// reads untrusted input and needs a process with limits of its own.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/verbs/verb.hpp"
#include "kinds/source/compile_job.hpp"

namespace perfgate::cli {

Body add_compile(CLI::App& verb) {
    const auto job = std::make_shared<source::CompileJob>();
    const auto several = [&](const char* name, auto& values) {
        verb.add_option(name, values)->type_size(1)->allow_extra_args(false);
    };
    verb.add_option("FILE", job->file)->required();
    verb.add_option("--out", job->out)->required();
    verb.add_option("--architecture", job->architecture)->required();
    verb.add_option("--newest-major", job->newest_major);
    verb.add_option("--std", job->standard)->required();
    verb.add_flag("--fast-math", job->fast_math);
    several("--include", job->include);
    several("--define", job->defines);
    several("--kernel", job->kernels);
    return [job] { return carry_out(*job); };
}

}  // namespace perfgate::cli
