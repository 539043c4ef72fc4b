// SPDX-License-Identifier: Apache-2.0
#include "util/sha256.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace perfgate::util {
namespace {

std::string hex(Sha256& hash) {
    std::string text;
    for (const std::uint8_t byte : hash.digest()) text += fmt::format("{:02x}", byte);
    return text;
}

std::string hex_of(std::string_view message, bool with_instructions = Sha256::processor_helps()) {
    Sha256 hash(with_instructions);
    hash.add(message);
    return hex(hash);
}

// The examples of FIPS 180-4 and of NIST's Cryptographic Algorithm Validation Program.
TEST(Sha256, GivesThePublishedDigests) {
    EXPECT_EQ(hex_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hex_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                     "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
              "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    EXPECT_EQ(hex_of(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheMessageIsCut) {
    std::string message;
    for (int i = 0; i < 300; ++i) message += static_cast<char>('a' + i % 26);
    for (const std::size_t length : {55U, 56U, 57U, 63U, 64U, 65U, 119U, 120U, 128U, 300U}) {
        const std::string_view whole = std::string_view(message).substr(0, length);
        for (const std::size_t piece : {1U, 7U, 63U, 64U, 65U}) {
            Sha256 hash;
            for (std::size_t at = 0; at < length; at += piece) hash.add(whole.substr(at, piece));
            EXPECT_EQ(hex(hash), hex_of(whole)) << length << " bytes in pieces of " << piece;
        }
    }
}

TEST(Sha256, IsTheSameWithTheInstructionsOfTheProcessor) {
    if (!Sha256::processor_helps()) GTEST_SKIP() << "this processor has none";
    std::string message;
    for (int i = 0; i < 1000; ++i) {
        message += static_cast<char>(i * 7 + i / 256);
        ASSERT_EQ(hex_of(message, true), hex_of(message, false)) << message.size() << " bytes";
    }
}

TEST(Sha256, FingerprintsAreTheFirstHalf) {
    Sha256 hash;
    hash.add("abc");
    EXPECT_EQ(hash.fingerprint(), "ba7816bf8f01cfea414140de5dae2223");
}

TEST(Sha256, ANumberIsItsEightBytes) {
    Sha256 number;
    number.add_number(0x0102);
    Sha256 bytes;
    bytes.add(std::string_view("\x02\x01\0\0\0\0\0\0", 8));
    EXPECT_EQ(hex(number), hex(bytes));
}

TEST(FingerprintOfFile, IsOfItsContentAndEmptyWhereThereIsNone) {
    const std::filesystem::path file =
        std::filesystem::path(testing::TempDir()) / "perfgate-fingerprint";
    std::ofstream(file) << "abc";
    EXPECT_EQ(fingerprint_of_file(file), "ba7816bf8f01cfea414140de5dae2223");
    std::filesystem::remove(file);
    EXPECT_EQ(fingerprint_of_file(file), "");
    EXPECT_EQ(fingerprint_of_file(testing::TempDir()), "");
}

}  // namespace
}  // namespace perfgate::util
