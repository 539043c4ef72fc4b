// SPDX-License-Identifier: Apache-2.0
// The worker as a library in the user's interpreter (perfgate/_worker.py): it serves the
// coordinator like `perfgate worker --serve`, and gets the workloads of Python files as plugins.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/host/host_backend.hpp"
#include "kinds/source/values/elements.hpp"
#include "measure/worker.hpp"
#include "measure/worker_process.hpp"
#include "perfgate.h"
#include "util/error.hpp"

namespace {

using namespace perfgate;

/// The CUDA backend lies in a fixed place beside this library.
std::filesystem::path backend_module() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&backend_module), &info) == 0) {
        throw util::Error("cannot find the file of the worker library");
    }
    return std::filesystem::path(info.dli_fname).parent_path() / "backends" / "libperfgate_cuda.so";
}

template <class Function>
Function* cuda_function(const char* symbol) {
    const std::filesystem::path file = backend_module();
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        throw util::Error(fmt::format("the CUDA backend cannot be loaded: {}", dlerror()));
    }
    void* found = dlsym(handle, symbol);
    if (found == nullptr) {
        throw util::Error(fmt::format("{} exports no {}", file.string(), symbol));
    }
    return reinterpret_cast<Function*>(found);
}

using LoadFile = const pg_plugin* (*)(const char* file, const pg_host* host);

struct Arguments {
    std::string backend = "host";
    measure::BackendOptions options;
};

/// The options of `perfgate worker`, which the coordinator passes on.
Arguments read_arguments(const std::vector<std::string>& words) {
    Arguments arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto value = [&]() -> const std::string& {
            if (i + 1 == words.size()) throw util::Error("worker: " + words[i] + " needs a value");
            return words[++i];
        };
        if (words[i] == "--backend") {
            arguments.backend = value();
        } else if (words[i] == "--device") {
            arguments.options.device = value();
        } else if (words[i] == "--plugin") {
            arguments.options.plugins.push_back(value());
        } else if (words[i] == "--bundled") {
            arguments.options.bundled.push_back(value());
        } else if (words[i] == "--no-cupti") {
            arguments.options.cupti = false;
        } else {
            throw util::Error("worker: unknown argument " + words[i]);
        }
    }
    return arguments;
}

measure::BackendSource source_of(Arguments& arguments) {
    const auto open = [&arguments](auto loading, const auto& create) {
        arguments.options.loading = std::move(loading);
        return std::unique_ptr<measure::Backend>(create(arguments.options));
    };
    if (arguments.backend == "host") {
        return {[](const std::string&) {
                    return std::vector<measure::ListedDevice>{{"", backend::host_device()}};
                },
                [open](auto loading) {
                    return open(std::move(loading), [](const measure::BackendOptions& options) {
                        return backend::make_host_backend(options).release();
                    });
                }};
    }
    return {[](const std::string& wanted) {
                std::vector<measure::ListedDevice> devices;
                cuda_function<measure::ListDevices>(measure::list_devices_symbol)(wanted, devices);
                return devices;
            },
            [open](auto loading) {
                return open(std::move(loading),
                            cuda_function<measure::CreateBackend>(measure::create_backend_symbol));
            }};
}

model::ElementType type_of(std::string_view name) {
    using model::ElementType;
    for (int type = 0; type <= static_cast<int>(ElementType::u64); ++type) {
        const auto found = static_cast<ElementType>(type);
        if (model::to_text(found) == name) return found;
    }
    throw util::Error(fmt::format("unknown element type {}", name));
}

}  // namespace

extern "C" {

/// An array's elements on the host. `type`: as suites name it, "f32".
struct perfgate_elements {
    const void* data;
    size_t count;
    const char* type;
};

PG_EXPORT int perfgate_worker(int count, const char* const* words, LoadFile load) {
    try {
        Arguments arguments = read_arguments({words, words + count});
        arguments.options.scripts = [load](const std::string& file, std::string& why) {
            const pg_host host{sizeof(pg_host), &why,
                               [](void* context, const char* message) {
                                   *static_cast<std::string*>(context) = message;
                               },
                               [](void*, const char* line) { std::fprintf(stderr, "%s\n", line); }};
            return load(file.c_str(), &host);
        };
        return measure::serve(source_of(arguments), STDIN_FILENO, measure::reply_fd);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "perfgate: %s\n", error.what());
        return 3;
    }
}

/// Compares all elements; what cannot be compared has not passed.
PG_EXPORT void perfgate_compare(const perfgate_elements* found, const perfgate_elements* expected,
                                double rtol, double atol, pg_verification* result) {
    result->passed = 0;
    std::string detail;
    try {
        const auto elements = [](const perfgate_elements& from) {
            backend::Elements all;
            all.type = type_of(from.type);
            const auto* bytes = static_cast<const std::byte*>(from.data);
            all.bytes.assign(bytes, bytes + from.count * model::bytes_of(all.type));
            return all;
        };
        model::SourceCheck check;
        check.rtol = rtol;
        check.atol = atol;
        const model::Verification compared =
            backend::compare(elements(*found), elements(*expected), check, 0,
                             std::numeric_limits<std::size_t>::max());
        result->passed = compared.passed ? 1 : 0;
        detail = compared.detail;
    } catch (const std::exception& error) {
        detail = error.what();
    }
    std::snprintf(result->detail, sizeof(result->detail), "%s", detail.c_str());
}

}  // extern "C"
