// SPDX-License-Identifier: Apache-2.0
#include "elf/cubin.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "backend/cuda/loaded_code.hpp"
#include "util/error.hpp"

namespace perfgate::elf {
namespace cubin_test {

using backend::cuda::LoadedCode;
using backend::cuda::LoadedFunction;
using Image = std::vector<char>;
using Code = std::map<std::string, MachineCode>;

/// A build of cubin_kernels.cu.
Image image(const std::string& name) {
    std::ifstream stream(std::string(PERFGATE_CUBIN_DIR) + "/" + name + ".cubin", std::ios::binary);
    EXPECT_TRUE(stream.is_open()) << name;
    return {std::istreambuf_iterator<char>(stream), {}};
}

Code code(const std::string& name) {
    return machine_code(ElfImage(image(name)));
}

std::string message_of(const Image& cubin) {
    try {
        machine_code(ElfImage(cubin));
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "(no error)";
}

/// `image` with a changed file header.
template <class Change>
Image with_header(Image image, const Change& change) {
    Elf64_Ehdr header;
    std::memcpy(&header, image.data(), sizeof(header));
    change(header);
    std::memcpy(image.data(), &header, sizeof(header));
    return image;
}

TEST(Cubin, TellsEveryKernelApart) {
    const Code base = code("base");
    ASSERT_TRUE(base.contains("scale"));
    ASSERT_TRUE(base.contains("through_helper"));
    EXPECT_EQ(base.at("scale").fingerprint.size(), 32U);
    EXPECT_NE(base.at("scale"), base.at("through_helper"));
}

TEST(Cubin, ItsArchitectureIsThatOfTheFormat) {
    const auto of = [](int version, unsigned flags) {
        const Image changed = with_header(image("base"), [&](Elf64_Ehdr& header) {
            header.e_ident[EI_ABIVERSION] = static_cast<unsigned char>(version);
            header.e_flags = flags;
        });
        return ElfImage(changed).architecture();
    };
    EXPECT_EQ(of(8, 0x6005a04), 90);
    EXPECT_EQ(of(8, 0x6007802), 120);
    EXPECT_EQ(of(7, 0x500550), 80);
    EXPECT_EQ(of(9, 0x6005a04), 0) << "unknown";
}

TEST(Cubin, TheSameSourceHasTheSameCode) {
    EXPECT_EQ(code("base"), code("again"));
}

TEST(Cubin, AChangedKernelChangesAndItsNeighbourDoesNot) {
    const Code base = code("base");
    const Code changed = code("changed");
    EXPECT_NE(base.at("scale"), changed.at("scale"));
    EXPECT_EQ(base.at("through_helper"), changed.at("through_helper"));
}

TEST(Cubin, ASecondKernelInTheModuleChangesNothing) {
    for (const std::string kind : {"", "relocatable_"}) {
        const Code base = code(kind + "base");
        const Code second = code(kind + "second");
        EXPECT_TRUE(second.contains("a_second_kernel"));
        EXPECT_EQ(base.at("scale"), second.at("scale")) << kind;
        EXPECT_EQ(base.at("through_helper"), second.at("through_helper")) << kind;
    }
}

TEST(Cubin, WhatVariablesBeginWithIsNoCode) {
    const auto values = [](const std::string& name) {
        const Image content = image(name);
        return initial_values(ElfImage(content));
    };
    EXPECT_EQ(code("second"), code("values")) << "another table, the same instructions";
    EXPECT_NE(values("second"), values("values"));
    EXPECT_EQ(values("base"), "") << "it has no variables";
    EXPECT_EQ(values("base"), values("changed"));
}

TEST(LoadedCode, AModuleOfACaseIsKnownByWhatItsVariablesBeginWith) {
    const auto loaded = [](const std::string& name, bool for_a_case) {
        LoadedCode code;
        if (for_a_case) code.begin_layer();
        code.add(image(name));
        return code.of("a_second_kernel").fingerprint;
    };
    EXPECT_NE(loaded("second", true), loaded("values", true));
    EXPECT_EQ(loaded("second", true), loaded("second", true));
    EXPECT_EQ(loaded("second", false), loaded("values", false)) << "of a plugin its file tells";
}

TEST(Cubin, WhatAKernelCallsBelongsToIt) {
    for (const std::string kind : {"", "relocatable_"}) {
        const Code base = code(kind + "base");
        const Code changed = code(kind + "helper");
        EXPECT_NE(base.at("through_helper"), changed.at("through_helper")) << kind;
        EXPECT_EQ(base.at("scale"), changed.at("scale")) << kind;
    }
    // There the helper is a function of its own.
    EXPECT_TRUE(code("relocatable_base").contains("_Z6helperf"));
}

TEST(Cubin, WhatIsNoCubinIsRefused) {
    EXPECT_NE(message_of({}).find("damaged"), std::string::npos);
    EXPECT_NE(message_of(Image(1000, 'x')).find("not a 64-bit ELF"), std::string::npos);
    const auto x86 = with_header(image("base"), [](auto& header) { header.e_machine = EM_X86_64; });
    EXPECT_NE(message_of(x86).find("not a 64-bit ELF"), std::string::npos);
}

TEST(Cubin, CountsAndOffsetsThatLieAreRefused) {
    const Image base = image("base");
    using Header = Elf64_Ehdr;
    const std::vector<void (*)(Header&)> lies = {
        [](Header& header) { header.e_shoff = std::numeric_limits<Elf64_Off>::max() - 10; },
        [](Header& header) { header.e_shoff += 1 << 20; },
        [](Header& header) { header.e_shentsize = 1; },
        [](Header& header) { header.e_shnum = 0xfeff; },
        [](Header& header) { header.e_shstrndx = 0xfe00; },
    };
    for (const auto& lie : lies) {
        EXPECT_NE(message_of(with_header(base, lie)).find("damaged"), std::string::npos);
    }
    EXPECT_TRUE(
        ElfImage(with_header(base, [](Header& header) { header.e_shoff = 0; })).sections().empty());
}

/// An image of only section headers and, behind them, a text that each section has as its name or
/// its content.
Image of_sections_that_share(std::size_t sections, bool names) {
    const std::size_t shared = sizeof(Elf64_Ehdr) + sections * sizeof(Elf64_Shdr);
    Image base = with_header(image("base"), [&](Elf64_Ehdr& header) {
        header.e_shoff = sizeof header;
        header.e_shnum = static_cast<Elf64_Half>(sections);
        header.e_shstrndx = 1;
    });
    base.assign(base.begin(), base.begin() + sizeof(Elf64_Ehdr));
    base.resize(shared, 0);
    base.resize(shared + (std::size_t{1} << 16), 'n');
    base.back() = '\0';
    for (std::size_t i = 1; i < sections; ++i) {
        Elf64_Shdr section{};
        section.sh_type = SHT_PROGBITS;
        section.sh_offset = shared;
        section.sh_name = i == 1 || names ? 0 : (1U << 16) - 1;
        section.sh_size = i == 1 || !names ? std::size_t{1} << 16 : 0;
        std::memcpy(&base[sizeof(Elf64_Ehdr) + i * sizeof section], &section, sizeof section);
    }
    return base;
}

TEST(Cubin, SectionsThatShareNamesOrBytesTakeNoLongerThanTheFile) {
    for (const bool names : {true, false}) {
        EXPECT_EQ(message_of(of_sections_that_share(3, names)), "(no error)");
        EXPECT_NE(message_of(of_sections_that_share(1000, names)).find("share"), std::string::npos);
    }
}

TEST(Cubin, ItsKernelsAreThoseOfTheSource) {
    const Image second = image("second");
    const ElfImage cubin(second);
    const auto listed = kernels(cubin);
    EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()),
              (std::set<std::string>{"a_second_kernel", "scale", "through_helper"}));
}

TEST(Cubin, CutAnywhereItIsRefusedOrRead) {
    const Image base = image("relocatable_base");
    std::size_t refused = 0;
    for (std::size_t length = 0; length < base.size(); length += 37) {
        if (message_of(Image(base.begin(), base.begin() + static_cast<std::ptrdiff_t>(length))) !=
            "(no error)") {
            ++refused;
        }
    }
    // The section headers come last but for the program headers.
    EXPECT_GT(refused, base.size() / 37 / 2);
}

TEST(Cubin, DamagedBytesNeverLeadOutOfTheImage) {
    const Image base = image("relocatable_base");
    std::mt19937 random(7);
    std::set<std::string> messages;
    for (int i = 0; i < 2000; ++i) {
        Image damaged = base;
        for (int n = 0; n < 8; ++n) {
            damaged[random() % damaged.size()] = static_cast<char>(random());
        }
        messages.insert(message_of(damaged));
    }
    EXPECT_GT(messages.size(), 2U);
}

TEST(LoadedCode, KnowsWhatWasLoadedAndNoMore) {
    LoadedCode loaded;
    EXPECT_EQ(loaded.of("scale").fingerprint, "");
    loaded.add(Image(100, 'x'));
    EXPECT_EQ(loaded.of("scale").fingerprint, "");
    loaded.add(image("base"));
    loaded.add(image("second"));
    EXPECT_EQ(loaded.of("scale").fingerprint, code("base").at("scale").fingerprint);
    EXPECT_EQ(loaded.of("a_second_kernel").fingerprint,
              code("second").at("a_second_kernel").fingerprint);
}

TEST(LoadedCode, AModuleOfACaseHidesOthersWhileItLives) {
    LoadedCode loaded;
    loaded.add(image("base"));
    const LoadedCode::Layer layer = loaded.begin_layer();
    loaded.add(image("changed"));
    loaded.fill_layer(std::nullopt);
    EXPECT_EQ(loaded.of("scale").fingerprint, code("changed").at("scale").fingerprint);
    // What is loaded meanwhile is not the case's.
    loaded.add(image("second"));
    EXPECT_EQ(loaded.of("scale").fingerprint, code("changed").at("scale").fingerprint);
    loaded.end_layer(layer);
    EXPECT_EQ(loaded.of("scale").fingerprint, code("base").at("scale").fingerprint);
    EXPECT_NE(loaded.of("a_second_kernel").fingerprint, "");
    // A layer that ends while it is filled is filled no more.
    loaded.end_layer(loaded.begin_layer());
    loaded.add(image("changed"));
    EXPECT_EQ(loaded.of("scale"), LoadedFunction());
}

TEST(LoadedCode, TwoKernelsOfOneNameAreNotToldApart) {
    LoadedCode loaded;
    loaded.add(image("base"));
    loaded.add(image("changed"));
    loaded.add(image("base"));
    EXPECT_EQ(loaded.of("scale"), LoadedFunction());
    EXPECT_EQ(loaded.of("through_helper").fingerprint,
              code("base").at("through_helper").fingerprint);
}

}  // namespace cubin_test
}  // namespace perfgate::elf
