// SPDX-License-Identifier: Apache-2.0
#include "model/source_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::model {

std::string_view to_text(ElementType type) {
    return util::word_of<ElementType::u64>(
        type, {"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"});
}

double largest_of(ElementType type) {
    switch (type) {
        case ElementType::f16:
            return 65504;
        case ElementType::bf16:
            return 0x1.fep127;
        case ElementType::f32:
            return std::numeric_limits<float>::max();
        case ElementType::f64:
            return std::numeric_limits<double>::max();
        default:
            return 0;
    }
}

std::int64_t bytes_of(ElementType type) {
    switch (type) {
        case ElementType::i8:
        case ElementType::u8:
            return 1;
        case ElementType::f16:
        case ElementType::bf16:
        case ElementType::i16:
        case ElementType::u16:
            return 2;
        case ElementType::f32:
        case ElementType::i32:
        case ElementType::u32:
            return 4;
        case ElementType::f64:
        case ElementType::i64:
        case ElementType::u64:
            return 8;
    }
    return 8;
}

bool is_integer(ElementType type) {
    return type != ElementType::f16 && type != ElementType::bf16 && type != ElementType::f32 &&
           type != ElementType::f64;
}

std::string_view to_text(SourceArgument::Role role) {
    return util::word_of<SourceArgument::Role::value>(role, {"in", "out", "inout", "value"});
}

std::string_view to_text(SourceArgument::Fill fill) {
    return util::word_of<SourceArgument::Fill::constant>(fill, {"uniform", "iota", "constant"});
}

std::string_view to_text(SourceCheck::Kind kind) {
    return util::word_of<SourceCheck::Kind::file>(kind, {"none", "kernel", "file"});
}

SourceKind kind_of_source(std::string_view file) {
    if (file.ends_with(".cu")) return SourceKind::cuda;
    if (file.ends_with(".ptx")) return SourceKind::ptx;
    if (file.ends_with(".cubin")) return SourceKind::cubin;
    if (file.ends_with(".fatbin")) return SourceKind::fatbin;
    return SourceKind::unknown;
}

std::string argument_mismatch(const SourceKernel& kernel, const std::string& name,
                              const std::vector<std::size_t>& parameters) {
    constexpr std::size_t address_bytes = 8;
    std::vector<std::size_t> passed;
    for (const SourceArgument& argument : kernel.arguments) {
        passed.push_back(argument.role == SourceArgument::Role::value
                             ? static_cast<std::size_t>(bytes_of(argument.type))
                             : address_bytes);
    }
    if (parameters == passed) return {};
    const auto sizes = [](const std::vector<std::size_t>& all) {
        return all.empty() ? std::string() : fmt::format(" of {} bytes", fmt::join(all, ", "));
    };
    return fmt::format("kernel '{}' takes {}{}, 'arguments' has {}{}; a buffer has {}",
                       util::printable(name), util::counted(parameters.size(), "parameter"),
                       sizes(parameters), passed.size(), sizes(passed), address_bytes);
}

bool needs_reset(const SourceKernel& kernel) {
    return std::ranges::any_of(kernel.arguments, [](const auto& argument) {
        return argument.role == SourceArgument::Role::inout;
    });
}

std::uint64_t memory_bytes_of(const SourceKernel& kernel) {
    std::uint64_t bytes = 0;
    for (const SourceArgument& argument : kernel.arguments) {
        if (argument.role == SourceArgument::Role::value) continue;
        const auto once = static_cast<std::uint64_t>(argument.elements * bytes_of(argument.type));
        bytes += argument.role == SourceArgument::Role::inout ? 2 * once : once;
    }
    return bytes;
}

std::string set_up_fingerprint(const SourceKernel& kernel) {
    util::Sha256 hash;
    const auto add = [&](auto... numbers) {
        (hash.add_number(static_cast<std::uint64_t>(numbers)), ...);
    };
    hash.add("1");  // another number if buffers are filled or launches made in another way
    hash.add(kernel.kernel);
    add(kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0], kernel.block[1],
        kernel.block[2], kernel.shared_bytes);
    for (const SourceArgument& argument : kernel.arguments) {
        add(argument.role, argument.type, argument.elements, argument.fill, argument.integer,
            std::bit_cast<std::uint64_t>(argument.real));
    }
    if (kernel.work != Work{}) {
        hash.add(kernel.work.arithmetic);
        add(std::bit_cast<std::uint64_t>(kernel.work.flops),
            std::bit_cast<std::uint64_t>(kernel.work.bytes));
    }
    return hash.fingerprint();
}

}  // namespace perfgate::model
