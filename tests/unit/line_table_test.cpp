// SPDX-License-Identifier: Apache-2.0
#include "elf/cubin.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/loaded_code.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::elf {
namespace line_table_test {

using backend::cuda::LoadedCode;
using model::SourcePlace;
using Image = std::vector<char>;
using Places = std::map<std::string, SourcePlace>;

/// A build of line_kernels.cu.
Image image(const std::string& name) {
    std::ifstream stream(std::string(PERFGATE_CUBIN_DIR) + "/" + name + ".cubin", std::ios::binary);
    EXPECT_TRUE(stream.is_open()) << name;
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Nothing if the image itself is refused.
Places places(const Image& image) {
    std::optional<ElfImage> elf;
    try {
        elf.emplace(image);
    } catch (const util::InputError&) {
        return {};
    }
    return function_places(*elf);
}

/// The places that the sources mark.
Places marked() {
    const std::string mark = "// begins: ";
    Places found;
    for (const std::string name : {"line_kernels.cu", "line_kernels.cuh"}) {
        const std::string file =
            std::filesystem::path(PERFGATE_CUBIN_SOURCES "/" + name).lexically_normal().string();
        std::ifstream stream(file);
        std::int64_t number = 1;
        for (std::string line; std::getline(stream, line); ++number) {
            const std::size_t at = line.find(mark);
            if (at != std::string::npos) found[line.substr(at + mark.size())] = {file, number};
        }
    }
    EXPECT_EQ(found.size(), 3U);
    return found;
}

/// `image` with another content of the section, or of none.
Image with_section(Image image, std::string_view name, std::string_view content) {
    Elf64_Ehdr header;
    std::memcpy(&header, image.data(), sizeof(header));
    const std::vector<ElfSection> sections = ElfImage(image).sections();
    for (std::size_t i = 0; i < sections.size(); ++i) {
        if (sections[i].name != name) continue;
        Elf64_Shdr own = sections[i].header;
        own.sh_offset = image.size();
        own.sh_size = content.size();
        std::memcpy(image.data() + header.e_shoff + i * sizeof(own), &own, sizeof(own));
        image.insert(image.end(), content.begin(), content.end());
        return image;
    }
    ADD_FAILURE() << "no section " << name;
    return image;
}

std::string content_of(const Image& image, std::string_view name) {
    const ElfImage elf(image);
    const ElfSection* section = elf.find(name);
    EXPECT_NE(section, nullptr);
    return {section->content.begin(), section->content.end()};
}

// --- tables that nvcc does not write

template <class Number>
std::string bytes(Number value) {
    std::string text(sizeof(value), '\0');
    std::memcpy(text.data(), &value, sizeof(value));
    return text;
}
std::string byte(int value) {
    return {static_cast<char>(value)};
}
std::string terminated(const std::string& text) {
    return text + '\0';
}

const std::string set_address = byte(0) + byte(9) + byte(2) + bytes(std::uint64_t{0});
const std::string end_sequence = byte(0) + byte(1) + byte(1);
const std::string copy = byte(1);
std::string advance_line(int lines) {
    return byte(3) + byte(lines & 0x7f);  // -64 to 63
}
std::string set_file(int file) {
    return byte(4) + byte(file);
}
std::string inlined_at(int row) {
    return byte(0) + byte(3) + byte(0x90) + byte(row) + byte(0);
}

/// What follows the length of a header: to the operands of nine standard opcodes.
std::string header_start(int version) {
    return byte(1) + (version >= 4 ? byte(1) : "") + byte(1) + byte(-5) + byte(14) + byte(10) +
           std::string("\0\1\1\1\1\0\0\0\1", 9);
}

std::string unit(int version, const std::string& header, const std::string& program) {
    std::string text = bytes(static_cast<std::uint16_t>(version));
    if (version >= 5) text += byte(8) + byte(0);
    text += bytes(static_cast<std::uint32_t>(header.size())) + header + program;
    return bytes(static_cast<std::uint32_t>(text.size())) + text;
}

/// A unit of version 2 to 4.
std::string plain_unit(int version, const std::string& folder, const std::string& file,
                       const std::string& program) {
    return unit(version,
                header_start(version) + (folder.empty() ? "" : terminated(folder)) + byte(0) +
                    terminated(file) + byte(folder.empty() ? 0 : 1) + byte(0) + byte(0) + byte(0),
                program);
}

/// The places in a cubin with this line table, whose first address is that of the first function
/// that a relocation of the real table names.
Places with_table(const std::string& table) {
    const Image built = image("lines");
    Elf64_Rela entry;
    const std::string relocations = content_of(built, ".rela.debug_line");
    std::memcpy(&entry, relocations.data(), sizeof(entry));
    entry.r_offset = table.find(set_address) + 3;
    return places(
        with_section(with_section(built, ".debug_line", table), ".rela.debug_line", bytes(entry)));
}

/// The only place; nothing if there is none.
std::optional<SourcePlace> only_place(const std::string& table) {
    const Places found = with_table(table);
    EXPECT_LE(found.size(), 1U);
    if (found.empty()) return std::nullopt;
    return found.begin()->second;
}

TEST(LineTable, SaysWhereTheKernelsOwnCodeBegins) {
    EXPECT_EQ(places(image("lines")), marked());
}

TEST(LineTable, OfRelocatableCodeHasCalledFunctionsToo) {
    Places found = places(image("relocatable_lines"));
    EXPECT_EQ(found.erase("_Z12own_functionf"), 1U);
    EXPECT_EQ(found, marked());
}

TEST(LineTable, OfCodeForDebuggersIsReadAsWell) {
    Places found = places(image("debug_lines"));
    EXPECT_EQ(found.erase("_Z12own_functionf"), 1U);
    EXPECT_EQ(found, marked());
}

TEST(LineTable, IsNotThereWithoutLineinfo) {
    EXPECT_EQ(places(image("base")), Places());
}

TEST(LineTable, OfVersionsTwoToFourIsRead) {
    const std::string program = set_address + advance_line(41) + copy + end_sequence;
    for (const int version : {2, 3, 4}) {
        EXPECT_EQ(only_place(plain_unit(version, "/src/kernels", "a.cu", program)),
                  (SourcePlace{"/src/kernels/a.cu", 42}))
            << version;
    }
}

TEST(LineTable, OfVersionFiveIsReadWithNamesInItsTables) {
    const std::string path_as_string = byte(1) + byte(0x08);
    const std::string folder_as_udata = byte(2) + byte(0x0f);
    const std::string digest_of_16 = byte(5) + byte(0x1e);
    const std::string header = header_start(5) + byte(1) + path_as_string + byte(2) +
                               terminated("/src") + terminated("kernels") + byte(3) +
                               path_as_string + folder_as_udata + digest_of_16 + byte(2) +
                               terminated("unused.cu") + byte(0) + std::string(16, 'x') +
                               terminated("a.cu") + byte(1) + std::string(16, 'x');
    const std::string program = set_address + advance_line(41) + copy + end_sequence;
    EXPECT_EQ(only_place(unit(5, header, program)), (SourcePlace{"/src/kernels/a.cu", 42}));

    // .debug_str is in every build with lines; this offset is not in it.
    const std::string outside = header_start(5) + byte(1) + byte(1) + byte(0x0e) + byte(1) +
                                bytes(std::uint32_t{1} << 30U) + byte(0) + byte(0);
    EXPECT_EQ(only_place(unit(5, outside, program)), std::nullopt);
}

TEST(LineTable, OfAnotherVersionIsSkipped) {
    const std::string program = set_address + advance_line(41) + copy + end_sequence;
    const std::string known = plain_unit(2, "/src", "a.cu", program);
    for (const int version : {0, 1, 6, 0xffff}) {
        const std::string unknown = unit(version, "anything", "at all");
        EXPECT_EQ(only_place(unknown), std::nullopt) << version;
        EXPECT_EQ(only_place(unknown + known), (SourcePlace{"/src/a.cu", 42})) << version;
    }
    // 64-bit DWARF.
    EXPECT_EQ(only_place(bytes(std::uint32_t{0xffffffff}) + known), std::nullopt);
}

TEST(LineTable, RowsOfInlinedFunctionsDoNotCount) {
    const std::string program = set_address + inlined_at(1) + advance_line(2) + copy +
                                inlined_at(0) + advance_line(39) + byte(2) + byte(16) + copy +
                                end_sequence;
    EXPECT_EQ(only_place(plain_unit(2, "/src", "a.cu", program)), (SourcePlace{"/src/a.cu", 42}));
    const std::string all_inlined = set_address + inlined_at(1) + copy + end_sequence;
    EXPECT_EQ(only_place(plain_unit(2, "/src", "a.cu", all_inlined)), std::nullopt);
}

TEST(LineTable, SpecialOpcodesMoveAddressAndLine) {
    // Line + 3, address + 1: 10 + 14 * 1 + (3 + 5).
    const std::string program = set_address + byte(10 + 14 + 8) + end_sequence;
    EXPECT_EQ(only_place(plain_unit(2, "/src", "a.cu", program)), (SourcePlace{"/src/a.cu", 4}));
}

TEST(LineTable, RowsBehindTheFunctionOrWithoutLineDoNotCount) {
    const std::string far = byte(2) + "\xff\xff\xff\x7f" + copy;
    EXPECT_EQ(only_place(plain_unit(2, "/src", "a.cu", set_address + far)), std::nullopt);
    const std::string line_0 = set_address + advance_line(-1) + copy;
    EXPECT_EQ(only_place(plain_unit(2, "/src", "a.cu", line_0)), std::nullopt);
    const std::string below_0 = set_address + advance_line(-5) + copy;
    EXPECT_EQ(only_place(plain_unit(2, "/src", "a.cu", below_0)), std::nullopt);
    const std::string no_such_file = set_address + set_file(2) + copy;
    EXPECT_EQ(only_place(plain_unit(2, "/src", "a.cu", no_such_file)), std::nullopt);
}

TEST(LineTable, WithoutRelocationNoFunctionIsKnown) {
    const std::string program = set_address + copy + end_sequence;
    const std::string table = plain_unit(2, "/src", "a.cu", program);
    EXPECT_TRUE(only_place(table).has_value());
    EXPECT_EQ(places(with_section(with_section(image("lines"), ".debug_line", table),
                                  ".rela.debug_line", "")),
              Places());
}

TEST(LineTable, PathsAreAbsoluteNormalAndPrintable) {
    const std::string program = set_address + copy + end_sequence;
    const auto file_of = [&](const std::string& folder, const std::string& file) {
        return only_place(plain_unit(2, folder, file, program)).value_or(SourcePlace{}).file;
    };
    EXPECT_EQ(file_of("/src/a/..", "../b/./c.cu"), "/b/c.cu");
    EXPECT_EQ(file_of("", "/src/c.cu"), "/src/c.cu");
    EXPECT_EQ(file_of("/src", "c d'e.cu"), "/src/c d'e.cu");
    // The compiler's folder is not in the table.
    EXPECT_EQ(file_of("", "c.cu"), "");
    EXPECT_EQ(file_of("src", "c.cu"), "");
    EXPECT_EQ(file_of("/src", "c\n::error::.cu"), "");
    EXPECT_EQ(file_of("/src", "c\x1b[31m.cu"), "");
    EXPECT_EQ(file_of("/src", "c\xff.cu"), "");
    EXPECT_EQ(file_of("/" + std::string(5000, 'x'), "c.cu"), "");
}

TEST(LineTable, WrongHeadersAreRefused) {
    const std::string program = set_address + copy + end_sequence;
    const std::string good = plain_unit(2, "/src", "a.cu", program);
    EXPECT_TRUE(only_place(good).has_value());
    const auto with_byte = [&](std::size_t at, int value) {
        std::string table = good;
        table[at] = static_cast<char>(value);
        return only_place(table);
    };
    EXPECT_EQ(with_byte(13, 0), std::nullopt);    // line range
    EXPECT_EQ(with_byte(14, 0), std::nullopt);    // opcode base
    EXPECT_EQ(with_byte(6, 0xff), std::nullopt);  // length of the header
    EXPECT_EQ(with_byte(0, 0xff), std::nullopt);  // length of the unit
    // Entries without any field take no space: their number must not be believed.
    const std::string bottomless =
        header_start(5) + byte(0) + "\xff\xff\xff\xff\xff\xff\xff\xff\x7f";
    EXPECT_EQ(only_place(unit(5, bottomless, program)), std::nullopt);
    const std::string unknown_form = header_start(5) + byte(1) + byte(1) + byte(0x19) + byte(1);
    EXPECT_EQ(only_place(unit(5, unknown_form, program)), std::nullopt);
    const std::string endless_number = set_address + byte(2) + std::string(11, '\xff') + copy;
    EXPECT_EQ(only_place(plain_unit(2, "/src", "a.cu", endless_number)), std::nullopt);
}

/// Whatever was read of a damaged table can be shown.
void expect_presentable(const Places& found) {
    for (const auto& [symbol, place] : found) {
        EXPECT_TRUE(place.file.starts_with('/')) << place.file;
        EXPECT_EQ(place.file, util::printable(place.file, place.file.size()));
        EXPECT_GT(place.line, 0);
    }
}

TEST(LineTable, CutAnywhereItIsReadOrNot) {
    const Image whole = image("lines");
    const std::string table = content_of(whole, ".debug_line");
    std::size_t without = 0;
    for (std::size_t length = 0; length < table.size(); ++length) {
        const Places found = places(with_section(whole, ".debug_line", table.substr(0, length)));
        expect_presentable(found);
        without += found.empty() ? 1 : 0;
    }
    EXPECT_EQ(without, table.size());
    for (std::size_t length = 0; length < whole.size(); length += 7) {
        expect_presentable(
            places(Image(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length))));
    }
}

TEST(LineTable, DamagedAnywhereItNeverLeadsOutOfTheImage) {
    const Image whole = image("lines");
    for (const std::string section : {".debug_line", ".rela.debug_line"}) {
        std::string content = content_of(whole, section);
        const Places good = places(whole);
        std::size_t noticed = 0;
        Image damaged = with_section(whole, section, content);
        const std::size_t begin = damaged.size() - content.size();
        for (std::size_t at = begin; at < damaged.size(); ++at) {
            const char was = damaged[at];
            for (int value = 0; value < 256; ++value) {
                damaged[at] = static_cast<char>(value);
                const Places found = places(damaged);
                expect_presentable(found);
                noticed += found != good ? 1 : 0;
            }
            damaged[at] = was;
        }
        EXPECT_GT(noticed, content.size()) << section;
    }
}

TEST(LoadedCode, KnowsThePlacesOfLoadedFunctions) {
    LoadedCode loaded;
    loaded.add(image("lines"));
    for (const auto& [symbol, place] : marked()) EXPECT_EQ(loaded.of(symbol).place, place);
    EXPECT_EQ(loaded.of("unknown").place, SourcePlace());
    loaded.add(image("base"));
    EXPECT_EQ(loaded.of("scale").place, SourcePlace());
    EXPECT_NE(loaded.of("scale").fingerprint, "");
}

TEST(LoadedCode, DifferentPlacesOfOneCodeAreNotToldApart) {
    const Image built = image("lines");
    std::string table = content_of(built, ".debug_line");
    const std::size_t name = table.find("line_kernels.cuh");
    ASSERT_NE(name, std::string::npos);
    table[name] = 'L';
    LoadedCode loaded;
    loaded.add(built);
    loaded.add(with_section(built, ".debug_line", table));
    const std::string moved = "_Z13of_the_headerILi3EEvPf";
    EXPECT_NE(loaded.of(moved).fingerprint, "");
    EXPECT_EQ(loaded.of(moved).place, SourcePlace());
    EXPECT_EQ(loaded.of("calls").place, marked().at("calls"));
}

}  // namespace line_table_test
}  // namespace perfgate::elf
