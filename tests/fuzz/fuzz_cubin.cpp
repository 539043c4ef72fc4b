// SPDX-License-Identifier: Apache-2.0
// Cubins, as the driver loads them. What was read must be fit for a report, and belong to a
// function of the image.
#include <span>

#include "elf/cubin.hpp"
#include "fuzz.hpp"
#include "util/text.hpp"

namespace {

using namespace perfgate;
using fuzz::require;

void read(std::span<const char> input) {
    const elf::ElfImage image(input);
    for (const auto& [symbol, place] : elf::function_places(image)) {
        require(place.file.starts_with('/') && place.line > 0, "a place is not absolute");
        require(util::printable(place.file, place.file.size()) == place.file,
                "a place cannot be printed");
    }
    const auto stacks = elf::stack_sizes(image);
    const auto code = elf::machine_code(image);
    for (const auto& [symbol, bytes] : stacks) {
        require(code.contains(symbol) && bytes >= 0, "a stack belongs to no function");
    }
    for (const auto& [symbol, function] : code) {
        require(!function.fingerprint.empty() && function.bytes >= 0, "a function has no code");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        read({reinterpret_cast<const char*>(data), size});
    } catch (const util::InputError&) {
        return 0;
    }
    return 0;
}
