// SPDX-License-Identifier: Apache-2.0
//
// The ELF file that a cubin is: sections, symbols and relocations. The image is untrusted: every
// function throws util::InputError where it would leave the image.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace perfgate::elf {

/// Throws util::InputError: "a loaded cubin is damaged: …".
[[noreturn]] void damaged_cubin(std::string_view what);

/// The record of a table at `index`, which may be unaligned.
template <class Record>
Record elf_record(std::span<const char> table, std::uint64_t index) {
    if (index >= table.size() / sizeof(Record)) damaged_cubin("an index is out of range");
    Record result;
    std::memcpy(&result, table.data() + index * sizeof(Record), sizeof(Record));
    return result;
}

/// The text at `offset` of a table of terminated strings.
std::string_view elf_text(std::span<const char> strings, std::uint64_t offset);

struct ElfSection {
    std::string_view name;
    Elf64_Shdr header;
    std::span<const char> content;  ///< empty if it takes no space in the file
};

struct ElfRelocation {
    std::uint64_t offset = 0;  ///< in the section that is patched
    std::uint32_t type = 0;
    std::int64_t addend = 0;
    Elf64_Sym symbol{};
};

/// Points into the image, which must outlive it.
class ElfImage {
  public:
    /// Throws util::InputError if it is not a 64-bit ELF file for NVIDIA devices.
    explicit ElfImage(std::span<const char> image);

    const std::vector<ElfSection>& sections() const { return sections_; }

    /// The architecture of the code: 90 is sm_90, and sm_90a; 0 if the file does not tell it.
    int architecture() const { return architecture_; }

    /// The first section of that name; null if there is none.
    const ElfSection* find(std::string_view name) const;

    /// The function (mangled) whose code the section is; empty if it is not the code of one.
    std::string_view function_in(std::size_t section) const;

    /// A symbol of the table that the section refers to.
    Elf64_Sym symbol(const ElfSection& section, std::uint64_t index) const;

    /// The entries of a section of relocations; empty for any other.
    std::vector<ElfRelocation> relocations(const ElfSection& section) const;

  private:
    std::vector<ElfSection> sections_;
    int architecture_ = 0;
};

}  // namespace perfgate::elf
