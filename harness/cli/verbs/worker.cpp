// SPDX-License-Identifier: Apache-2.0
// The hidden verb that coordinators start: a guard that starts itself again with --serve. That
// process loads one backend and the plugins, reads requests from stdin and replies on file
// descriptor 3. The guard never runs code of plugins and ends the processes that they leave behind.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <utility>

#include "backend/host/host_backend.hpp"
#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "measure/process_tree.hpp"
#include "measure/worker.hpp"
#include "measure/worker_process.hpp"
#include "runner/installation.hpp"
#include "util/error.hpp"

namespace perfgate::cli {
namespace {

measure::BackendSource backend_source(const std::string& backend,
                                      measure::BackendOptions& options) {
    if (backend == "host") {
        return {[](const std::string&) {
                    return std::vector<measure::ListedDevice>{{"", backend::host_device()}};
                },
                [&options](auto loading) {
                    options.loading = std::move(loading);
                    return backend::make_host_backend(options);
                }};
    }
    return {[](const std::string& wanted) {
                std::vector<measure::ListedDevice> devices;
                runner::cuda_function<measure::ListDevices>(measure::list_devices_symbol)(wanted,
                                                                                          devices);
                return devices;
            },
            [&options](auto loading) {
                options.loading = std::move(loading);
                const auto create =
                    runner::cuda_function<measure::CreateBackend>(measure::create_backend_symbol);
                return std::unique_ptr<measure::Backend>(create(options));
            }};
}

/// This process's command line, with --serve; with an interpreter, the worker that runs in it.
std::vector<std::string> serving_command(const std::string& interpreter) {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> command;
    for (std::string word; std::getline(file, word, '\0');) command.push_back(word);
    if (command.empty()) throw util::Error("worker: cannot read /proc/self/cmdline");
    if (interpreter.empty()) {
        command.front() = runner::own_binary().string();
        command.emplace_back("--serve");
        return command;
    }
    std::vector<std::string> hosted = {interpreter, runner::python_worker().string(),
                                       runner::worker_library().string()};
    for (std::size_t i = 2; i < command.size(); ++i) {  // behind "worker"
        if (command[i] == "--interpreter") {
            ++i;
        } else {
            hosted.push_back(command[i]);
        }
    }
    return hosted;
}

}  // namespace

Body add_worker(CLI::App& verb) {
    struct Options {
        std::string backend = "host";
        measure::BackendOptions backend_options;
        std::string interpreter;  ///< absolute path
        bool no_cupti = false, serve = false;
    };
    const auto options = std::make_shared<Options>();
    verb.add_option("--backend", options->backend)->check(one_of({"cuda", "host"}));
    verb.add_option("--device", options->backend_options.device);
    verb.add_option("--plugin", options->backend_options.plugins);
    verb.add_option("--bundled", options->backend_options.bundled);
    verb.add_option("--interpreter", options->interpreter);
    verb.add_flag("--no-cupti", options->no_cupti);
    verb.add_flag("--serve", options->serve);
    return [options] {
        if (!options->serve) {
            measure::guard(serving_command(options->interpreter), measure::reply_fd);
        }
        options->backend_options.cupti = !options->no_cupti;
        return measure::serve(backend_source(options->backend, options->backend_options),
                              STDIN_FILENO, measure::reply_fd);
    };
}

}  // namespace perfgate::cli
