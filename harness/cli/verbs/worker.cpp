// SPDX-License-Identifier: Apache-2.0
// The hidden verb that coordinators start: a guard that starts itself again with --serve. That
// process loads one backend and the plugins, reads requests from stdin and replies on file
// descriptor 3. The guard never runs code of plugins and ends the processes that they leave behind.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "measure/process_tree.hpp"
#include "measure/worker_process.hpp"
#include "runner/installation.hpp"
#include "util/error.hpp"
#include "worker/serving.hpp"

namespace perfgate::cli {
namespace {

struct Serving {
    std::string interpreter;             ///< absolute path; empty: this binary serves
    std::vector<std::string> variables;  ///< "NAME=VALUE", of the process that serves
    bool serve = false;
};

/// What serves: this binary, or the interpreter with the worker in it.
std::vector<std::string> serving_command(const Serving& options,
                                         const std::vector<std::string>& words) {
    std::vector<std::string> command = {runner::own_binary().string(), "worker", "--serve"};
    if (!options.interpreter.empty()) {
        command = {options.interpreter, runner::python_worker().string(),
                   runner::worker_library().string()};
    }
    command.insert(command.end(), {"--cuda-backend", runner::cuda_backend_module().string()});
    command.insert(command.end(), words.begin(), words.end());
    return command;
}

void set_variables(const std::vector<std::string>& variables) {
    for (const std::string& variable : variables) {
        const std::size_t end = variable.find('=');
        if (end == std::string::npos || end == 0) {
            throw util::InputError("worker: --env takes NAME=VALUE");
        }
        setenv(variable.substr(0, end).c_str(), variable.c_str() + end + 1, 1);
    }
}

}  // namespace

Body add_worker(CLI::App& verb) {
    const auto options = std::make_shared<Serving>();
    verb.add_option("--interpreter", options->interpreter);
    verb.add_option("--env", options->variables)->allow_extra_args(false);
    verb.add_flag("--serve", options->serve);
    verb.allow_extras();  // as worker::read_options takes them
    return [options, &verb] {
        const std::vector<std::string> words = verb.remaining();
        if (!options->serve) {
            set_variables(options->variables);
            measure::guard(serving_command(*options, words), measure::reply_fd);
        }
        return worker::serve(worker::read_options(words));
    };
}

}  // namespace perfgate::cli
