// SPDX-License-Identifier: Apache-2.0
// The worker as a library in the user's interpreter (perfgate/_worker.py): it serves the
// coordinator like `perfgate worker`, and gets the workloads of Python files as plugins.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kinds/source/values/elements.hpp"
#include "perfgate.h"
#include "perfgate_random.hpp"
#include "util/error.hpp"
#include "worker/serving.hpp"

extern "C" {

/// An array's elements. `type`: as suites name it, "f32". `copy`: copies between them and the host
/// and returns 0, for memory of a device; otherwise NULL.
struct perfgate_elements {
    void* data;
    size_t count;
    const char* type;
    int (*copy)(void* to, const void* from, size_t bytes);
};

}  // extern "C"

namespace {

using namespace perfgate;

using LoadFile = const pg_plugin* (*)(const char* file, const pg_host* host);

model::ElementType type_of(std::string_view name) {
    using model::ElementType;
    for (int type = 0; type <= static_cast<int>(ElementType::u64); ++type) {
        const auto found = static_cast<ElementType>(type);
        if (model::to_text(found) == name) return found;
    }
    throw util::Error("unknown element type {}", name);
}

void copy(const perfgate_elements& elements, void* to, const void* from, std::size_t bytes) {
    if (elements.copy == nullptr) {
        std::memcpy(to, from, bytes);
    } else if (const int error = elements.copy(to, from, bytes); error != 0) {
        throw util::Error("cannot copy {} bytes of an array: CUDA error {}", bytes, error);
    }
}

}  // namespace

extern "C" {

PG_EXPORT int perfgate_worker(int count, const char* const* words, LoadFile load) {
    try {
        worker::Options options = worker::read_options({words, words + count});
        options.of_backend.scripts = [load](const std::string& file, std::string& said) {
            const pg_host host{sizeof(pg_host), &said,
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

/// Compares all elements; what cannot be compared has not passed. `copy` reads.
PG_EXPORT void perfgate_compare(const perfgate_elements* found, const perfgate_elements* expected,
                                double rtol, double atol, pg_verification* result) {
    result->passed = 0;
    std::string detail;
    try {
        const auto content = [](const perfgate_elements& from) {
            return backend::Content{type_of(from.type), from.count,
                                    [&from](std::byte* to, std::size_t first, std::size_t size) {
                                        copy(from, to, static_cast<std::byte*>(from.data) + first,
                                             size);
                                    }};
        };
        model::SourceCheck check;
        check.rtol = rtol;
        check.atol = atol;
        const model::Verification compared = backend::compare(
            content(*found), content(*expected), check, 0, std::numeric_limits<std::size_t>::max());
        result->passed = compared.passed ? 1 : 0;
        detail = compared.detail;
    } catch (const std::exception& error) {
        detail = error.what();
    }
    std::snprintf(result->detail, sizeof(result->detail), "%s", detail.c_str());
}

/// Fills with elements `first` on of the uniform values of a seed. `copy` writes. Returns why it
/// could not in `detail`; `passed`: it did.
PG_EXPORT void perfgate_fill(const perfgate_elements* to, uint64_t seed, uint64_t first,
                             pg_verification* result) {
    result->passed = 0;
    result->detail[0] = '\0';
    try {
        const model::ElementType type = type_of(to->type);
        const auto size = static_cast<std::size_t>(model::bytes_of(type));
        const std::uint64_t key = sdk::stream_key(seed, 1);  // of a first input
        auto* const data = static_cast<std::byte*>(to->data);
        if (to->copy == nullptr) {
            backend::fill_uniform(type, key, first, {data, to->count * size});
        } else {
            std::vector<std::byte> chunk(size * std::min<std::size_t>(to->count, 1 << 22));
            for (std::size_t i = 0; i < to->count; i += chunk.size() / size) {
                const std::span<std::byte> part(chunk.data(),
                                                std::min(chunk.size(), (to->count - i) * size));
                backend::fill_uniform(type, key, first + i, part);
                copy(*to, data + i * size, part.data(), part.size());
            }
        }
        result->passed = 1;
    } catch (const std::exception& error) {
        std::snprintf(result->detail, sizeof(result->detail), "%s", error.what());
    }
}

}  // extern "C"
