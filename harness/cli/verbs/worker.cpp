// SPDX-License-Identifier: Apache-2.0
// The hidden verb that coordinators start: a guard and its child, which loads one backend and the
// plugins, reads requests from stdin and replies on file descriptor 3. The guard never runs code of
// plugins and ends the processes that they leave behind.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "kinds/source/compile_job.hpp"
#include "measure/process_tree.hpp"
#include "measure/worker_process.hpp"
#include "runner/installation.hpp"
#include "util/error.hpp"
#include "util/text.hpp"
#include "worker/serving.hpp"

namespace perfgate::cli {

namespace {

struct Interpreter {
    std::string file;                    ///< absolute path; empty: this process serves
    std::vector<std::string> variables;  ///< "NAME=VALUE", of the interpreter
};

void set_variables(const std::vector<std::string>& variables) {
    for (const std::string& variable : variables) {
        const std::size_t end = variable.find('=');
        if (end == std::string::npos || end == 0) {
            throw util::InputError("worker: --env takes NAME=VALUE");
        }
        setenv(variable.substr(0, end).c_str(), variable.c_str() + end + 1, 1);
    }
}

/// The worker in the interpreter takes the place of this process.
[[noreturn]] void serve_in(const Interpreter& interpreter, const std::vector<std::string>& words) {
    set_variables(interpreter.variables);
    std::vector<std::string> command = {interpreter.file, runner::python_worker().string(),
                                        runner::worker_library().string(), "--cuda-backend",
                                        runner::cuda_backend_module().string()};
    command.insert(command.end(), words.begin(), words.end());
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    fmt::print(stderr, "perfgate: {}: {}\n", util::printable(interpreter.file),
               std::strerror(errno));
    _exit(127);
}

}  // namespace

Body add_worker(CLI::App& verb) {
    const auto interpreter = std::make_shared<Interpreter>();
    verb.add_option("--interpreter", interpreter->file);
    verb.add_option("--env", interpreter->variables)->allow_extra_args(false);
    verb.allow_extras();  // as worker::read_options takes them
    return [interpreter, &verb] {
        const std::vector<std::string> words = verb.remaining();
        measure::guard(measure::reply_fd);
        if (!interpreter->file.empty()) serve_in(*interpreter, words);
        worker::Options options = worker::read_options(words);
        options.cuda_backend = runner::cuda_backend_module();
        return worker::serve(std::move(options));
    };
}

// The hidden verb that compiles one source: started by source/compiler.hpp, because the compiler
// reads untrusted input and needs a process with limits of its own.

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
