// SPDX-License-Identifier: Apache-2.0
// The hidden verb that coordinators start: loads one backend and the plugins, serves requests from
// stdin, replies on file descriptor 3.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "backend/host/host_backend.hpp"
#include "cli/verbs/verb.hpp"
#include "measure/worker.hpp"
#include "measure/worker_process.hpp"
#include "model/error.hpp"
#include "model/text.hpp"
#include "runner/installation.hpp"

namespace perfgate::cli {
namespace {

/// The function `symbol` of the CUDA backend's module.
template <class Function>
Function* cuda_function(const char* symbol) {
    const std::filesystem::path module = runner::cuda_backend_module();
    if (!std::filesystem::exists(module))
        throw model::Error(
            fmt::format("the CUDA backend was not built: {} is absent; build with a "
                        "CUDA toolkit (nvcc 13.0 or newer)",
                        module.string()));
    void* handle = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        throw model::Error(
            fmt::format("the CUDA backend cannot be loaded: {}", model::printable(dlerror())));
    const auto function = reinterpret_cast<Function*>(dlsym(handle, symbol));
    if (!function)
        throw model::Error(
            fmt::format("{} is no backend: it exports no {}", module.string(), symbol));
    return function;
}

measure::BackendSource backend_source(const std::string& backend,
                                      const measure::BackendOptions& options) {
    if (backend == "host")
        return {[](const std::string&) {
                    return std::vector<measure::ListedDevice>{{"", backend::host_device()}};
                },
                [&options] { return backend::make_host_backend(options); }};
    return {[](const std::string& wanted) {
                std::vector<measure::ListedDevice> devices;
                cuda_function<measure::ListDevices>(measure::list_devices_symbol)(wanted, devices);
                return devices;
            },
            [&options] {
                const auto create =
                    cuda_function<measure::CreateBackend>(measure::create_backend_symbol);
                return std::unique_ptr<measure::Backend>(create(options));
            }};
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
            return measure::serve(backend_source(options->backend, options->backend_options),
                                  STDIN_FILENO, measure::reply_fd);
        };
    });
}

}  // namespace perfgate::cli
