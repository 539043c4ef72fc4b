// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cubin.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "model/error.hpp"
#include "model/sha256.hpp"

namespace perfgate::backend::cuda {
namespace {

constexpr Elf64_Half machine_cuda = 190;  // EM_CUDA, missing in older elf.h
constexpr std::string_view text_prefix = ".text.";
/// The bank of a function's parameters: filled at launch, empty in the image.
constexpr std::string_view parameter_bank = ".nv.constant0.";
constexpr std::string_view constant_prefix = ".nv.constant";

[[noreturn]] void damaged(std::string_view what) {
    throw model::InputError(fmt::format("a loaded cubin is damaged: {}", what));
}

/// The bytes [offset, offset + size) of the image.
std::span<const char> part(std::span<const char> image, std::uint64_t offset, std::uint64_t size) {
    if (offset > image.size() || size > image.size() - offset) damaged("it ends too early");
    return image.subspan(offset, size);
}

/// The record of a table at `index`, which may be unaligned.
template <class Record>
Record record(std::span<const char> table, std::uint64_t index) {
    if (index >= table.size() / sizeof(Record)) damaged("an index is out of range");
    Record result;
    std::memcpy(&result, table.data() + index * sizeof(Record), sizeof(Record));
    return result;
}

std::string_view text_at(std::span<const char> strings, std::uint64_t offset) {
    if (offset >= strings.size()) damaged("a name is outside its table");
    const std::string_view rest(strings.data() + offset, strings.size() - offset);
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) damaged("a name is not terminated");
    return rest.substr(0, end);
}

struct Section {
    std::string_view name;
    Elf64_Shdr header;
    std::span<const char> content;  ///< empty if it takes no space in the file
};

std::vector<Section> sections_of(std::span<const char> image) {
    const auto header = record<Elf64_Ehdr>(image, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != machine_cuda) {
        throw model::InputError("a loaded cubin is not a 64-bit ELF file for NVIDIA devices");
    }
    if (header.e_shoff == 0) return {};
    if (header.e_shentsize != sizeof(Elf64_Shdr)) damaged("its section headers have a wrong size");
    if (header.e_shoff > image.size()) damaged("it ends too early");
    const std::span<const char> from = image.subspan(header.e_shoff);
    // Counts that do not fit their field are in the first section's header.
    const auto first = record<Elf64_Shdr>(from, 0);
    const std::uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
    const std::uint64_t names = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
    if (count > from.size() / sizeof(Elf64_Shdr)) damaged("sections are missing");
    std::vector<Section> sections(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        sections[i].header = record<Elf64_Shdr>(from, i);
        const Elf64_Shdr& own = sections[i].header;
        if (own.sh_type != SHT_NOBITS && own.sh_type != SHT_NULL) {
            sections[i].content = part(image, own.sh_offset, own.sh_size);
        }
    }
    if (names >= count) damaged("its sections have no names");
    for (Section& section : sections) {
        if (section.header.sh_type != SHT_NULL) {
            section.name = text_at(sections[names].content, section.header.sh_name);
        }
    }
    return sections;
}

/// A reference of a function: the place in its code, and what is patched in there.
struct Reference {
    std::uint64_t offset = 0;
    std::uint32_t type = 0;
    std::int64_t addend = 0;
    Elf64_Sym symbol{};
};

struct Function {
    std::size_t text = 0;                ///< section
    std::vector<std::size_t> constants;  ///< sections
    std::vector<Reference> references;
    std::string own;  ///< fingerprint of all that, without the functions it refers to
};

class Image {
  public:
    explicit Image(std::span<const char> cubin) : sections_(sections_of(cubin)) {
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            const Section& section = sections_[i];
            if (section.name.starts_with(text_prefix) &&
                (section.header.sh_flags & SHF_EXECINSTR) != 0) {
                functions_[i].text = i;
                by_name_.emplace(section.name.substr(text_prefix.size()), i);
            }
        }
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            add_constants(i);
            add_references(sections_[i]);
        }
        for (auto& [text, function] : functions_) function.own = fingerprint(function);
    }

    std::map<std::string, std::string> fingerprints() const {
        std::map<std::string, std::string> result;
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

    void add_references(const Section& section) {
        const bool with_addend = section.header.sh_type == SHT_RELA;
        if (!with_addend && section.header.sh_type != SHT_REL) return;
        const auto owner = functions_.find(section.header.sh_info);
        if (owner == functions_.end()) return;
        if (section.header.sh_link >= sections_.size()) damaged("relocations have no symbols");
        const std::span<const char> symbols = sections_[section.header.sh_link].content;
        const std::size_t size = with_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
        for (std::size_t i = 0; i < section.content.size() / size; ++i) {
            Elf64_Rela entry{};
            if (with_addend) {
                entry = record<Elf64_Rela>(section.content, i);
            } else {
                const auto plain = record<Elf64_Rel>(section.content, i);
                entry.r_offset = plain.r_offset;
                entry.r_info = plain.r_info;
            }
            owner->second.references.push_back(
                {entry.r_offset, static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info)),
                 entry.r_addend, record<Elf64_Sym>(symbols, ELF64_R_SYM(entry.r_info))});
        }
    }

    std::string fingerprint(const Function& function) const {
        model::Sha256 hash;
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
        for (const Reference& reference : function.references) {
            // Names and values depend on the rest of the module; kind and size do not.
            hash.add_number(reference.offset);
            hash.add_number(reference.type);
            hash.add_number(static_cast<std::uint64_t>(reference.addend));
            hash.add_number(ELF64_ST_TYPE(reference.symbol.st_info));
            hash.add_number(reference.symbol.st_size);
        }
        return hash.fingerprint();
    }

    /// The function's own fingerprint and those of all functions it reaches, in the order of
    /// reference.
    std::string with_callees(std::size_t text) const {
        std::vector<std::size_t> reached = {text};
        std::vector<bool> seen(sections_.size());
        seen[text] = true;
        model::Sha256 hash;
        for (std::size_t next = 0; next < reached.size(); ++next) {
            const Function& function = functions_.at(reached[next]);
            hash.add(function.own);
            for (const Reference& reference : function.references) {
                const std::size_t target = reference.symbol.st_shndx;
                if (!functions_.contains(target) || seen[target]) continue;
                seen[target] = true;
                reached.push_back(target);
            }
        }
        return hash.fingerprint();
    }

    std::vector<Section> sections_;
    std::map<std::size_t, Function> functions_;        ///< by their section
    std::map<std::string_view, std::size_t> by_name_;  ///< their sections
};

}  // namespace

std::map<std::string, std::string> machine_code(std::span<const char> cubin) {
    return Image(cubin).fingerprints();
}

}  // namespace perfgate::backend::cuda
