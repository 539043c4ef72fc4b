// SPDX-License-Identifier: Apache-2.0
#include "document/baseline.hpp"
#include "fuzz.hpp"
#include "model/baseline.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    perfgate::fuzz::check_round_trip(
        perfgate::fuzz::text_of(data, size),
        [](std::string_view text) {
            return perfgate::document::parse_baseline(std::string(text), "baseline.json");
        },
        perfgate::document::write_baseline);
    return 0;
}
