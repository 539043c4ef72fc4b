// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"
#include "measure/protocol.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace perfgate;
    const std::string_view line = fuzz::text_of(data, size);
    fuzz::check_round_trip(line, measure::parse_request, measure::write_request);
    fuzz::check_round_trip(line, measure::parse_reply, measure::write_reply);
    return 0;
}
