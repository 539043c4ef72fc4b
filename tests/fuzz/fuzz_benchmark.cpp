// SPDX-License-Identifier: Apache-2.0
// Every format's reader gets every text: it refuses it, or its results have ids of their own.
#include <set>
#include <string>

#include "benchmark/formats.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace perfgate;
    const std::string_view text = fuzz::text_of(data, size);
    for (const benchmark::Format& format : benchmark::formats()) {
        model::BenchmarkReading reading;
        reading.format = format.name;
        reading.rows = "/results/*";
        reading.name = format.has_rows ? "/command" : "command";
        reading.axes = {{"n", format.has_rows ? "/parameters/n" : "parameter_n"}};
        reading.values.emplace_back().from = format.has_rows ? "/times/*" : "median";
        reading.values.back().definition.name = "value";
        try {
            std::set<std::string> ids;
            for (const auto& result : benchmark::read_results(text, "file", reading).results) {
                if (!ids.insert(benchmark::id_of(result)).second) std::abort();
            }
        } catch (const model::InputError&) {
        }
    }
    return 0;
}
