// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "util/error.hpp"
#include "util/text.hpp"

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
    output.name = util::printable(from->name != nullptr ? from->name : "", longest_name);
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
    if (!collected.problem.empty()) throw util::Error("outputs: " + collected.problem);
    return std::move(collected.outputs);
}

namespace {

/// The value of a sign, `exponent` bits and the mantissa below them.
double small_float(std::uint32_t bits, int width, int exponent) {
    const int mantissa = width - 1 - exponent;
    const std::uint32_t fraction = bits & ((1u << mantissa) - 1);
    const int power = static_cast<int>((bits >> mantissa) & ((1u << exponent) - 1));
    const int largest = (1 << exponent) - 1;
    const int bias = largest / 2;
    double value = 0;
    if (power == largest) {
        value = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
    } else if (power == 0) {
        value = std::ldexp(fraction, 1 - bias - mantissa);
    } else {
        value = std::ldexp(fraction + (1u << mantissa), power - bias - mantissa);
    }
    return (bits >> (width - 1)) != 0 ? -value : value;
}

/// Empty if the type is not known.
std::string meaning(std::uint64_t bits, std::size_t bytes, std::uint32_t element) {
    switch (element) {
        case PG_ELEMENT_FLOAT:
            if (bytes == 2) return fmt::format("{:.5g}", small_float(bits & 0xffff, 16, 5));
            if (bytes == 4) {
                return fmt::format("{:.9g}",
                                   std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
            }
            if (bytes == 8) return fmt::format("{:.17g}", std::bit_cast<double>(bits));
            return {};
        case PG_ELEMENT_BFLOAT16:
            return bytes == 2 ? fmt::format("{:.4g}", small_float(bits & 0xffff, 16, 8)) : "";
        case PG_ELEMENT_SIGNED: {
            const auto unused = static_cast<int>(64 - 8 * bytes);
            return fmt::format("{}", static_cast<std::int64_t>(bits << unused) >> unused);
        }
        case PG_ELEMENT_UNSIGNED:
            return fmt::format("{}", bits);
        default:
            return {};
    }
}

}  // namespace

std::string value_text(std::span<const std::byte> value, std::uint32_t element) {
    std::string digits;
    for (const std::byte byte : value) {
        digits.insert(0, fmt::format("{:02x}", std::to_integer<unsigned>(byte)));
    }
    if (value.empty() || value.size() > sizeof(std::uint64_t)) return "0x" + digits;
    std::uint64_t bits = 0;
    std::memcpy(&bits, value.data(), value.size());
    const std::string known = meaning(bits, value.size(), element);
    return known.empty() ? "0x" + digits : fmt::format("0x{} ({})", digits, known);
}

void OutputDifference::compare(std::span<const std::byte> before, std::span<const std::byte> now) {
    const std::size_t size = output_.element_bytes;
    const std::size_t count = std::min(before.size(), now.size()) / size;
    if (std::memcmp(before.data(), now.data(), count * size) == 0) {
        compared_ += count;
        return;
    }
    for (std::size_t i = 0; i < count; ++i, ++compared_) {
        const auto was = before.subspan(i * size, size);
        const auto is = now.subspan(i * size, size);
        std::uint64_t differing = 0;
        for (std::size_t k = 0; k < size; ++k) differing += was[k] != is[k] ? 1 : 0;
        if (differing == 0) continue;
        bytes_ += differing;
        if (elements_++ > 0) continue;
        first_ = compared_;
        was_ = value_text(was, output_.element);
        is_ = value_text(is, output_.element);
        unwritten_ = std::ranges::all_of(is, [this](std::byte byte) { return byte == poison_; });
    }
}

std::string OutputDifference::text() const {
    const std::uint64_t all = output_.bytes / output_.element_bytes;
    const bool single_bytes = output_.element_bytes == 1;
    return fmt::format("output '{}' differs in {} of {} {}{}: {} {} was {}, is {}{}", output_.name,
                       elements_, all, single_bytes ? "bytes" : "elements",
                       single_bytes ? "" : fmt::format(" ({})", util::counted(bytes_, "byte")),
                       single_bytes ? "byte" : "element", first_, was_, is_,
                       unwritten_ ? ", as before the launch: it may not write it" : "");
}

}  // namespace perfgate::backend
