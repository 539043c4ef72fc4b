// SPDX-License-Identifier: Apache-2.0
#include "elf/cubin.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "util/sha256.hpp"

namespace perfgate::elf {

namespace {

/// The bank of a function's parameters: filled at launch, empty in the image.
constexpr std::string_view parameter_bank = ".nv.constant0.";
constexpr std::string_view constant_prefix = ".nv.constant";
constexpr std::string_view global_values = ".nv.global.init";
constexpr std::string_view kernel_info = ".nv.info.";

struct Function {
    std::size_t text = 0;                   ///< section
    std::vector<std::size_t> constants;     ///< sections
    std::vector<ElfRelocation> references;  ///< places in its code, and what is patched in there
    std::string own;  ///< fingerprint of all that, without the functions it refers to
};

class Functions {
  public:
    explicit Functions(const ElfImage& image) : image_(image), sections_(image.sections()) {
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            const std::string_view name = image_.function_in(i);
            if (name.empty()) continue;
            functions_[i].text = i;
            by_name_.emplace(name, i);
        }
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            add_constants(i);
            add_references(sections_[i]);
        }
        for (auto& [text, function] : functions_) function.own = fingerprint(function);
    }

    std::map<std::string, MachineCode> all() const {
        std::map<std::string, MachineCode> result;
        for (const auto& [name, text] : by_name_) result.emplace(name, with_callees(text));
        return result;
    }

  private:
    /// ".nv.constant2.saxpy" belongs to ".text.saxpy".
    void add_constants(std::size_t index) {
        const std::string_view name = sections_[index].name;
        if (!name.starts_with(constant_prefix) || name.starts_with(parameter_bank)) return;
        const std::size_t dot = name.find('.', constant_prefix.size());
        if (dot == std::string_view::npos) return;  // a bank that the module shares
        const auto owner = by_name_.find(name.substr(dot + 1));
        if (owner != by_name_.end()) functions_.at(owner->second).constants.push_back(index);
    }

    void add_references(const ElfSection& section) {
        const auto owner = functions_.find(section.header.sh_info);
        if (owner == functions_.end()) return;
        for (const ElfRelocation& reference : image_.relocations(section)) {
            owner->second.references.push_back(reference);
        }
    }

    std::string fingerprint(const Function& function) const {
        util::Sha256 hash;
        const auto add = [&](std::size_t section) {
            hash.add_number(sections_[section].content.size());
            hash.add(std::as_bytes(sections_[section].content));
        };
        add(function.text);
        for (const std::size_t constants : function.constants) {
            // The bank's number: a value that moves to another bank is different code.
            hash.add(sections_[constants].name.substr(0, constant_prefix.size() + 1));
            add(constants);
        }
        for (const ElfRelocation& reference : function.references) {
            // Names and values depend on the rest of the module; kind and size do not.
            hash.add_number(reference.offset);
            hash.add_number(reference.type);
            hash.add_number(static_cast<std::uint64_t>(reference.addend));
            hash.add_number(ELF64_ST_TYPE(reference.symbol.st_info));
            hash.add_number(reference.symbol.st_size);
        }
        return hash.fingerprint();
    }

    /// The function and all functions it reaches, in the order of reference.
    MachineCode with_callees(std::size_t text) const {
        std::vector<std::size_t> reached = {text};
        std::vector<bool> seen(sections_.size());
        seen[text] = true;
        util::Sha256 hash;
        MachineCode code;
        for (std::size_t next = 0; next < reached.size(); ++next) {
            const Function& function = functions_.at(reached[next]);
            hash.add(function.own);
            code.bytes += static_cast<std::int64_t>(sections_[function.text].content.size());
            for (const ElfRelocation& reference : function.references) {
                const std::size_t target = reference.symbol.st_shndx;
                if (!functions_.contains(target) || seen[target]) continue;
                seen[target] = true;
                reached.push_back(target);
            }
        }
        code.fingerprint = hash.fingerprint();
        return code;
    }

