// SPDX-License-Identifier: Apache-2.0
// What stacks are read from: call frame information and symbol tables, which are untrusted, and
// memory that changes.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "elf/call_frames.hpp"
#include "elf/function_names.hpp"
#include "stacks/memory.hpp"
#include "stacks/native.hpp"
#include "util/error.hpp"

namespace perfgate::elf {
namespace {

/// A module with the information of one function of 64 bytes.
class FrameTable {
  public:
    static constexpr std::uint64_t begin = 0x10000, code = 0x20000;

    FrameTable() {
        bytes({0x01, 0x1b, 0x03, 0x3b});  // version and formats
        word(0);
        word(1);  // entry, by address:
        const std::size_t pair = bytes_.size();
        word(0), word(0);
        const std::size_t common = bytes_.size();
        word(20), word(0);
        bytes({1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b});  // numbers from here, of 4 bytes
        bytes({0x0c, 7, 8, 0x90, 1, 0, 0});             // CFA is rsp + 8, the return address at -8
        const std::size_t entry = bytes_.size();
        word(32), word(static_cast<std::uint32_t>(entry + 4 - common));
        word(static_cast<std::uint32_t>(code - (begin + bytes_.size())));
        word(64);
        bytes({0});
        bytes({0x41, 0x0e, 16, 0x86, 2});       // push %rbp
        bytes({0x43, 0x0d, 6});                 // mov %rsp,%rbp
        bytes({0x0a, 0x60, 0xc6, 0x0c, 7, 8});  // leave
        bytes({0x41, 0x0b, 0, 0, 0});           // code behind the return
        put(pair, static_cast<std::uint32_t>(code - begin));
        put(pair + 4, static_cast<std::uint32_t>(entry));
    }

    FrameRule at(std::uint64_t address) const {
        const auto read = [this](std::uint64_t from, void* to, std::size_t size) {
            if (from < begin || from - begin > bytes_.size() ||
                size > bytes_.size() - (from - begin)) {
                return false;
            }
            std::memcpy(to, bytes_.data() + (from - begin), size);
            return true;
        };
        return frame_rule(read, begin, address);
    }
    std::vector<char>& contents() { return bytes_; }

  private:
    void bytes(std::initializer_list<int> values) {
        for (const int each : values) bytes_.push_back(static_cast<char>(each));
    }
    void word(std::uint32_t value) {
        bytes_.resize(bytes_.size() + sizeof value);
        put(bytes_.size() - sizeof value, value);
    }
    void put(std::size_t at, std::uint32_t value) {
        std::memcpy(bytes_.data() + at, &value, sizeof value);
    }

    std::vector<char> bytes_;
};

TEST(CallFrames, a_rule_holds_from_its_instruction_on) {
    using Base = FrameRule::Base;
    const FrameTable table;
    const auto rule = [&](std::uint64_t offset) { return table.at(FrameTable::code + offset); };
    for (const std::uint64_t offset : {0, 1, 3, 4, 35, 36, 37, 63}) {
        SCOPED_TRACE(offset);
        EXPECT_EQ(-8, rule(offset).return_address);
        const bool pushed = (offset >= 1 && offset < 36) || offset >= 37;
        EXPECT_EQ(pushed, rule(offset).saves_frame_pointer);
        EXPECT_EQ(pushed ? 16 : 8, rule(offset).cfa_offset);
        EXPECT_EQ(pushed ? std::optional<std::int64_t>(-16) : std::nullopt,
                  rule(offset).frame_pointer);
        EXPECT_EQ(pushed && offset >= 4 ? Base::frame_pointer : Base::stack_pointer,
                  rule(offset).base);
    }
    EXPECT_THROW(rule(64), util::InputError);
    EXPECT_THROW(table.at(FrameTable::code - 1), util::InputError);
}

TEST(CallFrames, damaged_tables_do_no_harm) {
    std::minstd_rand random(51);
    int refused = 0;
    for (int i = 0; i < 20000; ++i) {
        FrameTable table;
        std::vector<char>& bytes = table.contents();
        for (int changes = 0; changes < 3; ++changes) {
            bytes[random() % bytes.size()] = static_cast<char>(random());
        }
        if (i % 10 == 0) bytes.resize(random() % bytes.size());
        try {
            table.at(FrameTable::code + random() % 64);
        } catch (const util::InputError&) {
            ++refused;
        }
    }
    EXPECT_LT(5000, refused);
}

__attribute__((noinline)) void named_function() {
    asm volatile("");
}

/// Its address in the file of this program.
std::uint64_t named_address() {
    Dl_info info{};
    link_map* map = nullptr;
    dladdr1(reinterpret_cast<void*>(&named_function), &info, reinterpret_cast<void**>(&map),
            RTLD_DL_LINKMAP);
    return reinterpret_cast<std::uint64_t>(&named_function) - map->l_addr;
}

TEST(FunctionNames, are_those_of_the_symbol_table) {
    const FunctionNames names(util::Descriptor(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)));
    EXPECT_NE(std::string::npos, names.at(named_address()).find("named_function"));
    EXPECT_EQ("", names.at(0));
    EXPECT_EQ("", names.at(UINT64_MAX));
}

TEST(FunctionNames, damaged_files_do_no_harm) {
    std::ifstream own("/proc/self/exe", std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(own), {}};
    const std::filesystem::path path = testing::TempDir() + "damaged-elf";
    EXPECT_THROW(FunctionNames{util::Descriptor()}, util::InputError);
    EXPECT_THROW(FunctionNames{util::Descriptor(open("/dev/null", O_RDONLY))}, util::InputError);
    ElfW(Ehdr) header{};
    std::memcpy(&header, whole.data(), sizeof header);
    std::minstd_rand random(51);
    int refused = 0;
    for (int i = 0; i < 200; ++i) {
        std::ofstream(path, std::ios::binary) << whole;
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        const std::uint64_t sections = header.e_shnum * sizeof(ElfW(Shdr));
        for (int changes = 0; changes < 20; ++changes) {
            file.seekp(static_cast<std::streamoff>(
                i % 4 == 0 ? random() % sizeof header : header.e_shoff + random() % sections));
            file.put(static_cast<char>(random()));
        }
        file.close();
        if (i % 3 == 0) std::filesystem::resize_file(path, random() % whole.size());
        try {
            const FunctionNames names(util::Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)));
            EXPECT_GE(512u, names.at(named_address()).size());
        } catch (const util::InputError&) {
            ++refused;
        }
    }
    std::filesystem::remove(path);
    EXPECT_LT(50, refused);
}

