// SPDX-License-Identifier: Apache-2.0
#include "util/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

namespace perfgate::model {
namespace {

using std::string_literals::operator""s;

TEST(Glob, StarMatchesAnyRunAndQuestionMarkOneCharacter) {
    EXPECT_TRUE(util::glob_match("*", ""));
    EXPECT_TRUE(util::glob_match("gemm/*", "gemm/tiled[m=16]"));
    EXPECT_TRUE(util::glob_match("*tiled*", "gemm/tiled[m=16]"));
    EXPECT_TRUE(util::glob_match("g??m/*", "gemm/naive"));
    EXPECT_FALSE(util::glob_match("g??m/*", "gem/naive"));
    EXPECT_FALSE(util::glob_match("gemm", "gemm/naive"));
    EXPECT_FALSE(util::glob_match("?", ""));
    EXPECT_TRUE(util::glob_match("", ""));
    EXPECT_FALSE(util::glob_match("", "a"));
}

TEST(Glob, BracketsStandForThemselves) {
    EXPECT_TRUE(util::glob_match("gemm/tiled[m=16]", "gemm/tiled[m=16]"));
    EXPECT_FALSE(util::glob_match("gemm/tiled[m]", "gemm/tiledm"));
    EXPECT_TRUE(util::glob_match("*[*m=16*]", "gemm/tiled[k=4,m=16,n=2]"));
}

TEST(Glob, QuestionMarkTakesAWholeCodePoint) {
    EXPECT_TRUE(util::glob_match("?", "é"));
    EXPECT_FALSE(util::glob_match("??", "é"));
    EXPECT_TRUE(util::glob_match("*?b", "aéb"));
}

TEST(Glob, MayMatchWhatBeginsWithAPrefix) {
    for (const char* pattern :
         {"*", "bench/*", "bench/sort", "be*", "b?nch/x", "bench/*[n=1]", "*x"}) {
        EXPECT_TRUE(util::glob_may_match(pattern, "bench/")) << pattern;
    }
    for (const char* pattern : {"", "bench", "other/*", "benches/*", "bench-2/sort"}) {
        EXPECT_FALSE(util::glob_may_match(pattern, "bench/")) << pattern;
    }
}

TEST(Glob, ManyStarsAreNotExponential) {
    std::string pattern;
    for (int i = 0; i < 200; ++i) pattern += "*a";
    EXPECT_FALSE(util::glob_match(pattern + "b", std::string(5000, 'a')));
    EXPECT_TRUE(util::glob_match(pattern, std::string(5000, 'a')));
}

TEST(NearestName, FindsTyposOnly) {
    const std::vector<std::string> names = {"naive", "tiled", "tensor_core", "cublas"};
    EXPECT_EQ(util::nearest_name("tild", names), "tiled");
    EXPECT_EQ(util::nearest_name("naïve", names), "naive");
    EXPECT_EQ(util::nearest_name("tensorcore", names), "tensor_core");
    EXPECT_EQ(util::nearest_name("itled", names), "tiled");  // swapped neighbours are one mistake
    EXPECT_EQ(util::nearest_name("quicksort", names), std::nullopt);
    EXPECT_EQ(util::nearest_name("", names), std::nullopt);
    EXPECT_EQ(util::nearest_name("x", {}), std::nullopt);
    EXPECT_EQ(util::nearest_name("k", {"m"}), std::nullopt);  // nothing in common
}

TEST(NearestName, TheFirstOfEquallyNearNamesWins) {
    EXPECT_EQ(util::nearest_name("bat", {"cat", "hat"}), "cat");
}

TEST(NearestName, IgnoresWhatIsTooLongToBeATypo) {
    EXPECT_EQ(util::nearest_name(std::string(1 << 20, 'a'), {std::string(1 << 20, 'a')}),
              std::nullopt);
    EXPECT_EQ(util::nearest_name("aaaa", {std::string(1 << 20, 'a')}), std::nullopt);
    EXPECT_EQ(util::nearest_name(std::string(128, 'a'), {std::string(127, 'a')}),
              std::string(127, 'a'));
}

TEST(DidYouMean, IsASentenceOrNothing) {
    EXPECT_EQ(util::did_you_mean("tild", {"tiled"}), "; did you mean 'tiled'?");
    EXPECT_EQ(util::did_you_mean("zzz", {"tiled"}), "");
    EXPECT_EQ(util::did_you_mean("tile\x1b", {"tile\x1b["}), "; did you mean 'tile?['?");
}

TEST(Printable, ReplacesWhatATerminalWouldObey) {
    EXPECT_EQ(util::printable("a\x1b[31mb"), "a?[31mb");
    EXPECT_EQ(util::printable("a\nb\tc\r"), "a?b?c?");
    EXPECT_EQ(util::printable("nul\0end"s), "nul?end");
    EXPECT_EQ(util::printable("del\x7f c1\xc2\x9b"), "del? c1?");
    EXPECT_EQ(util::printable("line\xe2\x80\xa8sep"), "line?sep");
    EXPECT_EQ(util::printable("bidi\xe2\x80\xae override"), "bidi? override");
    EXPECT_EQ(util::printable("bad\xff utf8\xc3"), "bad? utf8?");
    EXPECT_EQ(util::printable("grün 漢字 😀"), "grün 漢字 😀");
}

TEST(Printable, CutsAtAWholeCharacterWithinTheLimit) {
    EXPECT_EQ(util::printable("abcdef", 6), "abcdef");
    EXPECT_EQ(util::printable("abcdefg", 6), "abc…");
    EXPECT_EQ(util::printable("ééé", 5), "é…");  // 2 + 3 bytes
    EXPECT_EQ(util::printable("abc", 0), "");
    EXPECT_EQ(util::printable("abcdef", 2), "");
    for (std::size_t limit = 0; limit < 40; ++limit) {
        const std::string text = util::printable("漢字漢字é漢字漢字", limit);
        EXPECT_LE(text.size(), limit);
        EXPECT_EQ(util::valid_utf8(text), text);
    }
}

TEST(PrintableAsciiLength, EndsBeforeTheFirstOtherByte) {
    EXPECT_EQ(util::printable_ascii_length(""), 0u);
    EXPECT_EQ(util::printable_ascii_length(" !~"), 3u);
    for (const char* text : {"ab\n", "ab\x7f", "abé", "ab\x1b[0m", "ab\xff"}) {
        EXPECT_EQ(util::printable_ascii_length(text), 2u) << text;
    }
    EXPECT_EQ(util::printable_ascii_length("ab\0c"s), 2u);
}

TEST(TerminalControl, IsAllOfC0AndC1AndNothingBesides) {
    for (const char32_t c : {0x00, 0x1f, 0x7f, 0x80, 0x9f, 0x2028, 0x202e, 0x2066, 0x2069}) {
        EXPECT_TRUE(util::is_terminal_control(c)) << static_cast<std::uint32_t>(c);
    }
    for (const char32_t c : {0x20, 0x7e, 0xa0, 0x2027, 0x202f, 0x2065, 0x206a}) {
        EXPECT_FALSE(util::is_terminal_control(c)) << static_cast<std::uint32_t>(c);
    }
}

TEST(ValidUtf8, KeepsWhatIsValid) {
    for (const char* text : {"", "plain", "é", "漢", "😀", "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf",
                             "\xed\x9f\xbf", "\xee\x80\x80", "tab\tnewline\n"}) {
        EXPECT_EQ(util::valid_utf8(text), text);
    }
}

TEST(ValidUtf8, ReplacesEachIllFormedSequence) {
    const std::string r = "\xef\xbf\xbd";
    EXPECT_EQ(util::valid_utf8("a\x80z"), "a" + r + "z");
    EXPECT_EQ(util::valid_utf8("\xc0\xaf"), r + r);                  // overlong '/'
    EXPECT_EQ(util::valid_utf8("\xe0\x80\xaf"), r + r + r);          // overlong
    EXPECT_EQ(util::valid_utf8("\xed\xa0\x80"), r + r + r);          // surrogate
    EXPECT_EQ(util::valid_utf8("\xf4\x90\x80\x80"), r + r + r + r);  // over U+10FFFF
    EXPECT_EQ(util::valid_utf8("\xf8\x88\x80\x80\x80"), r + r + r + r + r);
    EXPECT_EQ(util::valid_utf8("\xe6\xbc"), r);  // cut off: one sequence
    EXPECT_EQ(util::valid_utf8("\xf0\x9f\x98"
                               "a"),
              r + "a");
}

TEST(ValidUtf8, RandomBytesAlwaysBecomeValid) {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes(random() % 24, '\0');
        // Mostly bytes with the high bit, where the rules are.
        for (char& byte : bytes) {
            byte = static_cast<char>(random() % 4 ? 0x80 | random() : random());
        }
        const std::string text = util::valid_utf8(bytes);
        EXPECT_EQ(util::valid_utf8(text), text);
        for (std::size_t i = 0; i < text.size();) {
            const util::Utf8Step step = util::utf8_step(text, i);
            ASSERT_TRUE(step.valid);
            ASSERT_FALSE(step.code_point >= 0xd800 && step.code_point <= 0xdfff);
            ASSERT_LE(step.code_point, 0x10ffffu);
            i += step.length;
        }
    }
}

TEST(Utf8Step, DecodesCodePoints) {
    EXPECT_EQ(util::utf8_step("é", 0).code_point, 0xe9u);
    EXPECT_EQ(util::utf8_step("a漢", 1).code_point, 0x6f22u);
    EXPECT_EQ(util::utf8_step("😀", 0).code_point, 0x1f600u);
    EXPECT_EQ(util::utf8_step("\xe0\xa4\x85", 0).code_point, 0x905u);
    EXPECT_EQ(util::utf8_step("\xf4\x8f\xbf\xbf", 0).code_point, 0x10ffffu);
    EXPECT_EQ(util::utf8_step("\xed\x9f\xbf", 0).code_point, 0xd7ffu);
    EXPECT_EQ(util::utf8_step("a", 1).length, 0u);
}

TEST(NumberText, IsShortestAndReadsBack) {
    EXPECT_EQ(util::number_text(0), "0");
    EXPECT_EQ(util::number_text(-0.0), "-0.0");
    EXPECT_EQ(util::number_text(42), "42");
    EXPECT_EQ(util::number_text(100000), "100000");
    EXPECT_EQ(util::number_text(0.1), "0.1");
    EXPECT_EQ(util::number_text(0.1 + 0.2), "0.30000000000000004");
    EXPECT_EQ(util::number_text(-2.5), "-2.5");
    EXPECT_EQ(util::number_text(1e300), "1e+300");
    std::mt19937_64 random(11);
    for (int round = 0; round < 5000; ++round) {
        double value = 0;
        const std::uint64_t bits = random();
        std::memcpy(&value, &bits, sizeof value);
        if (!std::isfinite(value)) continue;
        EXPECT_EQ(std::strtod(util::number_text(value).c_str(), nullptr), value);
    }
    EXPECT_EQ(
        std::strtod(util::number_text(std::numeric_limits<double>::denorm_min()).c_str(), nullptr),
        std::numeric_limits<double>::denorm_min());
}

TEST(Slug, NamesAFolder) {
    EXPECT_EQ(util::slug("NVIDIA H100 80GB HBM3"), "nvidia-h100-80gb-hbm3");
    EXPECT_EQ(util::slug("  A100-SXM4 (40GB) "), "a100-sxm4-40gb");
    EXPECT_EQ(util::slug("../../etc/passwd"), "etc-passwd");
    EXPECT_EQ(util::slug(".."), "unknown");
    EXPECT_EQ(util::slug(""), "unknown");
    EXPECT_EQ(util::slug("Größe"), "gr-e");
}

TEST(IsHex, TakesThisManyDigitsInLowerCase) {
    EXPECT_TRUE(util::is_hex("09af", 4));
    EXPECT_TRUE(util::is_hex("", 0));
    for (const char* wrong : {"09a", "09aff", "09aF", "09ag", "0x9a"}) {
        EXPECT_FALSE(util::is_hex(wrong, 4)) << wrong;
    }
}

TEST(Demangled, IsForMangledNamesAlone) {
    EXPECT_EQ("saxpy(float, float const*)", util::demangled("_Z5saxpyfPKf"));
    // "c" and "i" are how the C++ ABI encodes char and int.
    for (const char* name : {"memset32", "", "_Znonsense", "c", "i", "Pf"}) {
        EXPECT_EQ(name, util::demangled(name));
    }
    const std::string endless = "_Z" + std::string(20'000, 'x');
    EXPECT_EQ(endless, util::demangled(endless));
}

TEST(Glob, EndsWithItsView) {
    // What lies behind a view in memory is not of it.
    const std::string_view memory = "ab*?cab";
    EXPECT_FALSE(util::glob_match(memory.substr(0, 2), "abx"));
    EXPECT_TRUE(util::glob_match(memory.substr(0, 3), "abx"));
    EXPECT_FALSE(util::glob_match(memory.substr(3, 1), "xc"));
    EXPECT_FALSE(util::glob_match(memory.substr(5, 1), "ab"));
    EXPECT_FALSE(util::glob_match("ab", memory.substr(0, 1)));
    EXPECT_TRUE(util::glob_match("a**", "a"));
    EXPECT_FALSE(util::glob_match("a*b*", "ac"));
    EXPECT_TRUE(util::glob_match("*ab", "aab"));
}

TEST(NearestName, AThirdOfTheLettersMayBeWrong) {
    EXPECT_EQ(util::nearest_name("abcdef", {"abcdxx"}), "abcdxx");
    EXPECT_EQ(util::nearest_name("abcdef", {"abcxxx"}), std::nullopt);
    EXPECT_EQ(util::nearest_name("abcde", {"abcdx"}), "abcdx");
    EXPECT_EQ(util::nearest_name("abcde", {"abcxx"}), std::nullopt);
    EXPECT_EQ(util::nearest_name("ab", {"ax"}), "ax") << "one letter always";
    EXPECT_EQ(util::nearest_name("abcdef", {"abcd"}), "abcd");
    EXPECT_EQ(util::nearest_name("abcdef", {"abc"}), std::nullopt);
    EXPECT_EQ(util::nearest_name("abcdef", {"abcdefgh"}), "abcdefgh");
    EXPECT_EQ(util::nearest_name("abcdef", {"abcdefghi"}), std::nullopt);
    EXPECT_EQ(util::nearest_name("abcdef", {"abcdxx", "abcdex"}), "abcdex") << "the nearest";
    EXPECT_EQ(util::nearest_name("abcdef", {"badcef"}), "badcef") << "two swaps";
    EXPECT_EQ(util::nearest_name("abc", {"cba"}), std::nullopt);
    EXPECT_EQ(util::nearest_name(std::string(129, 'a'), {std::string(128, 'a')}), std::nullopt);
    EXPECT_EQ(util::nearest_name(std::string(128, 'a'), {std::string(129, 'a')}), std::nullopt);
    EXPECT_EQ(util::nearest_name(std::string(128, 'a'), {std::string(128, 'a')}),
              std::string(128, 'a'));
}

TEST(TerminalControl, HasTheMarksOfDirectionAndOrder) {
    for (const char32_t c : {0x200e, 0x200f, 0x061c, 0xfeff, 0x2029, 0x202a, 0x20}) {
        EXPECT_EQ(util::is_terminal_control(c), c != 0x20) << static_cast<std::uint32_t>(c);
    }
    for (const char32_t c : {0x200d, 0x2010, 0x061b, 0x061d, 0xfefe, 0xff00}) {
        EXPECT_FALSE(util::is_terminal_control(c)) << static_cast<std::uint32_t>(c);
    }
}

TEST(Utf8Step, TakesTheFirstAndTheLastOfEachLeadAndNothingBeyond) {
    struct Example {
        const char* text;
        char32_t code_point;  ///< 0: not valid
    };
    const std::vector<Example> examples = {
        {"\xc1\xbf", 0},
        {"\xc2\x80", 0x80},
        {"\xc2\x7f", 0},
        {"\xc2\xc0", 0},
        {"\xdf\xbf", 0x7ff},
        {"\xe0\x9f\xbf", 0},
        {"\xe0\xa0\x80", 0x800},
        {"\xe0\xbf\xbf", 0xfff},
        {"\xe0\xc0\x80", 0},
        {"\xe1\x80\x80", 0x1000},
        {"\xec\xbf\xbf", 0xcfff},
        {"\xed\x80\x80", 0xd000},
        {"\xed\x7f\x80", 0},
        {"\xed\xa0\x80", 0},
        {"\xee\x80\x80", 0xe000},
        {"\xef\xbf\xbf", 0xffff},
        {"\xef\xbf\x7f", 0},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xf0\x90\x80\x80", 0x10000},
        {"\xf0\xbf\xbf\xbf", 0x3ffff},
        {"\xf0\xc0\x80\x80", 0},
        {"\xf1\x80\x80\x80", 0x40000},
        {"\xf1\x80\x80\xc0", 0},
        {"\xf3\xbf\xbf\xbf", 0xfffff},
        {"\xf4\x80\x80\x80", 0x100000},
        {"\xf4\x7f\x80\x80", 0},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
        {"\x7f", 0x7f},
        {"\x80", 0},
    };
    for (const Example& example : examples) {
        const util::Utf8Step step = util::utf8_step(example.text, 0);
        EXPECT_EQ(step.valid, example.code_point != 0) << testing::PrintToString(example.text);
        EXPECT_EQ(step.code_point, example.code_point);
        EXPECT_TRUE(!step.valid || step.length == std::strlen(example.text));
    }
    // What is not there any more is behind the view.
    const std::string_view cut = std::string_view("\xe6\xbc\xa2").substr(0, 2);
    EXPECT_FALSE(util::utf8_step(cut, 0).valid);
    EXPECT_EQ(util::utf8_step(cut, 0).length, 2U);
}

TEST(Slug, KeepsTheFirstAndTheLastOfEachRange) {
    EXPECT_EQ(util::slug("AZaz09"), "azaz09");
    EXPECT_EQ(util::slug("x@x[x`x{x/x:x"), "x-x-x-x-x-x-x");
}

}  // namespace
}  // namespace perfgate::model
