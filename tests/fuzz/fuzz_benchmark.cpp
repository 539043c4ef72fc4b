// SPDX-License-Identifier: Apache-2.0
// Every format's reader gets every text: it refuses it, or its results have ids of their own. The
// sample files that real results name are there.
#include <filesystem>
#include <set>
#include <string>

#include "fuzz.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "util/file.hpp"

namespace {

/// A folder with the files "nvbench.json-bin/0.bin" and so on, of ten numbers each.
std::filesystem::path folder_with_samples() {
    const auto folder = std::filesystem::temp_directory_path() / "perfgate-fuzz-benchmark";
    std::string numbers;
    for (int i = 0; i < 10; ++i) numbers += std::string("\x00\x00\x80\x3f", 4);
    for (int i = 0; i < 7; ++i) {
        perfgate::util::write_file_atomically(
            folder / "nvbench.json-bin" / (std::to_string(i) + ".bin"), numbers);
    }
    return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace perfgate;
    static const std::filesystem::path folder = folder_with_samples();
    const std::string_view text = fuzz::text_of(data, size);
    for (const benchmark::Format& format : benchmark::formats()) {
        benchmark::Layout reading;
        reading.format = format.name;
        reading.rows = "/results/*";
        reading.name = format.has_rows ? "/command" : "command";
        reading.axes = {{"n", format.has_rows ? "/parameters/n" : "parameter_n"}};
        reading.values.emplace_back().from = format.has_rows ? "/times/*" : "median";
        reading.values.back().definition.name = "value";
        try {
            std::set<std::string> ids;
            for (const auto& result :
                 benchmark::read_results(text, "file", reading, folder).results) {
                if (!ids.insert(benchmark::id_of(result)).second) std::abort();
            }
        } catch (const util::InputError&) {
        }
    }
    return 0;
}
