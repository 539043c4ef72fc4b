// SPDX-License-Identifier: Apache-2.0
// Sizes of stacks and code, compared with what nvcc, nvlink and readelf say of the same cubins.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "backend/cuda/loaded_code.hpp"
#include "elf/cubin.hpp"
#include "util/error.hpp"

namespace perfgate::elf {
namespace stack_size_test {

using backend::cuda::LoadedCode;
using Image = std::vector<char>;
using Sizes = std::map<std::string, std::int64_t>;

const std::string folder = PERFGATE_CUBIN_DIR "/";

std::string content(const std::string& file) {
    std::ifstream stream(folder + file, std::ios::binary);
    EXPECT_TRUE(stream.is_open()) << file;
    return {std::istreambuf_iterator<char>(stream), {}};
}

Image image(const std::string& name) {
    const std::string bytes = content(name + ".cubin");
    return {bytes.begin(), bytes.end()};
}

/// Nothing if the image itself is refused.
Sizes stacks(const Image& image) {
    std::optional<ElfImage> elf;
    try {
        elf.emplace(image);
    } catch (const util::InputError&) {
        return {};
    }
    return stack_sizes(*elf);
}

TEST(ParameterSizes, AreThoseOfTheKernelsDeclaration) {
    const Image second = image("second");
    using Bytes = std::vector<std::size_t>;
    EXPECT_EQ(parameter_sizes(ElfImage(second), "a_second_kernel"), (Bytes{8, 4}));
    EXPECT_EQ(parameter_sizes(ElfImage(second), "scale"), (Bytes{8, 4}));
    EXPECT_EQ(parameter_sizes(ElfImage(second), "absent"), std::nullopt);
}

TEST(ParameterSizes, OfADamagedImageAreNotKnown) {
    Image damaged = image("base");
    const auto info = [](const Image& of) { return ElfImage(of).find(".nv.info.scale")->header; };
    const Elf64_Shdr header = info(damaged);
    for (std::size_t at = 0; at + sizeof(std::uint32_t) <= header.sh_size; at += 4) {
        Image changed = damaged;
        changed[header.sh_offset + at] = 9;  // a format that is none
        const auto sizes = parameter_sizes(ElfImage(changed), "scale");
        EXPECT_TRUE(!sizes || sizes->size() <= 2) << at;
    }
    damaged[header.sh_offset] = 9;
    EXPECT_EQ(parameter_sizes(ElfImage(damaged), "scale"), std::nullopt);
}

/// The number that follows each name in the text.
Sizes numbers(const std::string& text, const std::string& pattern) {
    const std::regex search(pattern);
    Sizes found;
    for (std::sregex_iterator at(text.begin(), text.end(), search), end; at != end; ++at) {
        found[(*at)[1]] = std::stoll("0" + (*at)[2].str());
    }
    EXPECT_FALSE(found.empty()) << pattern << "\n" << text;
    return found;
}

/// Bytes in ".text.SYMBOL", as readelf lists them.
Sizes sections(const std::string& name) {
    const std::string command = "readelf -SW '" + folder + name + ".cubin' 2>/dev/null";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    EXPECT_NE(pipe, nullptr);
    std::string text;
    for (int c = 0; pipe && (c = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
    Sizes sizes;
    const std::regex row(R"(\.text\.(\S+)\s+PROGBITS\s+\S+\s+\S+\s+(\S+))");
    for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
        sizes[(*at)[1]] = std::stoll((*at)[2], nullptr, 16);
    }
    EXPECT_FALSE(sizes.empty()) << text;
    return sizes;
}

TEST(StackSize, IsWhatTheCompilerSays) {
    const Sizes said = numbers(
        content("stack.report"),
        R"(entry function '(\w+)' for [^]*?: Used \d+ registers[^\n]*?(?:(\d+) bytes cumulative stack[^\n]*)?\n)");
    EXPECT_EQ(said.size(), 4U);
    EXPECT_EQ(said.at("no_stack"), 0);
    EXPECT_GE(said.at("own_stack"), 256);
    EXPECT_GT(said.at("own_and_called_stack"), said.at("own_stack"));
    EXPECT_EQ(stacks(image("stack")), said);
}

TEST(StackSize, IsWhatTheLinkerSaysWhichDoesNotKnowRecursion) {
    const std::string report = content("linked_stack.report");
    ASSERT_NE(report.find("entry function 'unknown_if_linked' cannot be statically determined"),
              std::string::npos)
        << report;
    Sizes said =
        numbers(report, R"(properties for '(\w+)':\s+nvlink info\s+: used[^\n]* (\d+) stack)");
    EXPECT_EQ(said.erase("unknown_if_linked"), 1U);
    EXPECT_EQ(said.size(), 3U);
    EXPECT_GE(said.at("own_and_called_stack"), 256 + 128);
    EXPECT_EQ(stacks(image("linked_stack")), said);
}

TEST(CodeSize, IsThatOfTheSections) {
    const Image built = image("stack");
    Sizes sizes;
    for (const auto& [symbol, code] : machine_code(ElfImage(built))) sizes[symbol] = code.bytes;
    EXPECT_EQ(sizes.size(), 4U);
    EXPECT_EQ(sizes, sections("stack"));
}

TEST(CodeSize, OfLinkedCodeIncludesCalledFunctions) {
    const Image built = image("linked_stack");
    const Sizes alone = sections("linked_stack");
    const std::map<std::string, MachineCode> code = machine_code(ElfImage(built));
    EXPECT_EQ(code.at("own_stack").bytes, alone.at("own_stack"));
    // The compiler may add to the name of the called function.
    const auto called = alone.lower_bound("_Z10with_stackPfi");
    ASSERT_NE(called, alone.end());
    ASSERT_TRUE(called->first.starts_with("_Z10with_stackPfi")) << called->first;
    EXPECT_EQ(code.at("own_and_called_stack").bytes,
              alone.at("own_and_called_stack") + called->second);
}

TEST(StackSize, DamagedAnywhereItIsReadOrNot) {
    Image damaged = image("stack");
    const Sizes good = stacks(damaged);
    ASSERT_FALSE(good.empty());
    const ElfImage elf(damaged);
    const ElfSection* info = elf.find(".nv.info");
    ASSERT_NE(info, nullptr);
    const auto begin = static_cast<std::size_t>(info->content.data() - damaged.data());
    const std::size_t end = begin + info->content.size();
    std::size_t noticed = 0;
    for (std::size_t at = begin; at < end; ++at) {
        const char was = damaged[at];
        for (int value = 0; value < 256; ++value) {
            damaged[at] = static_cast<char>(value);
            const Sizes found = stacks(damaged);
            noticed += found != good ? 1 : 0;
            for (const auto& [symbol, bytes] : found) {
                EXPECT_TRUE(good.contains(symbol)) << symbol;
                EXPECT_GE(bytes, 0);
            }
        }
        damaged[at] = was;
    }
    EXPECT_GT(noticed, (end - begin) * 16);
}

TEST(StackSize, CutAnywhereItIsReadOrNot) {
    const Image whole = image("stack");
    const Sizes good = stacks(whole);
    const ElfImage elf(whole);
    Elf64_Ehdr header;
    std::memcpy(&header, whole.data(), sizeof(header));
    for (std::size_t i = 0; i < elf.sections().size(); ++i) {
        if (elf.sections()[i].name != ".nv.info") continue;
        Elf64_Shdr own = elf.sections()[i].header;
        const std::uint64_t size = own.sh_size;
        for (own.sh_size = 0; own.sh_size < size; ++own.sh_size) {
            Image cut = whole;
            std::memcpy(cut.data() + header.e_shoff + i * sizeof(own), &own, sizeof(own));
            EXPECT_LT(stacks(cut).size(), good.size()) << own.sh_size;
        }
    }
}

TEST(LoadedCode, KnowsSizesOfLoadedFunctions) {
    LoadedCode loaded;
    loaded.add(image("linked_stack"));
    EXPECT_EQ(loaded.of("own_stack").code_bytes, sections("linked_stack").at("own_stack"));
    EXPECT_EQ(loaded.of("own_stack").stack_bytes, stacks(image("linked_stack")).at("own_stack"));
    EXPECT_EQ(loaded.of("no_stack").stack_bytes, 0);
    EXPECT_EQ(loaded.of("unknown_if_linked").stack_bytes, std::nullopt);
    EXPECT_NE(loaded.of("unknown_if_linked").code_bytes, std::nullopt);
    EXPECT_EQ(loaded.of("other").code_bytes, std::nullopt);
}

}  // namespace stack_size_test
}  // namespace perfgate::elf
