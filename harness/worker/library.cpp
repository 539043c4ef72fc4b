// SPDX-License-Identifier: Apache-2.0
// The worker as a library in the user's interpreter (perfgate/_worker.py): it serves the
// coordinator like `perfgate worker --serve`, and gets the workloads of Python files as plugins.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "kinds/source/values/elements.hpp"
#include "perfgate.h"
#include "util/error.hpp"
#include "worker/serving.hpp"

namespace {

using namespace perfgate;

using LoadFile = const pg_plugin* (*)(const char* file, const pg_host* host);

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
        worker::Options options = worker::read_options({words, words + count});
        options.of_backend.scripts = [load](const std::string& file, std::string& why) {
            const pg_host host{sizeof(pg_host), &why,
                               [](void* context, const char* message) {
                                   *static_cast<std::string*>(context) = message;
                               },
                               [](void*, const char* line) { std::fprintf(stderr, "%s\n", line); }};
            return load(file.c_str(), &host);
        };
        return worker::serve(std::move(options));
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
