// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/loaded_code.hpp"

#include <utility>

#include "backend/cuda/cubin.hpp"
#include "model/error.hpp"

namespace perfgate::backend::cuda {

void LoadedCode::add(std::span<const char> cubin) {
    std::map<std::string, std::string> functions;
    try {
        functions = machine_code(cubin);
    } catch (const model::InputError&) {
        return;
    }
    const std::lock_guard lock(mutex_);
    for (auto& [symbol, fingerprint] : functions) {
        const auto [known, added] = by_symbol_.try_emplace(symbol, fingerprint);
        if (!added && known->second != fingerprint) known->second.clear();
    }
}

std::string LoadedCode::of(const std::string& symbol) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_symbol_.find(symbol);
    return found == by_symbol_.end() ? "" : found->second;
}

}  // namespace perfgate::backend::cuda
