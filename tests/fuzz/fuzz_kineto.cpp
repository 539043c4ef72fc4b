// SPDX-License-Identifier: Apache-2.0
// Traces of torch.profiler, in pieces of a few bytes, so that values are cut everywhere.
#include <algorithm>
#include <cstring>

#include "analysed.hpp"
#include "fuzz.hpp"
#include "traces/traces.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace perfgate;
    const auto fill_from = [](std::string_view text) {
        return [text](char* to, std::size_t most) mutable {
            const std::string_view part = text.substr(0, std::min<std::size_t>(most, 61));
            if (!part.empty()) std::memcpy(to, part.data(), part.size());
            text.remove_prefix(part.size());
            return part.size();
        };
    };
    const std::string_view input = fuzz::text_of(data, size);
    traces::is_kineto(fill_from(input));
    try {
        fuzz::analyse({traces::read_kineto(fill_from(input), "fuzz.json")});
    } catch (const util::InputError&) {
    }
    return 0;
}