    const ElfImage& image_;
    const std::vector<ElfSection>& sections_;
    std::map<std::size_t, Function> functions_;        ///< by their section
    std::map<std::string_view, std::size_t> by_name_;  ///< their sections
};

}  // namespace

std::map<std::string, MachineCode> machine_code(const ElfImage& cubin) {
    return Functions(cubin).all();
}

std::string initial_values(const ElfImage& cubin) {
    util::Sha256 hash;
    bool any = false;
    for (const ElfSection& section : cubin.sections()) {
        // A bank with the name of a function behind it is that function's own.
        const bool shared =
            section.name.starts_with(constant_prefix) &&
            section.name.find('.', constant_prefix.size()) == std::string_view::npos;
        if ((!shared && section.name != global_values) || section.content.empty()) continue;
        any = true;
        hash.add(section.name);
        hash.add_number(section.content.size());
        hash.add(std::as_bytes(section.content));
    }
    return any ? hash.fingerprint() : std::string();
}

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
constexpr std::uint8_t kernel_parameter = 0x17;

/// The content of a min_stack_size.
struct StackSize {
    std::uint32_t symbol;
    std::uint32_t bytes;
};
constexpr std::uint32_t unknown_size = std::numeric_limits<std::uint32_t>::max();

/// The content of a kernel_parameter.
struct Parameter {
    std::uint32_t index;
    std::uint16_t number, offset;
    std::uint32_t kind_and_size;
};
constexpr int size_bit = 18;

/// Calls `each` with the content of every sized attribute of that kind. Throws util::InputError.
template <class Each>
void for_attributes(const ElfSection& info, std::uint8_t kind, const Each& each) {
    for (std::span<const char> left = info.content; !left.empty();) {
        const auto attribute = elf_record<Attribute>(left, 0);
        left = left.subspan(sizeof(Attribute));
        if (attribute.format >= 1 && attribute.format <= last_in_place) continue;
        if (attribute.format != sized || attribute.value > left.size()) {
            damaged_cubin("an attribute is of unknown format or ends too early");
        }
        if (attribute.kind == kind) each(left.first(attribute.value));
        left = left.subspan(attribute.value);
    }
}

/// By the section of the function's code. Throws util::InputError.
std::map<std::size_t, std::uint32_t> read_sizes(const ElfImage& image, const ElfSection& info) {
    std::map<std::size_t, std::uint32_t> sizes;
    for_attributes(info, min_stack_size, [&](std::span<const char> content) {
        const auto size = elf_record<StackSize>(content, 0);
        std::uint32_t& known = sizes[image.symbol(info, size.symbol).st_shndx];
        known = std::max(known, size.bytes);
    });
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

std::vector<std::string_view> kernels(const ElfImage& cubin) {
    std::vector<std::string_view> names;
    for (const ElfSection& section : cubin.sections()) {
        if (!section.name.starts_with(kernel_info)) continue;
        names.push_back(section.name.substr(kernel_info.size()));
    }
    return names;
}

std::optional<std::vector<std::size_t>> parameter_sizes(const ElfImage& cubin,
                                                        const std::string& kernel) {
    const ElfSection* info = cubin.find(std::string(kernel_info) + kernel);
    if (info == nullptr) return std::nullopt;
    std::map<std::uint16_t, std::size_t> sizes;
    bool twice = false;
    try {
        for_attributes(*info, kernel_parameter, [&](std::span<const char> content) {
            const auto parameter = elf_record<Parameter>(content, 0);
            const std::size_t size = parameter.kind_and_size >> size_bit;
            twice = !sizes.emplace(parameter.number, size).second || twice;
        });
    } catch (const std::exception&) {
        return std::nullopt;  // damaged
    }
    if (twice || (!sizes.empty() && sizes.rbegin()->first + 1U != sizes.size())) {
        return std::nullopt;
    }
    std::vector<std::size_t> ordered;
    for (const auto& [number, size] : sizes) ordered.push_back(size);
    return ordered;
}

}  // namespace perfgate::elf
