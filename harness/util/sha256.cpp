// SPDX-License-Identifier: Apache-2.0
#include "util/sha256.hpp"

#include <fmt/format.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <vector>

namespace perfgate::util {

namespace {

constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

std::uint32_t big_endian(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
           std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

void take_block(Sha256::State& state, const std::uint8_t* block) {
    std::array<std::uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t s0 =
            std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const std::uint32_t s1 =
            std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t choice = (e & f) ^ (~e & g);
        const std::uint32_t t1 = h + s1 + choice + round_constants[i] + w[i];
        const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + s0 + majority;
    }
    const std::array<std::uint32_t, 8> words{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < words.size(); ++i) state[i] += words[i];
}

#ifdef __x86_64__
/// The instructions keep the state in two registers, A B E F and C D G H, and do two rounds each.
__attribute__((target("sha,sse4.1"))) void take_blocks_by_instructions(Sha256::State& state,
                                                                       const std::uint8_t* blocks,
                                                                       std::size_t count) {
    const auto lanes = [](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
        const std::array<std::uint32_t, 4> words{d, c, b, a};
        return std::bit_cast<__m128i>(words);
    };
    const __m128i reversed_bytes = std::bit_cast<__m128i>(
        std::array<std::uint64_t, 2>{0x0405060700010203, 0x0c0d0e0f08090a0b});
    __m128i abef = lanes(state[0], state[1], state[4], state[5]);
    __m128i cdgh = lanes(state[2], state[3], state[6], state[7]);
    for (; count != 0; --count, blocks += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];  // the last sixteen words of the schedule, as a ring
#pragma GCC unroll 16
        for (std::size_t i = 0; i < 16; ++i) {
            __m128i& four = w[i % 4];
            if (i < 4) {
                std::memcpy(&four, blocks + 16 * i, sizeof(four));
                four = _mm_shuffle_epi8(four, reversed_bytes);
            } else {
                const __m128i last = w[(i + 3) % 4];
                // _mm_alignr_epi8 multiplies its constant, which GCC's sanitizers make a variable.
                const __m128i seven_before =
                    _mm_shuffle_epi32(_mm_blend_epi16(w[(i + 2) % 4], last, 0x03), 0x39);
                four = _mm_sha256msg1_epu32(four, w[(i + 1) % 4]);
                four = _mm_sha256msg2_epu32(_mm_add_epi32(four, seven_before), last);
            }
            __m128i constants;
            std::memcpy(&constants, &round_constants[4 * i], sizeof(constants));
            const __m128i sum = _mm_add_epi32(four, constants);
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const auto first = std::bit_cast<std::array<std::uint32_t, 4>>(abef);
    const auto second = std::bit_cast<std::array<std::uint32_t, 4>>(cdgh);
    state = {first[3], first[2], second[3], second[2], first[1], first[0], second[1], second[0]};
}
#endif

}  // namespace

bool Sha256::processor_helps() {
#ifdef __x86_64__
    static const bool helps = [] {
        unsigned a = 0, b = 0, c = 0, d = 0;
        constexpr unsigned sha = 1U << 29;
        if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0) return false;
        return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & sha) != 0;
    }();
    return helps;
#else
    return false;
#endif
}

void Sha256::take_blocks(const std::uint8_t* blocks, std::size_t count) {
#ifdef __x86_64__
    if (with_instructions_) return take_blocks_by_instructions(state_, blocks, count);
#endif
    for (; count != 0; --count, blocks += pending_.size()) take_block(state_, blocks);
}

void Sha256::add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const std::size_t held = length_ % pending_.size();
        if (held == 0 && bytes.size() >= pending_.size()) {
            const std::size_t blocks = bytes.size() / pending_.size();
            take_blocks(reinterpret_cast<const std::uint8_t*>(bytes.data()), blocks);
            length_ += blocks * pending_.size();
            bytes = bytes.subspan(blocks * pending_.size());
            continue;
        }
        const std::size_t count = std::min(bytes.size(), pending_.size() - held);
        std::memcpy(pending_.data() + held, bytes.data(), count);
        length_ += count;
        bytes = bytes.subspan(count);
        if (length_ % pending_.size() == 0) take_blocks(pending_.data(), 1);
    }
}

void Sha256::add_number(std::uint64_t number) {
    std::array<std::byte, 8> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(number >> (8 * i));
    add(bytes);
}

Sha256::Digest Sha256::digest() {
    // A one bit, zeros up to the last 8 bytes of a block, and the length in bits.
    const std::uint64_t bits = length_ * 8;
    std::array<std::byte, 72> padding{std::byte{0x80}};
    const std::size_t held = length_ % pending_.size();
    const std::size_t zeros_end = (held < 56 ? 56 : 120) - held;
    for (std::size_t i = 0; i < 8; ++i) padding[zeros_end + i] = std::byte(bits >> (56 - 8 * i));
    add(std::span(padding).first(zeros_end + 8));
    Digest digest;
    for (std::size_t i = 0; i < digest.size(); ++i) {
        digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
    }
    return digest;
}

std::string Sha256::fingerprint() {
    std::string text;
    const Digest all = digest();
    for (const std::uint8_t byte : std::span(all).first<16>()) text += fmt::format("{:02x}", byte);
    return text;
}

std::string fingerprint_of(std::string_view text) {
    Sha256 hash;
    hash.add(text);
    return hash.fingerprint();
}

std::string fingerprint_of_file(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    Sha256 hash;
    std::vector<char> buffer(std::size_t{1} << 18);
    while (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
           stream.gcount() > 0) {
        hash.add({buffer.data(), static_cast<std::size_t>(stream.gcount())});
    }
    return stream.bad() || !stream.is_open() ? "" : hash.fingerprint();
}

}  // namespace perfgate::util
