// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/stack_size.hpp"

#include <algorithm>
#include <exception>
#include <limits>

namespace perfgate::backend::cuda {
namespace {

/// What `.nv.info` consists of. With `sized`, `value` is the number of bytes that follow; other
/// formats have their value in place.
struct Attribute {
    std::uint8_t format;
    std::uint8_t kind;
    std::uint16_t value;
};
constexpr std::uint8_t last_in_place = 3;  // no value, a byte, two bytes
constexpr std::uint8_t sized = 4;
constexpr std::uint8_t min_stack_size = 0x12;

/// The content of a min_stack_size.
struct StackSize {
    std::uint32_t symbol;
    std::uint32_t bytes;
};
constexpr std::uint32_t unknown_size = std::numeric_limits<std::uint32_t>::max();

/// By the section of the function's code. Throws model::InputError.
std::map<std::size_t, std::uint32_t> read_sizes(const ElfImage& image, const ElfSection& info) {
    std::map<std::size_t, std::uint32_t> sizes;
    for (std::span<const char> left = info.content; !left.empty();) {
        const auto attribute = elf_record<Attribute>(left, 0);
        left = left.subspan(sizeof(Attribute));
        if (attribute.format >= 1 && attribute.format <= last_in_place) continue;
        if (attribute.format != sized || attribute.value > left.size()) {
            damaged_cubin("an attribute is of unknown format or ends too early");
        }
        if (attribute.kind == min_stack_size) {
            const auto size = elf_record<StackSize>(left.first(attribute.value), 0);
            std::uint32_t& known = sizes[image.symbol(info, size.symbol).st_shndx];
            known = std::max(known, size.bytes);
        }
        left = left.subspan(attribute.value);
    }
    return sizes;
}

}  // namespace

std::map<std::string, std::int64_t> stack_sizes(const ElfImage& cubin) {
    const ElfSection* info = cubin.find(".nv.info");
    if (info == nullptr) return {};
    std::map<std::string, std::int64_t> sizes;
    try {
        for (const auto& [section, bytes] : read_sizes(cubin, *info)) {
            const std::string_view function = cubin.function_in(section);
            if (!function.empty() && bytes != unknown_size) sizes.emplace(function, bytes);
        }
    } catch (const std::exception&) {
        return {};  // damaged
    }
    return sizes;
}

}  // namespace perfgate::backend::cuda
