// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "model/error.hpp"
#include "model/text.hpp"

namespace perfgate::backend {
namespace {

constexpr std::size_t longest_name = 60;

struct Collected {
    std::vector<Output> outputs;
    std::string problem;  ///< of the first that is wrong
};

std::uint64_t host_memory() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Why it cannot be read; empty: it can, as far as its own fields tell.
std::string problem_of(const Output& output) {
    if (output.address == 0) return "is at no address (NULL)";
    if (output.bytes == 0) return "has no bytes: nothing would be compared";
    if (output.bytes > std::numeric_limits<std::uint64_t>::max() - output.address) {
        return fmt::format("of {} bytes reaches beyond the address space", output.bytes);
    }
    if (output.element_bytes > most_element_bytes || output.bytes % output.element_bytes != 0) {
        return fmt::format("of {} bytes cannot have elements of {} bytes (at most {})",
                           output.bytes, output.element_bytes, most_element_bytes);
    }
    return {};
}

std::string add(std::vector<Output>& outputs, const pg_output* from) {
    if (outputs.size() == most_outputs) {
        return fmt::format("the case names more than {} outputs", most_outputs);
    }
    const std::size_t number = outputs.size() + 1;
    // Fields appended after 1.2 are not needed.
    constexpr std::size_t known = offsetof(pg_output, element) + sizeof(pg_output::element);
    if (from == nullptr || from->size < known) {
        return fmt::format("output {} is no pg_output of perfgate.h", number);
    }
    Output output;
    output.name = model::printable(from->name != nullptr ? from->name : "", longest_name);
    if (output.name.empty()) output.name = std::to_string(number);
    output.address = reinterpret_cast<std::uintptr_t>(from->data);
    output.bytes = from->bytes;
    output.element_bytes = std::max<std::uint32_t>(from->element_bytes, 1);
    output.element = from->element;
    const std::string problem = problem_of(output);
    if (!problem.empty()) return fmt::format("output '{}' {}", output.name, problem);
    std::uint64_t left = host_memory();
    for (const Output& each : outputs) left -= each.bytes;
    if (output.bytes > left) {
        return fmt::format("output '{}' has {} bytes, more than this machine can keep a copy of",
                           output.name, output.bytes);
    }
    outputs.push_back(std::move(output));
    return {};
}

/// Called by the plugin: no exception may pass through it.
void add_output(void* context, const pg_output* output) noexcept {
    auto& collected = *static_cast<Collected*>(context);
    if (!collected.problem.empty()) return;
    try {
        collected.problem = add(collected.outputs, output);
    } catch (const std::exception& error) {
        collected.problem = error.what();
    }
}

}  // namespace

std::vector<Output> collect_outputs(const std::function<void(const pg_outputs&)>& ask) {
    Collected collected;
    const pg_outputs list{sizeof(pg_outputs), &collected, add_output};
    ask(list);
    if (!collected.problem.empty()) throw model::Error("outputs: " + collected.problem);
    return std::move(collected.outputs);
}

}  // namespace perfgate::backend
