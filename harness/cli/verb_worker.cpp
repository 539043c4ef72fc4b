// SPDX-License-Identifier: Apache-2.0
// The hidden verb that coordinators start: loads one backend and the plugins, serves requests from
// stdin, replies on file descriptor 3.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "backend/host/host_backend.hpp"
#include "cli/installation.hpp"
#include "cli/verb.hpp"
#include "measure/worker.hpp"
#include "measure/worker_process.hpp"
#include "model/error.hpp"
#include "model/text.hpp"

namespace perfgate::cli {
namespace {

std::unique_ptr<measure::Backend> load_cuda_backend(const measure::BackendOptions& options) {
    const std::filesystem::path module = cuda_backend_module();
    if (!std::filesystem::exists(module))
        throw model::Error(
            fmt::format("the CUDA backend was not built: {} is absent; build with a "
                        "CUDA toolkit (nvcc 13.0 or newer)",
                        module.string()));
    void* handle = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        throw model::Error(
            fmt::format("the CUDA backend cannot be loaded: {}", model::printable(dlerror())));
    const auto create =
        reinterpret_cast<measure::CreateBackend*>(dlsym(handle, measure::create_backend_symbol));
    if (!create)
        throw model::Error(fmt::format("{} is no backend: it exports no {}", module.string(),
                                       measure::create_backend_symbol));
    return std::unique_ptr<measure::Backend>(create(options));
}

int work(const std::string& backend_name, const measure::BackendOptions& options) {
    std::unique_ptr<measure::Backend> backend;
    try {
        backend = backend_name == "cuda" ? load_cuda_backend(options)
                                         : backend::make_host_backend(options);
    } catch (const std::exception& error) {
        const bool usage = dynamic_cast<const model::InputError*>(&error) != nullptr;
        return measure::serve_failure(error.what(), usage, STDIN_FILENO, measure::reply_fd);
    }
    const int code = measure::serve(*backend, STDIN_FILENO, measure::reply_fd);
    backend.reset();
    return code;
}

}  // namespace

void add_worker(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand("worker", "Serves a coordinator (internal)");
    verb->group("");  // hidden
    struct Options {
        std::string backend = "host";
        measure::BackendOptions backend_options;
        bool no_cupti = false;
    };
    const auto options = std::make_shared<Options>();
    verb->add_option("--backend", options->backend)->check(CLI::IsMember({"cuda", "host"}));
    verb->add_option("--device", options->backend_options.device);
    verb->add_option("--plugin", options->backend_options.plugins);
    verb->add_flag("--no-cupti", options->no_cupti);
    verb->callback([&invocation, options] {
        invocation.body = [options] {
            options->backend_options.cupti = !options->no_cupti;
            return work(options->backend, options->backend_options);
        };
    });
}

}  // namespace perfgate::cli