#ifdef __x86_64__

/// The functions of a stack whose innermost function was just called.
std::vector<std::uint32_t> stack_of(stacks::Native& native, stacks::Native::Places& places,
                                    std::uint64_t look, const void* instruction,
                                    const void* return_to) {
    constexpr stacks::Address at = 0x1000;
    const auto memory = [&](std::uint64_t from, void* to, std::size_t size) {
        if (from != at || size != sizeof return_to) return false;
        std::memcpy(to, &return_to, size);
        return true;
    };
    std::vector<std::uint32_t> functions;
    native.stack(memory, places, look,
                 {reinterpret_cast<stacks::Address>(instruction), at, std::nullopt}, functions);
    return functions;
}

__attribute__((noinline)) const void* place_behind_own_call() {
    asm volatile("");
    return __builtin_return_address(0);
}

TEST(NativeStacks, have_only_callers_that_are_at_a_call) {
    stacks::Native native;
    stacks::Native::Places places(getpid());
    const auto* const function = reinterpret_cast<const char*>(&named_function);
    const void* const caller = place_behind_own_call();
    const auto called = stack_of(native, places, 0, function, caller);
    ASSERT_EQ(2u, called.size());
    EXPECT_NE(std::string::npos, native.name(called[0]).find("named_function"));
    EXPECT_EQ(1u, stack_of(native, places, 0, function, function + 1).size());
}

TEST(NativeStacks, are_of_what_is_mapped_now) {
    std::ifstream own("/proc/self/exe", std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(own), {}};
    void* at = nullptr;
    stacks::Native native;
    stacks::Native::Places places(getpid());
    for (const std::uint64_t look : {1, 2}) {
        const std::filesystem::path path = testing::TempDir() + "mapped-" + std::to_string(look);
        content[EI_NIDENT - 1] = static_cast<char>(look);
        std::ofstream(path, std::ios::binary) << content;
        const util::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        at = mmap(at, content.size(), PROT_READ | PROT_EXEC,
                  MAP_PRIVATE | (at == nullptr ? 0 : MAP_FIXED), file.get(), 0);
        ASSERT_NE(MAP_FAILED, at);
        const auto functions =
            stack_of(native, places, look, static_cast<const char*>(at) + named_address(), nullptr);
        ASSERT_EQ(1u, functions.size());
        EXPECT_EQ(path, native.file(functions[0]));
        std::filesystem::remove(path);
    }
    munmap(at, content.size());
}

#endif

TEST(RepeatedReads, are_of_one_moment_and_others_are_made_when_asked) {
    std::array<int, 3> values{1, 2, 3};
    const auto at = [&](std::size_t i) { return reinterpret_cast<stacks::Address>(&values[i]); };
    stacks::RepeatedReads reads{stacks::Memory(getpid())};
    int first = 0, second = 0, third = 0;
    for (const int base : {0, 10}) {
        values = {base + 1, base + 2, base + 3};
        reads.repeat();
        if (base != 0) values[0] = values[2] = 99;  // only the third is read now
        EXPECT_TRUE(reads.read(at(base == 0 ? 2 : 0), base == 0 ? third : first));
        EXPECT_TRUE(reads.read(at(base == 0 ? 0 : 2), base == 0 ? first : third));
        EXPECT_TRUE(reads.read(at(1), second));
        EXPECT_EQ(base + 2, second);
    }
    EXPECT_EQ(11, first);
    EXPECT_EQ(99, third) << "another order than the time before";
}

TEST(RepeatedReads, memory_that_is_gone_is_not_there) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const mapped =
        mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int stays = 7;
    int value = 0;
    stacks::RepeatedReads reads{stacks::Memory(getpid())};
    for (const bool there : {true, false}) {
        reads.repeat();
        EXPECT_TRUE(reads.read(reinterpret_cast<stacks::Address>(&stays), value));
        EXPECT_EQ(there, reads.read(reinterpret_cast<stacks::Address>(mapped), value));
        EXPECT_TRUE(reads.read(reinterpret_cast<stacks::Address>(&stays), value));
        if (there) munmap(mapped, page);
    }
    EXPECT_EQ(7, value);
}

}  // namespace
}  // namespace perfgate::elf
