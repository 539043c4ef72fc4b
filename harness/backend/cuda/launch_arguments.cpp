// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/launch_arguments.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "backend/cuda/driver.hpp"
#include "util/sha256.hpp"

namespace perfgate::backend::cuda {
namespace {

bool is_known_address(std::uint64_t value) {
    CUmemorytype type{};
    return driver().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, value) ==
           CUDA_SUCCESS;
}

/// A hash of each word, and of all.
class Fingerprint {
  public:
    void add(std::span<const std::byte> argument) {
        constexpr std::uint64_t most_alignment = 256;  // what every allocation has
        whole_.add_number(argument.size());
        const std::size_t size = argument.size();
        while (argument.size() >= sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, argument.data(), sizeof(word));
            util::Sha256 of_word;
            of_word.add_number(size);
            for (util::Sha256* hash : {&whole_, &of_word}) {
                if (word != 0 && is_known_address(word)) {
                    hash->add("pointer");
                    hash->add_number(std::min(word & (~word + 1), most_alignment));
                } else {
                    hash->add_number(word);
                }
            }
            add_word(of_word);
            argument = argument.subspan(sizeof(word));
        }
        whole_.add(argument);
        if (!argument.empty()) {
            util::Sha256 of_rest;
            of_rest.add_number(size);
            of_rest.add(argument);
            add_word(of_rest);
        }
    }

    ArgumentFingerprint finish() { return {whole_.fingerprint(), std::move(words_)}; }

  private:
    void add_word(util::Sha256& hash) { words_ += hash.fingerprint().substr(0, 8); }

    util::Sha256 whole_;
    std::string words_;
};

}  // namespace

std::optional<std::vector<std::size_t>> parameter_sizes(CUfunction function) {
    constexpr std::size_t most = 4096;  // a kernel's parameters take 32764 bytes at most
    const CUfunction of_context = function_of_context(function);
    if (of_context == nullptr) return std::nullopt;
    std::vector<std::size_t> sizes;
    while (sizes.size() < most) {
        std::size_t offset = 0;
        std::size_t size = 0;
        const CUresult code = driver().cuFuncGetParamInfo(of_context, sizes.size(), &offset, &size);
        if (code == CUDA_ERROR_INVALID_VALUE) return sizes;  // there is no such parameter
        if (code != CUDA_SUCCESS) return std::nullopt;
        sizes.push_back(size);
    }
    return std::nullopt;
}

ArgumentFingerprint fingerprint_of_arguments(CUfunction function, void* const* arguments) {
    if (function == nullptr) return {};
    const auto sizes = parameter_sizes(function);
    if (!sizes || (!sizes->empty() && arguments == nullptr)) return {};
    Fingerprint fingerprint;
    for (std::size_t i = 0; i < sizes->size(); ++i) {
        if (arguments[i] == nullptr) return {};
        fingerprint.add({static_cast<const std::byte*>(arguments[i]), (*sizes)[i]});
    }
    return fingerprint.finish();
}

}  // namespace perfgate::backend::cuda
