// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/loaded_code.hpp"

#include <utility>

#include "elf/cubin.hpp"
#include "util/error.hpp"
#include "util/sha256.hpp"

namespace perfgate::backend::cuda {
namespace {

/// The images that are kept for disassembling; libraries load code by the gigabyte.
constexpr std::size_t most_image_bytes = std::size_t{256} << 20;

/// Throws util::InputError if the image is damaged.
std::map<std::string, LoadedFunction> functions_of(std::span<const char> cubin) {
    const elf::ElfImage image(cubin);
    std::map<std::string, LoadedFunction> functions;
    for (const auto& [symbol, code] : elf::machine_code(image)) {
        functions[symbol] = {code.fingerprint, code.bytes, std::nullopt, {}, nullptr};
    }
    for (const auto& [symbol, bytes] : elf::stack_sizes(image)) {
        const auto function = functions.find(symbol);
        if (function != functions.end()) function->second.stack_bytes = bytes;
    }
    for (const auto& [symbol, place] : elf::function_places(image)) {
        const auto function = functions.find(symbol);
        if (function != functions.end()) function->second.place = place;
    }
    return functions;
}

/// Leaves what both say.
void keep_common(const LoadedFunction& other, LoadedFunction& known) {
    if (other.fingerprint != known.fingerprint) known = {};
    if (other.stack_bytes != known.stack_bytes) known.stack_bytes.reset();
    if (other.place != known.place) known.place = {};
}

void add_to(std::map<std::string, LoadedFunction>& place,
            const std::map<std::string, LoadedFunction>& functions) {
    for (const auto& [symbol, function] : functions) {
        const auto [known, added] = place.try_emplace(symbol, function);
        if (!added) keep_common(function, known->second);
    }
}

}  // namespace

void LoadedCode::add(std::span<const char> cubin) {
    std::map<std::string, LoadedFunction> functions;
    std::string values;
    try {
        functions = functions_of(cubin);
        values = elf::initial_values(elf::ElfImage(cubin));
    } catch (const util::InputError&) {
        return;
    }
    const std::lock_guard lock(mutex_);
    // The fingerprint includes the variables' initial values, because nothing else records those of
    // a module that is loaded for one case.
    if (filled_ && !values.empty()) {
        for (auto& [symbol, function] : functions) {
            util::Sha256 hash;
            hash.add(function.fingerprint);
            hash.add(values);
            function.fingerprint = hash.fingerprint();
        }
    }
    if (image_bytes_ + cubin.size() <= most_image_bytes) {
        image_bytes_ += cubin.size();
        const auto image = std::make_shared<const std::string>(cubin.data(), cubin.size());
        for (auto& [symbol, function] : functions) function.image = image;
    }
    const auto loading = loading_.find(std::this_thread::get_id());
    if (loading != loading_.end()) add_to(loading->second, functions);
    add_to(filled_ ? layers_[*filled_] : by_symbol_, functions);
}

void LoadedCode::begin_module() {
    const std::lock_guard lock(mutex_);
    loading_[std::this_thread::get_id()].clear();
}

void LoadedCode::end_module(CUmodule module) {
    const std::lock_guard lock(mutex_);
    const auto loading = loading_.find(std::this_thread::get_id());
    if (loading == loading_.end()) return;
    if (module != nullptr && !loading->second.empty()) {
        modules_[module] = std::move(loading->second);
    }
    loading_.erase(loading);
}

void LoadedCode::forget_module(CUmodule module) {
    const std::lock_guard lock(mutex_);
    modules_.erase(module);
}

LoadedFunction LoadedCode::of(const std::string& symbol, CUmodule module) const {
    {
        const std::lock_guard lock(mutex_);
        const auto known = modules_.find(module);
        if (known != modules_.end()) {
            const auto found = known->second.find(symbol);
            if (found != known->second.end()) return found->second;
        }
    }
    return of(symbol);
}

LoadedFunction LoadedCode::of(const std::string& symbol) const {
    const std::lock_guard lock(mutex_);
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
        const auto found = layer->second.find(symbol);
        if (found != layer->second.end()) return found->second;
    }
    const auto found = by_symbol_.find(symbol);
    return found == by_symbol_.end() ? LoadedFunction() : found->second;
}

LoadedCode::Layer LoadedCode::begin_layer() {
    const std::lock_guard lock(mutex_);
    filled_ = next_layer_++;
    layers_[*filled_];
    return *filled_;
}

void LoadedCode::fill_layer(std::optional<Layer> layer) {
    const std::lock_guard lock(mutex_);
    filled_ = layer;
}

void LoadedCode::end_layer(Layer layer) {
    const std::lock_guard lock(mutex_);
    layers_.erase(layer);
    if (filled_ == layer) filled_.reset();
}

}  // namespace perfgate::backend::cuda
