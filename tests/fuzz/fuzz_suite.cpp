// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"
#include "suite/plan.hpp"
#include "suite_catalogue.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace perfgate;
    try {
        const suite::Suite parsed =
            suite::parse_suite(fuzz::text_of(data, size), "s.yaml", suite::test::workloads());
        suite::plan_suite(parsed, {{}, "nvidia-h100-80gb-hbm3", "9.0", {}, {}});
    } catch (const util::InputError&) {
        // Refused, in words.
    }
    return 0;
}
