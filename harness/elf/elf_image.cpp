// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_image.hpp"

#include <algorithm>
#include <string>

#include "util/error.hpp"

namespace perfgate::elf {
namespace {

constexpr Elf64_Half machine_cuda = 190;  // EM_CUDA, missing in older elf.h
constexpr std::string_view text_prefix = ".text.";
/// The bytes of all sections and their names, over those of the file: it bounds the work of what
/// reads them. Compilers let no sections share bytes, and names share their ends at most.
constexpr std::uint64_t most_shared = 4;

/// By the version of the format: 7 until CUDA 12, then 8. Others are unknown.
int architecture_of(const Elf64_Ehdr& header) {
    if (header.e_ident[EI_ABIVERSION] == 7) return static_cast<int>(header.e_flags & 0xff);
    if (header.e_ident[EI_ABIVERSION] == 8) return static_cast<int>(header.e_flags >> 8 & 0xff);
    return 0;
}

/// The bytes [offset, offset + size) of the image.
std::span<const char> part(std::span<const char> image, std::uint64_t offset, std::uint64_t size) {
    if (offset > image.size() || size > image.size() - offset) damaged_cubin("it ends too early");
    return image.subspan(offset, size);
}

}  // namespace

void damaged_cubin(std::string_view what) {
    throw util::InputError("a loaded cubin is damaged: " + std::string(what));
}

std::string_view elf_text(std::span<const char> strings, std::uint64_t offset) {
    if (offset >= strings.size()) damaged_cubin("a name is outside its table");
    const std::string_view rest(strings.data() + offset, strings.size() - offset);
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) damaged_cubin("a name is not terminated");
    return rest.substr(0, end);
}

ElfImage::ElfImage(std::span<const char> image) {
    const auto header = elf_record<Elf64_Ehdr>(image, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != machine_cuda) {
        throw util::InputError("a loaded cubin is not a 64-bit ELF file for NVIDIA devices");
    }
    architecture_ = architecture_of(header);
    if (header.e_shoff == 0) return;
    if (header.e_shentsize != sizeof(Elf64_Shdr)) {
        damaged_cubin("its section headers have a wrong size");
    }
    if (header.e_shoff > image.size()) damaged_cubin("it ends too early");
    const std::span<const char> from = image.subspan(header.e_shoff);
    // Counts that do not fit their field are in the first section's header.
    const auto first = elf_record<Elf64_Shdr>(from, 0);
    const std::uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
    const std::uint64_t names = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
    if (count > from.size() / sizeof(Elf64_Shdr)) damaged_cubin("sections are missing");
    std::uint64_t left = most_shared * image.size();
    const auto take = [&](std::size_t bytes) {
        if (bytes > left) damaged_cubin("its sections share their bytes or names");
        left -= bytes;
    };
    sections_.resize(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        sections_[i].header = elf_record<Elf64_Shdr>(from, i);
        const Elf64_Shdr& own = sections_[i].header;
        if (own.sh_type != SHT_NOBITS && own.sh_type != SHT_NULL) {
            sections_[i].content = part(image, own.sh_offset, own.sh_size);
            take(sections_[i].content.size());
        }
    }
    if (names >= count) damaged_cubin("its sections have no names");
    for (ElfSection& section : sections_) {
        if (section.header.sh_type != SHT_NULL) {
            section.name = elf_text(sections_[names].content, section.header.sh_name);
            take(section.name.size());
        }
    }
}

const ElfSection* ElfImage::find(std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, &ElfSection::name);
    return found == sections_.end() ? nullptr : &*found;
}

std::string_view ElfImage::function_in(std::size_t section) const {
    if (section >= sections_.size()) return {};
    const ElfSection& code = sections_[section];
    if (!code.name.starts_with(text_prefix) || (code.header.sh_flags & SHF_EXECINSTR) == 0) {
        return {};
    }
    return code.name.substr(text_prefix.size());
}

Elf64_Sym ElfImage::symbol(const ElfSection& section, std::uint64_t index) const {
    if (section.header.sh_link >= sections_.size()) damaged_cubin("relocations have no symbols");
    return elf_record<Elf64_Sym>(sections_[section.header.sh_link].content, index);
}

std::vector<ElfRelocation> ElfImage::relocations(const ElfSection& section) const {
    const bool with_addend = section.header.sh_type == SHT_RELA;
    if (!with_addend && section.header.sh_type != SHT_REL) return {};
    const std::size_t size = with_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    std::vector<ElfRelocation> result;
    for (std::size_t i = 0; i < section.content.size() / size; ++i) {
        Elf64_Rela entry{};
        if (with_addend) {
            entry = elf_record<Elf64_Rela>(section.content, i);
        } else {
            const auto plain = elf_record<Elf64_Rel>(section.content, i);
            entry.r_offset = plain.r_offset;
            entry.r_info = plain.r_info;
        }
        result.push_back({entry.r_offset, static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info)),
                          entry.r_addend, symbol(section, ELF64_R_SYM(entry.r_info))});
    }
    return result;
}

}  // namespace perfgate::elf
