// SPDX-License-Identifier: Apache-2.0
#include "worker/serving.hpp"

#include <unistd.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "backend/host/host_backend.hpp"
#include "measure/backend_module.hpp"
#include "measure/worker.hpp"
#include "measure/worker_process.hpp"
#include "util/error.hpp"

namespace perfgate::worker {

namespace {

measure::BackendSource source_of(Options& options) {
    if (options.backend == "host") {
        return {[](const std::string&) {
                    return std::vector<measure::ListedDevice>{{"", backend::host_device()}};
                },
                [&options](auto loading) {
                    options.of_backend.loading = std::move(loading);
                    return backend::make_host_backend(options.of_backend);
                },
                [&options](auto loading) {
                    options.of_backend.loading = std::move(loading);
                    backend::make_host_backend(options.of_backend);
                    return false;
                }};
    }
    return {[&options](const std::string& wanted) {
                std::vector<measure::ListedDevice> devices;
                measure::backend_function<measure::ListDevices>(
                    options.cuda_backend, measure::list_devices_symbol)(wanted, devices);
                return devices;
            },
            [&options](auto loading) {
                options.of_backend.loading = std::move(loading);
                const auto create = measure::backend_function<measure::CreateBackend>(
                    options.cuda_backend, measure::create_backend_symbol);
                return std::unique_ptr<measure::Backend>(create(options.of_backend));
            },
            [&options](auto loading) {
                options.of_backend.loading = std::move(loading);
                return measure::backend_function<measure::LoadPlugins>(
                    options.cuda_backend, measure::load_plugins_symbol)(options.of_backend);
            }};
}

}  // namespace

Options read_options(const std::vector<std::string>& words) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        // "--NAME VALUE" or "--NAME=VALUE"
        const std::size_t sign = words[i].find('=');
        const std::string name = words[i].substr(0, sign);
        const auto value = [&]() -> std::string {
            if (sign == std::string::npos && i + 1 == words.size()) {
                throw util::InputError("worker: " + name + " needs a value");
            }
            std::string found = sign == std::string::npos ? words[++i] : words[i].substr(sign + 1);
            if (found.empty()) {
                throw util::InputError("worker: " + name +
                                       ": expected a value, found an empty one");
            }
            return found;
        };
        if (name == "--backend") {
            options.backend = value();
        } else if (name == "--cuda-backend") {
            options.cuda_backend = value();
        } else if (name == "--device") {
            options.of_backend.device = value();
        } else if (name == "--plugin") {
            options.of_backend.plugins.push_back(value());
        } else if (name == "--bundled") {
            options.of_backend.bundled.push_back(value());
        } else if (words[i] == "--no-cupti") {
            options.of_backend.cupti = false;
        } else {
            throw util::InputError("worker: unknown argument " + words[i]);
        }
    }
    if (options.backend != "host" && options.backend != "cuda") {
        throw util::InputError("worker: --backend is cuda or host");
    }
    return options;
}

int serve(Options options) {
    return measure::serve(source_of(options), STDIN_FILENO, measure::reply_fd);
}

}  // namespace perfgate::worker
