// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), and the fingerprints in documents that are derived from it. They show
// whether two pieces of code are the same; nothing here is secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace perfgate::util {

class Sha256 {
  public:
    using Digest = std::array<std::uint8_t, 32>;
    using State = std::array<std::uint32_t, 8>;

    /// Whether this processor has instructions for SHA-256, which are many times as fast: a program
    /// waits while the code that it loads is hashed.
    static bool processor_helps();

    explicit Sha256(bool with_instructions = processor_helps())
        : with_instructions_(with_instructions) {}

    void add(std::span<const std::byte> bytes);
    void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
    /// The number's bytes, least significant first.
    void add_number(std::uint64_t number);

    /// The digest of everything added; call it once.
    Digest digest();
    /// The digest's first 128 bits in hexadecimal: enough where nobody forges collisions, and short
    /// enough for a line of a baseline.
    std::string fingerprint();

  private:
    void take_blocks(const std::uint8_t* blocks, std::size_t count);

    bool with_instructions_;
    State state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> pending_{};
    std::uint64_t length_ = 0;  ///< bytes, the pending ones included
};

std::string fingerprint_of(std::string_view text);

/// Fingerprint of the file's content; empty if it cannot be read.
std::string fingerprint_of_file(const std::filesystem::path& file);

}  // namespace perfgate::util
