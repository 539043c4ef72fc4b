// SPDX-License-Identifier: Apache-2.0
#include "elf/function_names.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "elf/elf_image.hpp"

namespace perfgate::elf {
namespace {

constexpr std::uint64_t largest_table = std::uint64_t{32} << 20;
constexpr std::size_t longest_name = 512;

void read(const util::Descriptor& file, std::uint64_t from, void* to, std::size_t size) {
    if (from > std::numeric_limits<off_t>::max() ||
        ::pread(file.get(), to, size, static_cast<off_t>(from)) != static_cast<ssize_t>(size)) {
        damaged_cubin("it ends too early");
    }
}

}  // namespace

FunctionNames::FunctionNames(util::Descriptor file) : file_(std::move(file)) {
    Elf64_Ehdr header{};
    read(file_, 0, &header, sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64 ||
        header.e_shentsize != sizeof(Elf64_Shdr)) {
        damaged_cubin("it is of another machine");
    }
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    read(file_, header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr));
    // A stripped file has only what other files may call.
    auto table = sections.end();
    for (const Elf64_Word type : {SHT_SYMTAB, SHT_DYNSYM}) {
        if (table != sections.end()) break;
        table = std::ranges::find(sections, type, &Elf64_Shdr::sh_type);
    }
    if (table == sections.end()) return;
    if (table->sh_link >= sections.size() || table->sh_size > largest_table) {
        damaged_cubin("its symbols have no names, or are too many");
    }
    names_at_ = sections[table->sh_link].sh_offset;
    names_size_ = sections[table->sh_link].sh_size;
    std::array<Elf64_Sym, 1024> symbols{};
    for (std::uint64_t left = table->sh_size / sizeof(Elf64_Sym), at = table->sh_offset;
         left != 0;) {
        const std::size_t count = std::min<std::uint64_t>(left, symbols.size());
        read(file_, at, symbols.data(), count * sizeof(Elf64_Sym));
        for (const Elf64_Sym& each : std::span(symbols).first(count)) {
            const int type = ELF64_ST_TYPE(each.st_info);
            if ((type != STT_FUNC && type != STT_GNU_IFUNC) || each.st_shndx == SHN_UNDEF ||
                each.st_size == 0 || each.st_size > std::numeric_limits<std::uint32_t>::max()) {
                continue;
            }
            functions_.push_back(
                {each.st_value, static_cast<std::uint32_t>(each.st_size), each.st_name});
        }
        left -= count;
        at += count * sizeof(Elf64_Sym);
    }
    std::ranges::stable_sort(functions_, {}, &Function::begin);
}

std::string FunctionNames::at(std::uint64_t address) const {
    const auto after = std::ranges::partition_point(
        functions_, [&](const Function& each) { return each.begin <= address; });
    if (after == functions_.begin()) return {};
    const Function& found = *std::prev(after);
    if (address - found.begin >= found.size || found.name >= names_size_ ||
        names_at_ > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) - found.name) {
        return {};
    }
    std::array<char, longest_name> name{};
    const ssize_t size = ::pread(file_.get(), name.data(),
                                 std::min<std::uint64_t>(name.size(), names_size_ - found.name),
                                 static_cast<off_t>(names_at_ + found.name));
    const std::string_view text(name.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
    // A name that is cut would not be one.
    const std::size_t end = text.find('\0');
    return end == std::string_view::npos ? std::string() : std::string(text.substr(0, end));
}

}  // namespace perfgate::elf
